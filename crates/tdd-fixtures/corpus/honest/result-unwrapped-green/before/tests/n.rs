use kata::read;

#[test]
fn it_works() {
    assert_eq!(read("3").unwrap(), 3);
}
