use kata::add;

#[test]
fn adds() {
    assert_eq!(add(1, 2), 3);
    assert!(add(2, 2) > 0);
}
