#[test]
fn doubles() {
    assert_eq!(1, 2);
}
