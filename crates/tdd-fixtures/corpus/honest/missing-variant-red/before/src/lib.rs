//! Sums.

/// The sum.
pub fn add(a: i32, b: i32) -> i32 {
    a + b
}

/// Twice as much: not right yet.
pub fn double(n: i32) -> i32 {
    n
}

/// A side.
#[derive(Debug, PartialEq)]
pub enum Side {
    /// Left.
    Left,
}

/// The side of a number.
pub fn side(_: i32) -> Side {
    Side::Left
}
