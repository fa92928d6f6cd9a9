#[test]
fn halves() {
    assert_eq!(broken::half(4), 2);
}

#[test]
fn doubles() {
    assert_eq!(broken::double(4), 8);
}
