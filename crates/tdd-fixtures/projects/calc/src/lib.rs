//! Adds.

pub mod text;

/// Adds two numbers.
///
/// ```
/// assert_eq!(calc::add(1, 2), 3);
/// ```
pub fn add(a: i32, b: i32) -> i32 {
    a + b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds() {
        assert_eq!(add(1, 2), 3);
    }

    #[test]
    #[ignore = "slow"]
    fn adds_slowly() {
        assert_eq!(add(2, 2), 4);
    }
}
