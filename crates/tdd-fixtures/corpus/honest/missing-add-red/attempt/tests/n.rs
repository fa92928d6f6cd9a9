use kata::Money;

#[test]
fn it_works() {
    assert_eq!((Money(1) + Money(2)).0, 3);
}
