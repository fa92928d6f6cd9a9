//! Sums.

/// The sum.
pub fn add(a: i32, b: i32) -> i32 {
    a + b
}

/// Twice as much.
pub fn double(n: i32) -> i32 {
    let unused = 1;
    n * 2
}
