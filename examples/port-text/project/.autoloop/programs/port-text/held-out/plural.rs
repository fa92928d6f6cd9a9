#[test]
fn agrees() {
    assert_eq!(text::plural(0, "test"), "0 tests");
    assert_eq!(text::plural(1, "test"), "1 test");
}
