//! What tests share.
#![allow(dead_code)]

pub fn three() -> i32 {
    3
}

pub fn check_double(n: i32, expected: i32) {
    assert_eq!(kata::double(n), expected);
}
