//! Sound by itself.
//!
//! ```
//! assert_eq!(broken::double(2), 4);
//! ```

/// Twice the number.
pub fn double(number: i32) -> i32 {
    number * 2
}

#[test]
fn doubles() {
    assert_eq!(double(2), 4);
}
