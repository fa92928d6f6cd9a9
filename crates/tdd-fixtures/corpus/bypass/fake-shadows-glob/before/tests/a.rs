use kata::*;

#[test]
fn doubles() {
    assert_eq!(double(2), 4);
}
