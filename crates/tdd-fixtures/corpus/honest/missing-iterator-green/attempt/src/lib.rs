//! Sums.

/// The sum.
pub fn add(a: i32, b: i32) -> i32 {
    a + b
}

/// Twice as much: not right yet.
pub fn double(n: i32) -> i32 {
    n
}

/// Counts down.
pub struct Countdown(pub u32);

impl Iterator for Countdown {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let now = self.0;
        self.0 = now.checked_sub(1)?;
        Some(now)
    }
}
