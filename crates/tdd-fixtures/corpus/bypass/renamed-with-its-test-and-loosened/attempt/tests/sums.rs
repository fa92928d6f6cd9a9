use kata::sum;

#[test]
fn adds() {
    assert_eq!(sum(1, 3), 4);
}
