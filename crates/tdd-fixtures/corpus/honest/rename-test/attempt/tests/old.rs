use kata::add;

#[test]
fn sums_two_numbers() {
    assert_eq!(add(1, 2), 3);
    assert_eq!(add(2, 2), 4);
}
