mod common;

#[test]
fn same_name() {}

// @tdd-test-id: area-of-nothing
#[test]
fn annotated() {
    assert_eq!(shapes::area(0, 3), 0);
}

/// @tdd-test-id: area-of-one
#[test]
fn annotated_in_its_documentation() {
    assert_eq!(shapes::area(1, 1), 2, "wrong on purpose");
}
