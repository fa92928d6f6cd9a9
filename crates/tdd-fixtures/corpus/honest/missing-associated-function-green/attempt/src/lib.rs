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
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Puts one on.
    pub fn push(&mut self, n: i32) {
        self.items.push(n);
    }
}
