use kata::double;

#[test]
fn doubles() {
    assert!(double(2) != 0 && double(2) == 4);
}
