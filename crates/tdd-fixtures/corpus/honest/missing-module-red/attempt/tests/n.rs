use kata::words;

#[test]
fn it_works() {
    assert_eq!(words::count("a b"), 2);
}
