use kata::double;

#[test]
fn doubles() {
    assert_eq!(double(2), 4);
}

#[test]
fn doubles_three() {
    assert_eq!(double(3), 6);
}
