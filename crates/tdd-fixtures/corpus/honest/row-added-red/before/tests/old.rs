use kata::double;

#[test]
fn doubles() {
    for (n, twice) in [(0, 0)] {
        assert_eq!(double(n), twice);
    }
}
