//! Sums.

/// The sum.
pub fn add(a: i32, b: i32) -> i32 {
    a + b
}

/// Panics if a number is wrong.
pub fn expect(actual: i32, wanted: i32) {
    assert_eq!(actual, wanted);
}
