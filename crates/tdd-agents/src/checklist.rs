//! The section of a tester's brief about requirements: which are open, which seem to have a test, and the next example.

use tdd_core::requirements::{Layout, Progress, Standing};

/// Bytes of a line that counts what is left out.
const MORE: usize = 40;
/// Bytes of a requirement's text when there is little room.
const SHORT: usize = 60;

/// The section in at most `max` bytes; empty if there is nothing to say, or no room for it.
pub(crate) fn section(progress: Option<&Progress>, max: usize) -> String {
    let Some(progress) = progress else { return String::new() };
    let next = progress.examples.first().map(|next| format!("\nNext example that no test has yet: {next}\n"));
    let next = next.unwrap_or_default();
    let head = "\n# Requirements\n";
    let Some(room) = max.checked_sub(head.len() + next.len()) else { return String::new() };
    let list = if progress.requirements.is_empty() { String::new() } else { list(progress, room) };
    if list.is_empty() && next.is_empty() { String::new() } else { format!("{head}{list}{next}") }
}

/// Says which requirements are open, then which seem to have a test, in at most `room` bytes.
fn list(progress: &Progress, room: usize) -> String {
    let open: Vec<&Standing> = progress.open().collect();
    let words = match (open.is_empty(), progress.layout) {
        (true, _) => "\nEach requirement of the kata seems to have a test that passes.\n",
        (false, Layout::Numbered | Layout::Bulleted) => {
            "\nNo test seems to be about these requirements of the kata yet:\n"
        }
        (false, Layout::Prose) => "\nNo test seems to be about these sentences of the kata yet:\n",
    };
    let Some(room) = room.checked_sub(words.len()) else { return String::new() };
    let whole = |it: &Standing, most: usize| format!("{}. {}\n", it.number, shortened(&it.text, most));
    let all: usize = open.iter().map(|it| whole(it, usize::MAX).len()).sum();
    let most = if all <= room { usize::MAX } else { SHORT };
    let lines = open.iter().map(|it| whole(it, most));
    let covered = progress.requirements.iter().filter_map(|it| {
        let test = it.test.as_ref()?;
        Some(format!("{}. seems to have a test: `{}`\n", it.number, shortened(test.short_name(), SHORT)))
    });
    let open = fitting(lines, room);
    let covered = fitting(covered, room - open.len());
    format!("{words}{open}{covered}")
}

/// As many lines as fit, and how many do not.
fn fitting(lines: impl Iterator<Item = String>, room: usize) -> String {
    let lines: Vec<String> = lines.collect();
    let all: usize = lines.iter().map(String::len).sum();
    let room = if all <= room { room } else { room.saturating_sub(MORE) };
    let (mut text, mut left_out) = (String::new(), 0);
    for line in lines {
        if left_out == 0 && text.len() + line.len() <= room {
            text += &line;
        } else {
            left_out += 1;
        }
    }
    if left_out > 0 && room > 0 { format!("{text}[… and {left_out} more …]\n") } else { text }
}

fn shortened(text: &str, most: usize) -> String {
    if text.len() <= most {
        text.to_owned()
    } else {
        format!("{}…", text[..text.floor_char_boundary(most)].trim_end())
    }
}

#[cfg(test)]
mod tests {
    use tdd_core::test_id::TestId;

    use super::*;

    fn progress(count: usize, covered: usize) -> Progress {
        let standing = |number: usize| Standing {
            number,
            text: format!("Requirement {number} {}", "says what is asked for. ".repeat(5).trim_end()),
            test: (number <= covered).then(|| TestId::native("tests/a.rs", &format!("shows_{number}"))),
        };
        let requirements = (1..=count).map(standing).collect();
        Progress { requirements, examples: vec!["`add(\"1,2\")` is 3".to_owned()], layout: Layout::Numbered }
    }

    #[test]
    fn open_requirements_come_first_then_those_with_a_test_then_the_next_example() {
        let text = "says what is asked for. ".repeat(5);
        let expected = format!(
            "\n# Requirements\n\nNo test seems to be about these requirements of the kata yet:\n2. Requirement 2 {0}\n3. \
             Requirement 3 {0}\n1. seems to have a test: `shows_1`\n\nNext example that no test has yet: `add(\"1,2\")` \
             is 3\n",
            text.trim_end()
        );
        assert_eq!(section(Some(&progress(3, 1)), 1_500), expected);
        assert_eq!(section(None, 1_500), "");
        let complete = section(Some(&progress(2, 2)), 1_500);
        assert!(
            complete.contains("Each requirement of the kata seems to have a test that passes.\n1. seems"),
            "{complete}"
        );
    }

    #[test]
    fn long_lists_are_shortened_and_then_counted() {
        let (many, whole) = (progress(40, 5), section(Some(&progress(40, 5)), 1_500));
        assert!(whole.contains("\n6. Requirement 6 ") && whole.contains("more …]") && whole.contains('…'), "{whole}");
        for max in 0..1_600 {
            let text = section(Some(&many), max);
            assert!(text.len() <= max, "{} > {max}", text.len());
            assert!(text.is_empty() || text.contains("Next example"), "{text}");
        }
    }
}
