#[test]
fn doubles() {
}
