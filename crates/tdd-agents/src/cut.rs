//! Shortens texts at character boundaries and marks how many bytes are missing.

/// The beginning of a text, in at most `max` bytes.
pub fn head(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let room = max.saturating_sub(mark(text.len()).len());
    let kept = &text[..floor(text, room)];
    whole(format!("{kept}{}", mark(text.len() - kept.len())), max)
}

/// The beginning and the end of a text, in at most `max` bytes, because the end of a program's output matters most.
pub fn head_and_tail(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let room = max.saturating_sub(mark(text.len()).len());
    let start = floor(text, room / 2);
    let end = ceil(text, text.len() - (room - start));
    whole(format!("{}{}{}", &text[..start], mark(end - start), &text[end..]), max)
}

fn mark(missing: usize) -> String {
    format!("\n[… {missing} bytes left out …]\n")
}

/// Returns nothing if not even the mark fits.
fn whole(text: String, max: usize) -> String {
    if text.len() <= max { text } else { String::new() }
}

fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn ceil(text: &str, at: usize) -> usize {
    (at..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_text_that_fits_stays_and_one_that_does_not_says_so() {
        assert_eq!(head("abc", 3), "abc");
        assert_eq!(head(&"a".repeat(100), 40), format!("{}\n[… 90 bytes left out …]\n", "a".repeat(10)));
        let cut = head_and_tail(&format!("begin{}end", "x".repeat(100)), 48);
        assert!(cut.starts_with("begin") && cut.ends_with("xend") && cut.contains("left out"), "{cut}");
    }

    proptest! {
        #[test]
        fn no_cut_is_too_long_or_inside_of_a_character(text in "(?s).{0,120}", max in 0_usize..150) {
            for cut in [head(&text, max), head_and_tail(&text, max)] {
                prop_assert!(cut.len() <= max);
                prop_assert!(cut == text || cut.is_empty() || cut.contains("left out"));
            }
        }
    }
}
