mod common;

#[test]
fn doubles() {
    common::check_double(2, 4);
}
