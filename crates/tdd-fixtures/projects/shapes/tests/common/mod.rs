#[test]
fn shared_by_two_targets() {
    assert_eq!(env!("CARGO_CRATE_NAME"), "first", "passes in one of them only");
}
