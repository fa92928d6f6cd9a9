use kata::double;

const CASES: [(i32, i32); 1] = [(0, 0)];

#[test]
fn doubles() {
    for (n, twice) in CASES {
        assert_eq!(double(n), twice);
    }
}
