//! The sections of a Markdown text, and the markers of unfinished parts.

/// A section: its heading, line and content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section<'a> {
    /// The heading, without `##`.
    pub title: &'a str,
    /// The line of the heading, from 1.
    pub line: usize,
    /// All lines up to the next `##` heading.
    pub lines: Vec<&'a str>,
}

/// A part of another tool's page that is kept verbatim.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Kept {
    /// Its title, including symbols in front of it.
    pub title: String,
    /// Its content.
    pub text: String,
}

impl Kept {
    /// Keeps the lines below a title, without a trailing horizontal rule.
    pub fn of(title: &str, lines: &[&str]) -> Self {
        let text = lines.join("\n");
        Self { title: title.to_owned(), text: text.trim().trim_end_matches("---").trim_end().to_owned() }
    }
}

/// A placeholder that a person must fill in.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Marker {
    /// The line, from 1.
    pub line: usize,
    /// What to fill in.
    pub asks: String,
}

/// The marker of other tools for a program that is not filled in.
pub const SENTINEL: &str = "<!-- AUTOLOOP:UNCONFIGURED -->";
const CUSTOMIZE: &str = "<CUSTOMIZE:";

/// The `## Title` sections; a heading inside a fenced block does not count.
pub fn sections(text: &str) -> Vec<Section<'_>> {
    let mut found: Vec<Section<'_>> = Vec::new();
    let mut fence = None;
    for (at, line) in text.lines().enumerate() {
        fence = after_line(fence, line);
        match line.strip_prefix("## ").filter(|_| fence.is_none()) {
            Some(title) => found.push(Section { title: title.trim(), line: at + 1, lines: Vec::new() }),
            None => found.iter_mut().last().into_iter().for_each(|section| section.lines.push(line)),
        }
    }
    found
}

/// The first section with one of these titles, ignoring symbols in front of it.
pub fn named<'a, 'b>(sections: &'b [Section<'a>], titles: &[&str]) -> Option<&'b Section<'a>> {
    let bare = |title: &str| title.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    sections.iter().find(|section| titles.iter().any(|title| bare(section.title) == title.to_lowercase()))
}

/// The text of the first fenced block among these lines.
pub fn first_block(lines: &[&str]) -> Option<String> {
    let open = lines.iter().position(|line| fence_of(line).is_some())?;
    let mark = lines.get(open).and_then(|line| fence_of(line))?;
    let rest = lines.get(open + 1..)?;
    let end = rest.iter().position(|line| line.trim().starts_with(mark))?;
    Some(rest.get(..end)?.join("\n"))
}

/// All `<CUSTOMIZE: …>` markers in a text.
pub fn markers(text: &str) -> Vec<Marker> {
    let found = text.match_indices(CUSTOMIZE).map(|(at, _)| {
        let asks = text[at + CUSTOMIZE.len()..].split('>').next().unwrap_or_default();
        let words: Vec<&str> = asks.split_whitespace().collect();
        Marker { line: text[..at].matches('\n').count() + 1, asks: words.join(" ") }
    });
    found.collect()
}

/// The first sign of other tools that a program is not filled in: the sentinel, `TODO`, `REPLACE…`.
pub fn unfinished(text: &str) -> Option<Marker> {
    let is_word = |word: &str| word == "TODO" || word.starts_with("REPLACE");
    let lines = text.lines().enumerate();
    let mut marks = lines.filter_map(|(at, line)| {
        let mut words = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let asks = if line.contains(SENTINEL) { Some(SENTINEL) } else { words.find(|word| is_word(word)) };
        asks.map(|asks| Marker { line: at + 1, asks: asks.to_owned() })
    });
    marks.next()
}

/// The fence that is open after this line.
fn after_line<'a>(open: Option<&'a str>, line: &'a str) -> Option<&'a str> {
    match (open, fence_of(line)) {
        (None, fence) => fence,
        (Some(fence), _) if line.trim().starts_with(fence) && line.trim().trim_start_matches(['`', '~']).is_empty() => {
            None
        }
        (open, _) => open,
    }
}

fn fence_of(line: &str) -> Option<&str> {
    let line = line.trim_start();
    ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_end_where_the_next_begins_and_blocks_hide_headings() {
        let text = "# T\n\n## Goal\na\n```md\n## no\n```\n### sub\n## ✅ Test Harness\nb\n";
        let found = sections(text);
        let told: Vec<_> = found.iter().map(|section| (section.title, section.line, section.lines.len())).collect();
        assert_eq!(told, [("Goal", 3, 5), ("✅ Test Harness", 9, 1)]);
        assert_eq!(named(&found, &["test harness"]).map(|section| section.line), Some(9));
        assert_eq!(named(&found, &["Target"]), None);
    }

    #[test]
    fn the_first_block_is_taken_without_its_fences() {
        assert_eq!(first_block(&["x", "```bash", "a", "b", "```", "```", "c"]).as_deref(), Some("a\nb"));
        assert_eq!(first_block(&["```", "never closed"]), None);
        assert_eq!(first_block(&["none"]), None);
    }

    #[test]
    fn markers_are_found_with_their_lines_also_over_two_of_them() {
        let found = markers("a\n<CUSTOMIZE: one\n  two> and <CUSTOMIZE: three>\n");
        let told: Vec<_> = found.iter().map(|marker| (marker.line, marker.asks.as_str())).collect();
        assert_eq!(told, [(2, "one two"), (3, "three")]);
    }

    #[test]
    fn what_others_left_unfinished_is_known() {
        assert_eq!(unfinished("a\n<!-- AUTOLOOP:UNCONFIGURED -->").map(|marker| marker.line), Some(2));
        assert_eq!(unfinished("`REPLACE_WITH_FILE`").map(|marker| marker.asks), Some("REPLACE_WITH_FILE".to_owned()));
        assert!(unfinished("TODO: say it").is_some());
        assert!(unfinished("This was replaced, todo included.").is_none());
    }
}
