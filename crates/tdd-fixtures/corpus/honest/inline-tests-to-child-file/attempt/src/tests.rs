use super::*;

#[test]
fn doubles() {
    assert_eq!(double(2), 4);
}

#[test]
fn adds() {
    assert_eq!(add(1, 2), 3);
}
