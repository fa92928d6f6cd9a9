use calc::add;

#[test]
fn adds() {
    assert_eq!(add(20, 3), 23);
}

// @tdd-test-id: negative-numbers
#[test]
fn adds_negative_numbers() {
    assert_eq!(add(-1, -2), -4, "wrong on purpose");
}
