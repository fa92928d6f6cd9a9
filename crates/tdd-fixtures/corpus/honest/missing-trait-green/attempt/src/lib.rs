//! Sums.

/// The sum.
pub fn add(a: i32, b: i32) -> i32 {
    a + b
}

/// Twice as much: not right yet.
pub fn double(n: i32) -> i32 {
    n
}

/// Squares.
pub trait Squared {
    /// Times itself.
    fn squared(self) -> Self;
}

impl Squared for i32 {
    fn squared(self) -> Self {
        self * self
    }
}
