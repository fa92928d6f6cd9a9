//! Sums.

/// The sum.
pub fn add(a: i32, b: i32) -> i32 {
    a + b
}

/// Twice as much: not right yet.
pub fn double(n: i32) -> i32 {
    n
}

/// Twice as much of each.
pub fn doubles(all: &[i32]) -> impl Iterator<Item = i32> + '_ {
    all.iter().map(|n| n * 2)
}

/// Adds `n`.
pub fn adder(n: i32) -> impl Fn(i32) -> i32 {
    move |m| n + m
}
