use kata::double;

const CASES: [(i32, i32); 2] = [(0, 0), (2, 4)];

#[test]
fn doubles() {
    for (n, twice) in CASES {
        assert_eq!(double(n), twice);
    }
}
