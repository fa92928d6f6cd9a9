//! Sums and products.

/// The sum.
pub fn add(a: i32, b: i32) -> i32 {
    // As simple as that.
    a + b
}

/// Twice as much.
pub fn double(n: i32) -> i32 {
    n * 2
}
