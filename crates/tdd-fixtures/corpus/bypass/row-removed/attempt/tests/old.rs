use kata::double;

#[test]
fn doubles() {
    for (n, twice) in [(2, 4)] {
        assert_eq!(double(n), twice);
    }
}
