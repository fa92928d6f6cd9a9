use kata::Money;

#[test]
fn it_works() {
    assert_eq!(Money(3), Money(3));
    assert_ne!(Money(3), Money(4));
}
