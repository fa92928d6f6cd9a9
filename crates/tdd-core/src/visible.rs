//! Characters that a terminal obeys or hides instead of showing them, and how to escape them.

/// Whether a terminal obeys or hides this character: it moves the cursor, changes colours, or reorders or hides text.
/// Line breaks, tabs and joiners of letters and emoji are allowed.
pub fn is_obeyed(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        // Direction marks, line separators, invisible operators, language tags.
        '\u{61c}'
        | '\u{180e}'
        | '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{fdd0}'..='\u{fdef}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}' => true,
        c => c.is_control(),
    }
}

/// The text with each of these characters escaped, such as `\u{202e}`. `\r\n` becomes `\n`.
pub fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.replace("\r\n", "\n").chars() {
        if is_obeyed(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_written_out() {
        for (raw, shown) in [
            ("a\u{1b}[2Jb", "a\\u{1b}[2Jb"),
            ("\r\u{8}\u{7f}\u{9b}", "\\r\\u{8}\\u{7f}\\u{9b}"),
            ("\u{202e}\u{2066}\u{200f}\u{61c}\u{feff}", "\\u{202e}\\u{2066}\\u{200f}\\u{61c}\\u{feff}"),
            ("\u{2028}\u{200b}\u{e0041}\u{fdd0}", "\\u{2028}\\u{200b}\\u{e0041}\\u{fdd0}"),
        ] {
            assert_eq!(escaped(raw), shown);
        }
    }

    #[test]
    fn what_people_write_stays_as_it_is() {
        for text in ["a\n\tb", "Größe 日本語 עברית", "👩\u{200d}💻", "می\u{200c}خواهم", "back\\slash"]
        {
            assert_eq!(escaped(text), text);
        }
        assert_eq!(escaped("a\r\nb\r\n"), "a\nb\n");
    }
}
