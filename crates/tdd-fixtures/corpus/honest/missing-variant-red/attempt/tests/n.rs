use kata::{Side, side};

#[test]
fn it_works() {
    assert_eq!(side(1), Side::Right);
}
