//! Words.

/// How many.
pub fn count(text: &str) -> usize {
    text.split_whitespace().count()
}
