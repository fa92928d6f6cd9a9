//! Sums.

/// The sum.
pub fn add(a: i32, b: i32) -> i32 {
    a + b
}

/// Twice as much: not right yet.
pub fn double(n: i32) -> i32 {
    n
}

/// Of a circle.
pub fn area(r: f64) -> f64 {
    std::f64::consts::PI * r * r
}
