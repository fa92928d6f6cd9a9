use kata::double;

#[test]
fn doubles() {
    assert_eq!(double(0), 0);
}
