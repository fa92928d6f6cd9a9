//! Formats text for people: escapes foreign text, keeps our colours, wraps long lines.

use std::fmt::Display;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::LazyLock;

use anstyle::{AnsiColor, Style};
use tdd_core::visible;
use unicode_width::UnicodeWidthStr;

/// Success.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// Failure.
pub const BAD: Style = AnsiColor::Red.on_default();
/// Warning.
pub const WARN: Style = AnsiColor::Yellow.on_default();
/// Less important.
pub const DIM: Style = Style::new().dimmed();
/// More important.
pub const BOLD: Style = Style::new().bold();

/// Marks our own colours. It is random for each process, so foreign text cannot contain it.
static MARK: LazyLock<String> =
    LazyLock::new(|| format!("\u{fdd0}{:016x}", RandomState::new().build_hasher().finish()));

/// Colours a text.
pub fn paint(style: Style, text: impl Display) -> String {
    let mark = MARK.as_str();
    format!("{mark}{style}{text}{mark}{style:#}")
}

/// Marks all colours of a text as ours.
pub fn painted(text: &str) -> String {
    text.replace('\u{1b}', &format!("{}\u{1b}", MARK.as_str()))
}

/// Escapes everything but our colours, and wraps lines at `width`. Never breaks a word, so that paths and test ids can
/// be copied.
pub fn lay_out(text: &str, width: Option<usize>) -> String {
    let text = escape(text);
    match width {
        None => text,
        Some(width) => text.split('\n').map(|line| wrap(line, width)).collect::<Vec<_>>().join("\n"),
    }
}

fn escape(text: &str) -> String {
    let mut parts = text.split(MARK.as_str());
    let mut shown = visible::escaped(parts.next().unwrap_or_default());
    for part in parts {
        // A colour code ends at its first `m`.
        let (colour, rest) = part.split_at(part.find('m').map_or(0, |end| end + 1));
        shown += colour;
        shown += &visible::escaped(rest);
    }
    shown
}

fn wrap(line: &str, width: usize) -> String {
    if columns(line) <= width {
        return line.to_owned();
    }
    let indent = hanging(line).min(width / 3);
    let (mut text, mut used, mut begun) = (String::new(), 0, false);
    for (at, word) in line.split(' ').enumerate() {
        let size = columns(word);
        if begun && size > 0 && used + 1 + size > width {
            text.truncate(text.trim_end_matches(' ').len());
            text += &format!("\n{}{word}", " ".repeat(indent));
            used = indent + size;
        } else {
            // Padding must not start a new line.
            let gap = usize::from(at > 0 && (size > 0 || used < width));
            text += &format!("{}{word}", " ".repeat(gap));
            used += gap + size;
        }
        begun |= size > 0;
    }
    text
}

/// The indentation of a wrapped line: below the text after a label and two spaces, or else two columns deeper than the
/// line, so that it does not look like a new line.
fn hanging(line: &str) -> usize {
    let shown = anstream::adapter::strip_str(line).to_string();
    let margin = shown.len() - shown.trim_start_matches(' ').len();
    let label = shown[margin..].split_once("  ").filter(|(label, _)| columns(label) <= 16);
    label.map_or(margin + 2, |(label, rest)| {
        margin + columns(label) + 2 + (rest.len() - rest.trim_start_matches(' ').len())
    })
}

/// The columns that a text takes, without colours.
fn columns(text: &str) -> usize {
    anstream::adapter::strip_str(text).map(UnicodeWidthStr::width).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_colours_stay_and_those_of_others_are_shown() {
        let text = format!("{} \u{1b}[32mholds\u{1b}[0m", paint(BAD, "refused\u{1b}[0m"));
        let shown = "\u{1b}[31mrefused\\u{1b}[0m\u{1b}[0m \\u{1b}[32mholds\\u{1b}[0m";
        assert_eq!(lay_out(&text, None), shown);
        assert_eq!(lay_out(&painted("\u{1b}[1mUsage\u{1b}[0m"), None), "\u{1b}[1mUsage\u{1b}[0m");
    }

    #[test]
    fn a_long_line_goes_on_below_its_text() {
        let text = format!("  {}one two three four", paint(WARN, "tried    "));
        assert_eq!(lay_out(&text, Some(22)).replace(&paint(WARN, "tried    "), "tried    "), {
            "  \u{1b}[33mtried    \u{1b}[0mone two\n       three four"
        });
        assert_eq!(lay_out("  tried    one two three four", Some(36)), "  tried    one two three four");
        assert_eq!(
            lay_out("  tried    one two three four five", Some(33)),
            "  tried    one two three four\n           five"
        );
        assert_eq!(lay_out("one two three", Some(8)), "one two\n  three");
    }

    #[test]
    fn a_word_is_never_broken_and_nothing_is_lost() {
        let text = "    see tests/a/rather/long/path.rs::and_a_name for  more\n\nend";
        let wrapped = lay_out(text, Some(20));
        assert!(wrapped.contains("tests/a/rather/long/path.rs::and_a_name"), "{wrapped}");
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&wrapped), words(text));
        assert_eq!(lay_out("日本語 日本語", Some(8)), "日本語\n  日本語");
    }
}
