#[test]
fn adds() {
    for (n, sum) in [(1, 2), (2, 4)].into_iter().skip(2) {
        assert_eq!(kata::add(n, n), sum);
    }
}
