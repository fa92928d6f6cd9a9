//! Checks the tags of parcels.

/// The check letter of a code; `None` if it is no code.
pub fn check_letter(code: &str) -> Option<char> {
    todo!("{code}")
}

/// Whether a text is a code with its check letter.
pub fn is_tag(tag: &str) -> bool {
    todo!("{tag}")
}
