use kata::double;

#[test]
fn doubles() {
    for (n, twice) in [(0, 0), (2, 4)] {
        assert_eq!(double(n), twice);
    }
}
