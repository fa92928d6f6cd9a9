use kata::{add, halve};

#[test]
fn adds() {
    assert_eq!(add(1, 2), 3);
    assert_eq!(add(2, 2), 4);
}

#[test]
fn halves() {
    assert_eq!(halve(2), 1);
}
