mod common;

use kata::add;

#[test]
fn adds() {
    assert_eq!(add(1, 2), common::three());
    assert_eq!(add(2, 2), 4);
}
