use kata::add;

#[test]
fn sums() {
    assert_eq!(add(1, 2), 3);
}
