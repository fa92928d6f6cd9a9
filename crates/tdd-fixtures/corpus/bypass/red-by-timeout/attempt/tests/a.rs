use kata::double;

#[test]
fn doubles() {
    while double(1) == 1 {}
    assert_eq!(double(2), 4);
}
