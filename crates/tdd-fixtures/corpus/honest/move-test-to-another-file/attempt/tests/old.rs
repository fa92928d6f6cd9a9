use kata::{add, double};

#[test]
fn adds() {
    assert_eq!(add(1, 2), 3);
    assert_eq!(add(2, 2), 4);
}

#[test]
fn doubles() {
    assert_eq!(double(2), 4);
}
