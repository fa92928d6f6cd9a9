//! Sums.

/// The sum.
pub fn add(a: i32, b: i32) -> i32 {
    a + b
}

/// Twice as much: not right yet.
pub fn double(n: i32) -> i32 {
    n
}

/// A stack.
#[derive(Default)]
pub struct Stack {
    items: Vec<i32>,
}

impl Stack {
    /// Puts one on.
    pub fn push(&mut self, n: i32) {
        self.items.push(n);
    }
}
