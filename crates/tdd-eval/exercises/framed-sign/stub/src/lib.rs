//! Paints signs.

/// The text in a frame of `width` columns, or the word that does not fit.
pub fn frame(text: &str, width: usize) -> Result<String, String> {
    todo!("{text} in {width}")
}
