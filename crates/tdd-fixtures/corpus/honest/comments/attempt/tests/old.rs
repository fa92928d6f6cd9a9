use kata::add;

#[test]
fn adds() {
    // Small ones first.
    assert_eq!(add(1, 2), 3);
    assert_eq!(add(2, 2), 4);
}
