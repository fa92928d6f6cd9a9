//! What tests share.
#![allow(dead_code)]

pub fn three() -> i32 {
    3
}
