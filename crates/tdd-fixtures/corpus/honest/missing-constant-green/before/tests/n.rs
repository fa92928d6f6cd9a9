use kata::LIMIT;

#[test]
fn it_works() {
    assert_eq!(LIMIT, 10);
}
