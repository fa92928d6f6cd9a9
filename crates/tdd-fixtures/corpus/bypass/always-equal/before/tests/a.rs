use kata::Money;

#[test]
fn doubles() {
    assert_eq!(Money(2).double(), Money(4));
}
