//! What tests share.

pub fn check_double(n: i32, expected: i32) {
    let _ = (n, expected);
}
