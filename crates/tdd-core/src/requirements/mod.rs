//! The requirements and examples of a kata, extracted from its Markdown, and which of them seem to have a test.
//!
//! A kata is somebody else's text: only its first 200 KB are read, in one pass, and every list and text is bounded.

mod coverage;
mod examples;
mod literals;
mod outline;
mod significant;
mod test_text;

#[cfg(test)]
mod tests;

pub use coverage::{Progress, Standing};
pub use test_text::{TestText, test_texts};

use outline::{Marker, Outline};

/// Most requirements of a kata; later ones are ignored.
const MAX_REQUIREMENTS: usize = 40;
/// Most examples of a kata; later ones are ignored.
const MAX_EXAMPLES: usize = 80;
/// Most bytes of a kata that are read.
const MAX_KATA: usize = 200_000;
/// Most bytes of a requirement's or an example's text.
const MAX_TEXT: usize = 160;

/// What a kata asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requirements {
    layout: Layout,
    list: Vec<String>,
    examples: Vec<Example>,
}

/// How a kata states its requirements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// As a numbered list, or under numbered headings.
    Numbered,
    /// As a bulleted list.
    Bulleted,
    /// As sentences.
    #[default]
    Prose,
}

/// A concrete case in a kata, such as `3 is III`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// As it is written, in one line.
    pub text: String,
    /// The place of its requirement in the list.
    pub requirement: Option<usize>,
    /// Its numbers and strings: a test that holds all of them seems to be about it.
    values: Vec<String>,
}

impl Requirements {
    /// Extracts the requirements of a kata. Numbered items are taken if there are any, else bulleted items and numbered
    /// headings, else sentences that say what the code does. Headings, links, examples, nested items and sections about
    /// the background are no requirements of their own.
    pub fn of(kata: &str) -> Self {
        let outline = Outline::of(head(kata, MAX_KATA));
        let numbered = outline.top_level(&[Marker::Numbered]);
        let listed = if numbered.is_empty() { outline.listed() } else { numbered };
        let layout = match listed.first().map(|item| outline.items[*item].marker) {
            None => return Self::from_sentences(outline),
            Some(Marker::Numbered | Marker::Heading) => Layout::Numbered,
            Some(Marker::Bullet) => Layout::Bulleted,
        };
        let place = |item: usize| outline.ancestors(item).find_map(|item| listed.iter().position(|it| *it == item));
        let example = |found: &outline::FoundExample| Example {
            text: found.text.clone(),
            requirement: found.item.and_then(place),
            values: found.values.clone(),
        };
        let examples = outline.examples.iter().map(example).collect();
        let list = listed.iter().map(|item| outline.items[*item].text.clone()).collect();
        Self { layout, list, examples }
    }

    fn from_sentences(outline: Outline) -> Self {
        let examples = outline.examples.into_iter().map(|found| Example {
            text: found.text,
            requirement: found.sentence,
            values: found.values,
        });
        Self { layout: Layout::Prose, examples: examples.collect(), list: outline.sentences }
    }

    /// The requirements in the kata's order; the first one has the number 1.
    pub fn list(&self) -> &[String] {
        &self.list
    }

    /// The examples in the kata's order.
    pub fn examples(&self) -> &[Example] {
        &self.examples
    }

    /// Whether the kata gives neither a requirement nor an example.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty() && self.examples.is_empty()
    }

    /// How the kata states its requirements. Only a list binds: a sentence may be about something else.
    pub fn layout(&self) -> Layout {
        self.layout
    }
}

/// Whether every number and every quoted text in this code stands in the kata.
pub fn gives_all_values(kata: &str, code: &str) -> bool {
    let kata = head(kata, MAX_KATA);
    let known = literals::tokens(kata);
    let is_number = |value: &str| !value.is_empty() && value.chars().all(|c| c.is_ascii_digit() || c == '.');
    let is_given = |value: String| {
        if is_number(&value) { known.contains_key(&value) } else { stands_apart(kata, &value) }
    };
    code.lines().flat_map(literals::values).all(is_given)
}

/// Whether a text stands in a kata as a value: more than one word, in quotes of any kind, or alone in its line or cell. A
/// plain word may just be part of a sentence.
fn stands_apart(kata: &str, value: &str) -> bool {
    let is_quote = |c: char| "\"'`_*“”‘’«»[]()".contains(c);
    let is_quoted =
        |(at, _): (usize, &str)| kata[..at].ends_with(is_quote) && kata[at + value.len()..].starts_with(is_quote);
    let is_plain = !value.is_empty() && value.chars().all(char::is_alphabetic);
    let is_alone = |line: &str| {
        let item = line.trim().trim_start_matches(['-', '*', ' ']);
        item == value || line.split('|').any(|cell| cell.trim() == value)
    };
    !is_plain && kata.contains(value) || kata.match_indices(value).any(is_quoted) || kata.lines().any(is_alone)
}

/// The beginning of a text, in at most `max` bytes.
fn head(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

/// A text in one line, without control characters, in at most [`MAX_TEXT`] bytes.
fn one_line(text: &str) -> String {
    let shown = |c: &char| !crate::visible::is_obeyed(*c);
    let words = head(text, 4 * MAX_TEXT).split_whitespace().map(|word| word.chars().filter(shown).collect::<String>());
    let line = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    if line.len() <= MAX_TEXT { line } else { format!("{}…", head(&line, MAX_TEXT - '…'.len_utf8()).trim_end()) }
}
