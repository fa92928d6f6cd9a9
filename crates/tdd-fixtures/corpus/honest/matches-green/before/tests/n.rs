use kata::read;

#[test]
fn it_works() {
    assert!(matches!(read("x"), Err(message) if message.contains("x")));
}
