use kata::double;

#[test]
fn doubles() {
    assert!(double(2) > 0);
}
