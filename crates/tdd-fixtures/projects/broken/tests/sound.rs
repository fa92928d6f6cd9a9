#[test]
fn doubles() {
    assert_eq!(broken::double(3), 6);
}
