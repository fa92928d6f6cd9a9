use kata::{adder, doubles};

#[test]
fn doubles_all() {
    assert_eq!(doubles(&[1, 2]).map(adder(1)).collect::<Vec<_>>(), [3, 5]);
}
