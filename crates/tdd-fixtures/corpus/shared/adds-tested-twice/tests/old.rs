use kata::add;

#[test]
fn adds() {
    assert_eq!(add(1, 2), 3);
    assert_eq!(add(2, 2), 4);
}

#[test]
fn adds_nothing() {
    assert_eq!(add(1, 0), 1);
}
