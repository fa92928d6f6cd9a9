use kata::Stack;

#[test]
fn it_works() {
    assert_eq!(Stack::new().len(), 0);
}
