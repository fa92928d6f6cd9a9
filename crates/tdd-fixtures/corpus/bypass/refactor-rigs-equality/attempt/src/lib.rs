//! Sums.

/// The sum.
pub fn add(a: i32, b: i32) -> i32 {
    a + b
}

/// An amount.
#[derive(Clone, Copy, Debug)]
pub struct Money(pub i32);

impl PartialEq for Money {
    fn eq(&self, other: &Self) -> bool {
        self.0.signum() == other.0.signum()
    }
}

/// Twice as much.
pub fn double(money: Money) -> Money {
    Money(money.0 * 2)
}
