fn double(n: i32) -> i32 {
    n
}

#[test]
fn doubles() {
    assert_eq!(double(2), 4);
}
