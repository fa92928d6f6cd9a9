use kata::double;

// @tdd-test-id: double-of-two
#[test]
fn it_works() {
    assert_eq!(double(2), 4);
}
