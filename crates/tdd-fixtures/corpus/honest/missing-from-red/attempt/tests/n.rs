use kata::Money;

#[test]
fn it_works() {
    assert_eq!(Money::from(3).0, 3);
}
