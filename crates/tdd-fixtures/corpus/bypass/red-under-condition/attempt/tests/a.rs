use kata::double;

#[cfg(windows)]
#[test]
fn doubles() {
    assert_eq!(double(2), 4);
}
