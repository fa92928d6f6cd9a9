#[test]
fn doubles() {
    panic!("red");
}
