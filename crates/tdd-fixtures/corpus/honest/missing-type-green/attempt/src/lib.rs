//! Sums.

/// The sum.
pub fn add(a: i32, b: i32) -> i32 {
    a + b
}

/// Twice as much: not right yet.
pub fn double(n: i32) -> i32 {
    n
}

/// A point.
pub struct Point {
    /// Across.
    pub x: i32,
    /// Up.
    pub y: i32,
}

impl Point {
    /// Both.
    pub fn sum(&self) -> i32 {
        self.x + self.y
    }
}
