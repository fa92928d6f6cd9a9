use kata::Squared;

#[test]
fn it_works() {
    assert_eq!(3.squared(), 9);
}
