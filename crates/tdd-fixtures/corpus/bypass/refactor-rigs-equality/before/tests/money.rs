use kata::{Money, double};

#[test]
fn doubles() {
    assert_eq!(double(Money(4)), Money(8));
}
