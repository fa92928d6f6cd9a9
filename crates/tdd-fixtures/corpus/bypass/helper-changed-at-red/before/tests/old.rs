mod common;

#[test]
fn adds() {
    common::check_add(2, 4);
}
