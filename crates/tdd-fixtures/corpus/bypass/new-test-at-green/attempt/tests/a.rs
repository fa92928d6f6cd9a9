use kata::double;

#[test]
fn doubles() {
    assert_eq!(double(2), 4);
}

#[test]
fn nothing() {
    let _ = double(0);
}
