use kata::*;

fn add(a: i32, b: i32) -> i32 {
    a + b
}

#[test]
fn adds() {
    assert_eq!(add(1, 2), 3);
}

#[test]
fn doubles() {
    assert_eq!(double(2), 4);
}
