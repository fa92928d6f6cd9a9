//! The signature of a failure: the same signature again means that the attempt made no progress.

use crate::digest::Digest;
use crate::test_id::TestId;

/// A digest of the failing tests and the message, without what changes from run to run.
pub fn signature<'a>(failing: impl IntoIterator<Item = &'a TestId>, message: &str) -> Digest {
    let mut ids: Vec<&str> = failing.into_iter().map(TestId::as_str).collect();
    ids.sort_unstable();
    ids.dedup();
    Digest::of(format!("{}\n\n{}", ids.join("\n"), normalised(message)))
}

/// A message without paths, addresses, times and line numbers: words with a slash or `0x` are cut to that, digits are
/// dropped, and white space is collapsed. Lines that compare values keep their numbers.
fn normalised(message: &str) -> String {
    let compares =
        |line: &str| ["left:", "right:", "expected", "actual", "got", "want"].iter().any(|it| line.contains(it));
    let lines = message.lines().map(strip_colours).filter(|line| !line.trim().is_empty());
    let lines = lines.map(|line| if compares(&line) { words(&line, keep) } else { words(&line, letters) });
    lines.collect::<Vec<_>>().join("\n")
}

fn words(line: &str, word: fn(&str) -> String) -> String {
    line.split_whitespace().map(word).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn keep(word: &str) -> String {
    if word.contains('/') || word.contains("0x") { letters(word) } else { word.to_owned() }
}

fn letters(word: &str) -> String {
    if word.contains('/') {
        return "/".to_owned();
    }
    if word.contains("0x") {
        return "0x".to_owned();
    }
    word.chars().filter(|letter| !letter.is_ascii_digit()).collect()
}

/// Removes terminal escape sequences.
fn strip_colours(line: &str) -> String {
    let mut plain = String::new();
    let mut rest = line.chars();
    while let Some(letter) = rest.next() {
        if letter == '\u{1b}' {
            rest.by_ref().find(char::is_ascii_alphabetic);
        } else {
            plain.push(letter);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(message: &str) -> Digest {
        signature([&TestId::native("tests/a.rs", "adds")], message)
    }

    #[test]
    fn paths_addresses_times_and_line_numbers_do_not_count() {
        for (one, other) in [
            ("panicked at src/lib.rs:4:5:\nno", "panicked at src/lib.rs:17:9:\nno"),
            ("at /tmp/a1/src/x.rs boom", "at /tmp/zz/src/x.rs boom"),
            ("thread 'adds' (4711) failed", "thread 'adds' (12) failed"),
            ("object at 0x7ffe12 is bad", "object at 0x55aa01 is bad"),
            ("finished in 0.03s\nno", "finished in 12.5s\nno"),
            ("\u{1b}[31mno\u{1b}[0m", "no"),
            ("a  b\n\n c", "a b\nc"),
        ] {
            assert_eq!(of(one), of(other), "{one}");
        }
    }

    #[test]
    fn another_test_another_message_and_another_value_are_other_failures() {
        assert_ne!(of("no"), of("yes"));
        assert_ne!(of("left: 1\nright: 2"), of("left: 0\nright: 2"));
        let two = [TestId::native("tests/a.rs", "adds"), TestId::native("tests/a.rs", "subtracts")];
        assert_ne!(signature(&two, "no"), of("no"));
        assert_eq!(signature(&two, "no"), signature(two.iter().rev(), "no"));
    }
}
