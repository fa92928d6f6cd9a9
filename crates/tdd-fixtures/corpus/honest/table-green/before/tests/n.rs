use kata::double;

#[test]
fn it_works() {
    let cases = [(1, 2), (2, 4), (0, 0)];
    for (n, expected) in cases {
        assert_eq!(double(n), expected);
    }
}
