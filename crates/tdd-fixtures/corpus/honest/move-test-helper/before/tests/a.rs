use kata::double;

fn four() -> i32 {
    4
}

#[test]
fn doubles() {
    assert_eq!(double(2), four());
}
