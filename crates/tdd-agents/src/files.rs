//! Parses an answer of fenced blocks, each headed by the path of its file. Small models write this better than JSON.
//!
//! The path is on the line before the fence, behind the fence, or in a comment on the block's first line. Lines outside
//! of blocks such as `summary: …` hold the other fields of an edit plan.

use tdd_core::gate::{Action, Edit};
use tdd_core::seam::{Done, StepResult};

use crate::reply::{self, MAX_ENTRIES, MAX_REPLY, ReplyError};

/// The word in the last message of an edit call that asks for fenced files.
pub const FILES_ANSWER: &str = "files_answer";

/// The code of one fenced block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The file that the code belongs to.
    pub path: String,
    /// The item that the heading names after `#`.
    pub item: Option<String>,
    /// The code.
    pub content: String,
}

/// A parsed answer. Deleted and renamed files are edits in `result`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilesAnswer {
    /// The blocks, in order.
    pub blocks: Vec<Block>,
    /// Everything outside of the blocks.
    pub result: StepResult,
}

/// Parses an answer. A block without a path belongs to `default_path`, if given.
pub fn read(text: &str, default_path: Option<&str>) -> Result<FilesAnswer, ReplyError> {
    if text.len() > MAX_REPLY {
        return Err(ReplyError::TooLong(text.len()));
    }
    if text.trim().is_empty() {
        return Err(ReplyError::Empty);
    }
    let text = reply::plain_line_ends(text.trim_start_matches('\u{feff}').to_owned());
    let mut answer = FilesAnswer::default();
    let mut before = "";
    let mut field = None;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(fence) = Fence::opened_by(line) else {
            field = read_line(line, field, &mut answer.result)?;
            if !line.trim().is_empty() {
                before = line;
            }
            continue;
        };
        // Small models put the heading into a block of its own, and often leave that block open.
        if let Some(heading) = lines.peek().copied().filter(|line| as_path(line).is_some()) {
            let mut rest = lines.clone();
            rest.next();
            let closed = rest.next_if(|line| line.trim().chars().all(|c| c == fence.mark) && !line.trim().is_empty());
            let next = rest.peek().and_then(|line| Fence::opened_by(line));
            let opens_again = next.is_some_and(|next| closed.is_some() || !next.info.is_empty());
            if opens_again || closed.is_some() {
                (before, field, lines) = (heading, None, rest);
                continue;
            }
        }
        let content = fence.content(&mut lines).ok_or(ReplyError::Cut)?;
        let number = answer.blocks.len() + 1;
        if number > MAX_ENTRIES {
            return Err(ReplyError::TooMany { field: "blocks".to_owned(), found: number });
        }
        answer.blocks.push(block(&fence, before, content, default_path).ok_or(ReplyError::NoPath { number })?);
        (before, field) = ("", None);
    }
    Ok(answer)
}

/// The opening line of a block.
struct Fence<'t> {
    mark: char,
    length: usize,
    info: &'t str,
}

impl<'t> Fence<'t> {
    fn opened_by(line: &'t str) -> Option<Self> {
        let line = line.trim_start();
        let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let length = line.chars().take_while(|c| *c == mark).count();
        let info = line.get(length..).unwrap_or_default().trim();
        (length >= 3 && !info.contains('`')).then_some(Self { mark, length, info })
    }

    /// The lines up to the closing fence; `None` if it is missing.
    fn content<'l>(&self, lines: &mut impl Iterator<Item = &'l str>) -> Option<String> {
        let mut content = String::new();
        for line in lines {
            let bare = line.trim();
            if bare.len() >= self.length && bare.chars().all(|c| c == self.mark) {
                return Some(content);
            }
            content += line;
            content.push('\n');
        }
        None
    }
}

fn block(fence: &Fence<'_>, before: &str, content: String, default_path: Option<&str>) -> Option<Block> {
    let first = content.lines().next().unwrap_or_default();
    let comment =
        first.trim().trim_start_matches(['#', '/', '-', '<', '!', ';', '*']).trim_end_matches(['-', '>', '*', '/']);
    let (heading, from_comment) = match in_info(fence.info).or_else(|| in_heading(before)) {
        Some(heading) => (heading, false),
        None => match as_path(comment).filter(|_| comment.trim() != first.trim()) {
            Some(heading) => (heading, true),
            None => (default_path?.to_owned(), false),
        },
    };
    let content = if from_comment { content.get(first.len() + 1..).unwrap_or_default().to_owned() } else { content };
    let (path, item) = match heading.split_once('#') {
        Some((path, item)) => (path, Some(item.trim().to_owned()).filter(|item| !item.is_empty())),
        None => (heading.as_str(), None),
    };
    Some(Block { path: reply::plain_path(path), item, content: content.trim_start_matches('\n').to_owned() })
}

/// ```` ```python tests/test_a.py ````, ```` ```python:tests/test_a.py ````, ```` ```python path=tests/test_a.py ````
fn in_info(info: &str) -> Option<String> {
    let words = info.split([' ', '\t', ':', '=', '"', '\'', '{', '}', ',']);
    words.filter_map(as_path).next_back()
}

/// Finds the path in a heading line.
fn in_heading(line: &str) -> Option<String> {
    let quoted = line.split('`').skip(1).step_by(2).filter_map(as_path).last();
    let bare = line.trim().trim_matches(['#', '*', '_', ':', '`', ' ', '-', '(', ')']);
    let bare = bare.rsplit([' ', '\t']).next().unwrap_or_default();
    quoted.or_else(|| as_path(bare.trim_matches(['*', '_', '`', ':', '(', ')'])))
}

/// Accepts a word that looks like a file path, perhaps with `#item` at the end.
fn as_path(word: &str) -> Option<String> {
    let word = word.trim();
    let path = word.split('#').next().unwrap_or_default();
    let (stem, ending) = path.rsplit_once('.')?;
    let is_ending = (1..=8).contains(&ending.len()) && ending.chars().all(|c| c.is_ascii_alphanumeric());
    let is_plain = |c: char| c.is_alphanumeric() || "/_-.@+$[]".contains(c);
    let is_path =
        is_ending && !stem.is_empty() && path.chars().all(is_plain) && !path.chars().all(|c| !c.is_alphabetic());
    is_path.then(|| word.to_owned())
}

/// A field whose value may continue on the next lines.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Summary,
    Rationale,
    Reason,
    SpecSource,
    Notes,
}

/// Reads a line outside of blocks; returns the field that the next line may continue.
fn read_line(line: &str, open: Option<Field>, result: &mut StepResult) -> Result<Option<Field>, ReplyError> {
    let bare = line.trim().trim_start_matches(['-', '*', ' ']);
    let (key, value) = bare.split_once(':').map_or(("", ""), |(key, value)| (key, value));
    let key = key.trim_matches(['*', '_', '`', ' ']).to_ascii_lowercase().replace([' ', '-'], "_");
    let value = value.trim_start_matches('*').trim();
    let field = match key.as_str() {
        "summary" => Some(Field::Summary),
        "rationale" => Some(Field::Rationale),
        "reason" => Some(Field::Reason),
        "spec_source" => Some(Field::SpecSource),
        "notes" => Some(Field::Notes),
        "commit_message" => {
            value.clone_into(&mut result.commit_message);
            return Ok(None);
        }
        "claims" => {
            for name in value.split(',').map(unquoted).filter(|name| !name.is_empty()) {
                result.claims.push(reply::test_id("claims", name)?);
            }
            return Ok(None);
        }
        "need" => {
            let paths = value.split(',').map(|path| reply::plain_path(unquoted(path)));
            result.need.extend(paths.filter(|path| !path.is_empty()));
            return Ok(None);
        }
        "done" => {
            result.done.extend(done(value)?);
            return Ok(None);
        }
        "delete" | "rename" => {
            result.edits.extend(whole_file(&key, value));
            return Ok(None);
        }
        _ => {
            if let Some(field) = open.filter(|_| !bare.is_empty()) {
                let text = text_of(result, field);
                *text += "\n";
                *text += line.trim();
                return Ok(Some(field));
            }
            return Ok(None);
        }
    };
    if let Some(field) = field {
        value.clone_into(text_of(result, field));
    }
    Ok(field)
}

fn text_of(result: &mut StepResult, field: Field) -> &mut String {
    match field {
        Field::Summary => &mut result.summary,
        Field::Rationale => &mut result.rationale,
        Field::Reason => &mut result.reason,
        Field::SpecSource => &mut result.spec_source,
        Field::Notes => &mut result.notes,
    }
}

fn unquoted(text: &str) -> &str {
    text.trim().trim_matches(['`', '"', '\''])
}

/// Parses `requirement => test id`.
fn done(value: &str) -> Result<Option<Done>, ReplyError> {
    let parts = ["=>", "->", "→", "|"].iter().find_map(|arrow| value.rsplit_once(arrow));
    let Some((requirement, test)) = parts else { return Ok(None) };
    let requirement = unquoted(requirement).to_owned();
    Ok(Some(Done { requirement, test_id: reply::test_id("done", unquoted(test))? }))
}

/// Parses `delete: path` and `rename: path -> path`.
fn whole_file(key: &str, value: &str) -> Option<Edit> {
    let (path, to) = ["=>", "->", "→"].iter().find_map(|arrow| value.split_once(arrow)).unwrap_or((value, ""));
    let path = reply::plain_path(unquoted(path));
    let to = reply::plain_path(unquoted(to));
    let action = match key {
        "delete" => Action::Delete,
        _ if to.is_empty() => return None,
        _ => Action::Rename { to },
    };
    (!path.is_empty()).then_some(Edit { path, action })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The blocks of an answer, each as "path#item: first line".
    fn blocks(text: &str) -> Vec<String> {
        let shown = |block: &Block| {
            let item = block.item.as_ref().map(|item| format!("#{item}")).unwrap_or_default();
            format!("{}{item}: {}", block.path, block.content.lines().next().unwrap_or_default())
        };
        read(text, None).unwrap().blocks.iter().map(shown).collect()
    }

    #[test]
    fn a_path_is_read_wherever_models_put_it() {
        for text in [
            "tests/test_a.py\n```python\nx = 1\n```",
            "### `tests/test_a.py`\n\n```python\nx = 1\n```",
            "**File: tests/test_a.py**\n```\nx = 1\n```",
            "Here is `tests/test_a.py`:\n```python\nx = 1\n```",
            "```python tests/test_a.py\nx = 1\n```",
            "```python:tests/test_a.py\nx = 1\n```",
            "```python path=\"./tests/test_a.py\"\nx = 1\n```",
            "```python\n# tests/test_a.py\nx = 1\n```",
            "~~~\n# tests/test_a.py\n\nx = 1\n~~~",
            "tests/test_a.py:\r\n```\r\nx = 1\r\n```\r\n",
        ] {
            assert_eq!(blocks(text), ["tests/test_a.py: x = 1"], "{text}");
        }
        assert_eq!(blocks("src/lib.rs#add\n```rust\nfn add() {}\n```"), ["src/lib.rs#add: fn add() {}"]);
    }

    #[test]
    fn a_heading_may_stand_in_a_block_of_its_own() {
        for text in [
            "```py\ntests/test_a.py\n```py\nx = 1\n```",
            "```\ntests/test_a.py\n```python\nx = 1\n```",
            "```\ntests/test_a.py\n```\n```python\nx = 1\n```",
        ] {
            assert_eq!(blocks(text), ["tests/test_a.py: x = 1"], "{text}");
        }
        assert!(blocks("The answer is:\n```\ntests/test_a.py\n```").is_empty());
    }

    #[test]
    fn a_comment_that_is_no_path_stays() {
        assert_eq!(read("```\n# e.g. this\nx\n```", Some("a.py")).unwrap().blocks[0].content, "# e.g. this\nx\n");
        assert_eq!(read("```\n1.5\n```", Some("a.py")).unwrap().blocks[0].content, "1.5\n");
    }

    #[test]
    fn a_block_without_a_path_belongs_to_the_file_that_is_asked_for() {
        assert_eq!(read("Sure!\n```python\nx\n```", Some("a.py")).unwrap().blocks[0].path, "a.py");
        assert_eq!(read("Sure!\n```python\nx\n```", None), Err(ReplyError::NoPath { number: 1 }));
    }

    #[test]
    fn fields_stand_on_lines_of_their_own() {
        let text = "summary: pin the empty text\nrationale: The kata begins with it.\nAnd it is small.\n\nneed: a.py, `b.py`\n\
                    claims: tests/a.py::test_a\ndone: an empty text is 0 => tests/a.py::test_empty\n**Reason:** none\n\
                    delete: old.py\nrename: a.py -> b.py\n";
        let said = read(text, None).unwrap().result;
        assert_eq!(said.summary, "pin the empty text");
        assert_eq!(said.rationale, "The kata begins with it.\nAnd it is small.");
        assert_eq!((said.need.len(), said.claims.len(), said.done.len(), said.edits.len()), (2, 1, 1, 2));
        assert_eq!(said.done[0].requirement, "an empty text is 0");
        assert_eq!(said.reason, "none");
    }

    #[test]
    fn fields_inside_of_a_block_are_code() {
        let answer = read("a.md\n````\nsummary: x\n```\nneed: y.py\n```\n````\n", None).unwrap();
        assert_eq!((answer.blocks[0].content.lines().count(), answer.result), (4, StepResult::default()));
    }

    #[test]
    fn half_an_answer_is_no_answer() {
        assert_eq!(read("a.py\n```\nx", None), Err(ReplyError::Cut));
        assert_eq!(read(" \n", None), Err(ReplyError::Empty));
        assert!(read("done: a => not a test", None).unwrap_err().to_string().contains("not a test id"));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(?s)([`~#:/.\n\r ab=>é-]|.){0,80}") {
            let _ = read(&text, None);
            let _ = read(&text, Some("a.py"));
        }
    }
}
