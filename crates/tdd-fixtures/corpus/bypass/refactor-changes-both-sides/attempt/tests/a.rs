fn four() -> i32 {
    4
}

use kata::double;

#[test]
fn doubles() {
    assert_eq!(double(2), 4);
}

#[allow(dead_code)]
fn five() -> i32 {
    four() + 1
}
