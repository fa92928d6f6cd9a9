//! Checks the tags of parcels.

/// The check letter of a code; `None` if it is no code.
pub fn check_letter(code: &str) -> Option<char> {
    let mut sum = 0;
    for (place, c) in (1..).zip(code.chars()) {
        sum = (sum + value(c)? * place) % 23;
    }
    (!code.is_empty()).then(|| char::from(b'A' + u8::try_from(sum).unwrap_or(0)))
}

/// Whether a text is a code with its check letter.
pub fn is_tag(tag: &str) -> bool {
    let Some((code, check)) = tag.trim().rsplit_once('-') else { return false };
    check_letter(code).is_some_and(|letter| check.chars().eq([letter]))
}

fn value(c: char) -> Option<u32> {
    if c.is_ascii_lowercase() { None } else { c.to_digit(36) }
}
