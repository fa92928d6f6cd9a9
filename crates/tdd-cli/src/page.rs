//! Lays text out for people: what came from outside is escaped, our own colours stay, long lines are wrapped.

use std::fmt::Display;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::LazyLock;

use anstyle::{AnsiColor, Style};
use tdd_core::visible;
use unicode_width::UnicodeWidthStr;

/// Good news.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// Bad news.
pub const BAD: Style = AnsiColor::Red.on_default();
/// News to think about.
pub const WARN: Style = AnsiColor::Yellow.on_default();
/// Less important.
pub const DIM: Style = Style::new().dimmed();
/// More important.
pub const BOLD: Style = Style::new().bold();

/// Stands before each colour of ours. It is drawn anew for each process, so no text from outside can hold it.
static MARK: LazyLock<String> =
    LazyLock::new(|| format!("\u{fdd0}{:016x}", RandomState::new().build_hasher().finish()));

/// Text in a style.
pub fn paint(style: Style, text: impl Display) -> String {
    let mark = MARK.as_str();
    format!("{mark}{style}{text}{mark}{style:#}")
}

/// A text whose colours are all ours.
pub fn painted(text: &str) -> String {
    text.replace('\u{1b}', &format!("{}\u{1b}", MARK.as_str()))
}

/// The text as a terminal may see it: everything escaped but our colours, and no line longer than `width` that has a
/// space to break it at. A word is never broken, so that paths and test ids can be copied.
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
        // A colour ends with its first `m`.
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
            // What only fills a column up must not begin a line by itself.
            let gap = usize::from(at > 0 && (size > 0 || used < width));
            text += &format!("{}{word}", " ".repeat(gap));
            used += gap + size;
        }
        begun |= size > 0;
    }
    text
}

/// The column at which a wrapped line goes on: below its text, which begins behind a label and two spaces if there is
/// one, else a little further in than the line itself, so that it cannot be taken for a line of its own.
fn hanging(line: &str) -> usize {
    let shown = anstream::adapter::strip_str(line).to_string();
    let margin = shown.len() - shown.trim_start_matches(' ').len();
    let label = shown[margin..].split_once("  ").filter(|(label, _)| columns(label) <= 16);
    label.map_or(margin + 2, |(label, rest)| {
        margin + columns(label) + 2 + (rest.len() - rest.trim_start_matches(' ').len())
    })
}

/// How much room a text takes on a terminal, colours aside.
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
