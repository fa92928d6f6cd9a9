//! Sums.

/// The sum.
pub fn add(a: i32, b: i32) -> i32 {
    a + b
}

/// Twice as much: not right yet.
pub fn double(n: i32) -> i32 {
    n
}

/// Reads.
pub fn read(text: &str) -> Result<i32, String> {
    Err(format!("cannot read {text}"))
}
