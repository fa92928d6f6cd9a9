use kata::{adder, doubles};

#[test]
fn doubles_all() {
    assert!(doubles(&[1, 2]).map(adder(1)).count() < 9);
}
