//! Sums.

/// The sum.
pub fn add(a: i32, b: i32) -> i32 {
    a + b
}

/// Twice as much: not right yet.
pub fn double(n: i32) -> i32 {
    n
}

/// Two.
pub struct Pair<T>(T, T);

impl<T: PartialOrd> Pair<T> {
    /// Of two.
    pub fn new(a: T, b: T) -> Self {
        Self(a, b)
    }

    /// The larger one.
    pub fn larger(&self) -> &T {
        if self.0 > self.1 { &self.0 } else { &self.1 }
    }
}
