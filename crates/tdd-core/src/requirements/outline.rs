//! Reads a kata's Markdown line by line: items, sentences that say what the code does, and examples.

use super::examples::{self, Found};
use super::literals;
use super::{MAX_EXAMPLES, MAX_REQUIREMENTS, head, one_line};

/// A kata's parts.
#[derive(Debug, Default)]
pub(super) struct Outline {
    pub items: Vec<Item>,
    pub sentences: Vec<String>,
    pub examples: Vec<FoundExample>,
}

/// An item of a list, or a numbered heading.
#[derive(Debug)]
pub(super) struct Item {
    pub marker: Marker,
    pub text: String,
    indent: usize,
    parent: Option<usize>,
    /// It is empty, a link or an example, or it belongs to a section about something else.
    is_other: bool,
}

/// What makes a line an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    Numbered,
    Bullet,
    Heading,
}

/// An example with the item and the sentence that it stands in or under.
#[derive(Debug)]
pub(super) struct FoundExample {
    pub text: String,
    pub values: Vec<String>,
    pub item: Option<usize>,
    pub sentence: Option<usize>,
}

/// Most items of a kata, nested ones and examples included.
const MAX_ITEMS: usize = 1_000;
/// A bullet with fewer words, literals aside, is data.
const FEWEST_WORDS: usize = 2;
/// Most bytes of a line or a paragraph that are looked at.
const MAX_PARAGRAPH: usize = 4_000;

impl Outline {
    pub fn of(kata: &str) -> Self {
        let mut reader = Reader::default();
        for line in kata.lines() {
            reader.line(head(line, MAX_PARAGRAPH));
        }
        reader.end_paragraph();
        reader.outline
    }

    /// The requirements among the items with these markers, without those that are nested in one another.
    pub fn top_level(&self, markers: &[Marker]) -> Vec<usize> {
        let own = |item: &&Item| markers.contains(&item.marker) && !item.is_other;
        let least = self.items.iter().filter(own).map(|item| item.indent).min().unwrap_or_default();
        let items = self.items.iter().enumerate().filter(|(_, item)| own(item) && item.indent < least + 2);
        items.map(|(at, _)| at).take(MAX_REQUIREMENTS).collect()
    }

    /// Bulleted items and numbered headings. The items below replace a heading, and an item that only introduces them.
    pub fn listed(&self) -> Vec<usize> {
        let top = self.top_level(&[Marker::Bullet]);
        let headings =
            self.items.iter().enumerate().filter(|(_, item)| item.marker == Marker::Heading && !item.is_other);
        let mut all: Vec<usize> = headings.map(|(at, _)| at).chain(top).collect();
        all.sort_unstable();
        let replaced = |at: usize| {
            let below = self.below(at);
            let introduces = self.items[at].marker == Marker::Heading || self.items[at].text.ends_with(':');
            if introduces && !below.is_empty() { below } else { vec![at] }
        };
        let mut listed: Vec<usize> = all.into_iter().flat_map(replaced).collect();
        listed.sort_unstable();
        listed.dedup();
        listed.truncate(MAX_REQUIREMENTS);
        listed
    }

    /// The requirements directly below an item.
    fn below(&self, parent: usize) -> Vec<usize> {
        let items = self.items.iter().enumerate().skip(parent);
        items.filter(|(_, item)| item.parent == Some(parent) && !item.is_other).map(|(at, _)| at).collect()
    }

    /// An item and those that it stands under, from the inside out.
    pub fn ancestors(&self, item: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(item), |at| self.items[*at].parent)
    }
}

/// What a section is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Section {
    #[default]
    Behaviour,
    Examples,
    Background,
}

/// What the current line is inside of.
#[derive(Debug, Default)]
enum Inside {
    #[default]
    Text,
    Comment,
    /// A block that ends with this fence.
    Block(String),
}

#[derive(Debug, Default)]
struct Reader {
    outline: Outline,
    section: Section,
    /// Level of the heading that began a section about something else.
    section_level: usize,
    /// The last line before a list introduces examples.
    introduces_examples: bool,
    paragraph: String,
    /// The item that the paragraph is the text of.
    item_begun: Option<usize>,
    /// The open items, from the outside in.
    open: Vec<usize>,
    last_sentence: Option<usize>,
    inside: Inside,
    was_blank: bool,
    /// A separator between head and body of a table was read.
    in_table: bool,
    /// A doctest's call that waits for its result.
    call: Option<String>,
    /// A line `Input: …` that waits for its output.
    input: Option<String>,
}

impl Reader {
    fn line(&mut self, line: &str) {
        let text = line.trim();
        let indent = line.len() - line.trim_start().len();
        if self.fenced(text) {
            return;
        }
        if matches!(self.inside, Inside::Comment) || text.starts_with("<!--") {
            self.inside = if text.contains("-->") { Inside::Text } else { Inside::Comment };
            return;
        }
        if self.example_line(text) {
            self.was_blank = false;
            return;
        }
        if text.is_empty() {
            self.end_paragraph();
            self.in_table = false;
        } else if is_rule(text) {
            self.rule(text);
        } else if let Some((level, title)) = heading(text) {
            self.heading(level, title);
        } else if let Some((marker, content)) = item(text) {
            self.item(marker, indent, content);
        } else if !(text.starts_with('[') && text.contains("]: ")) {
            self.text(text.trim_start_matches(['>', ' ']), indent);
        }
        self.was_blank = text.is_empty();
    }

    /// Reads a line of a fenced block; false if the line is outside of one.
    fn fenced(&mut self, text: &str) -> bool {
        let ticks = |fence: char| text.chars().take_while(|c| *c == fence).count();
        match &self.inside {
            Inside::Block(fence) if text.starts_with(fence.as_str()) && text.trim_matches(['`', '~']).is_empty() => {
                self.inside = Inside::Text;
                self.call = None;
            }
            Inside::Block(_) => {
                if !self.example_line(text) {
                    self.add(examples::in_code(text));
                }
            }
            Inside::Comment => return false,
            Inside::Text => {
                let Some(fence) = ['`', '~'].into_iter().find(|fence| ticks(*fence) >= 3) else { return false };
                self.end_paragraph();
                self.inside = Inside::Block(fence.to_string().repeat(ticks(fence)));
            }
        }
        true
    }

    /// Reads a line of a doctest, a table, or an input with its output; false for any other line.
    fn example_line(&mut self, text: &str) -> bool {
        if let Some(call) = text.strip_prefix(">>>") {
            self.end_paragraph();
            self.call = Some(call.trim().to_owned());
            return true;
        }
        if let Some(call) = self.call.take() {
            if text.starts_with("...") {
                self.call = Some(call);
                return true;
            }
            if let Some(found) = examples::call(&call, text).filter(|_| !text.is_empty()) {
                self.add([found]);
                return true;
            }
        }
        if text.starts_with('|') && text.len() > 1 {
            self.end_paragraph();
            self.row(text);
            return true;
        }
        self.input_and_output(text)
    }

    fn row(&mut self, text: &str) {
        let cells: Vec<&str> = text.trim_matches('|').split('|').map(str::trim).collect();
        if cells.iter().all(|cell| cell.contains('-') && cell.trim_matches(['-', ':']).is_empty()) {
            self.in_table = true;
        } else if self.in_table {
            self.add(examples::in_row(&cells));
        }
    }

    fn input_and_output(&mut self, text: &str) -> bool {
        let plain = text.trim_start_matches(['-', '*', '_', ' ', '`']);
        let Some((label, value)) = plain.split_once(':') else { return false };
        let value = value.trim_matches(['*', '_', ' ']);
        match label.trim_matches(['*', '_', ' ']).to_lowercase().as_str() {
            "input" | "given" | "eingabe" => self.input = Some(value.to_owned()),
            "output" | "expected" | "result" | "ausgabe" | "ergebnis" => {
                let Some(input) = self.input.take() else { return false };
                let values = |text: &str| {
                    let values = literals::values(text);
                    if values.is_empty() && text.len() <= 40 { vec![text.to_owned()] } else { values }
                };
                let both = [values(&input), values(value)].concat();
                self.end_paragraph();
                self.add(Found::new(&format!("{input} → {value}"), both));
            }
            _ => return false,
        }
        true
    }

    /// A line of `=` or `-` makes the paragraph above it a heading.
    fn rule(&mut self, text: &str) {
        let title = std::mem::take(&mut self.paragraph);
        if title.is_empty() || self.item_begun.is_some() {
            self.paragraph = title;
            self.end_paragraph();
        } else {
            self.heading(if text.starts_with('=') { 1 } else { 2 }, &title);
        }
    }

    fn heading(&mut self, level: usize, title: &str) {
        self.end_paragraph();
        self.open.clear();
        self.last_sentence = None;
        self.introduces_examples = false;
        if self.section == Section::Behaviour || level <= self.section_level {
            (self.section, self.section_level) = (section(level, title), level);
        }
        if let Some(text) = numbered_title(title) {
            self.open_item(Marker::Heading, 0, text);
        }
    }

    fn item(&mut self, marker: Marker, indent: usize, content: &str) {
        self.end_paragraph();
        let items = &self.outline.items;
        let is_outside = |at: &usize| items[*at].marker == Marker::Heading || items[*at].indent + 2 <= indent;
        let kept = self.open.iter().take_while(|at| is_outside(at)).count();
        self.open.truncate(kept);
        if self.outline.items.len() < MAX_ITEMS {
            let content = content.trim_start_matches("[ ] ").trim_start_matches("[x] ");
            self.open_item(marker, indent, "");
            self.item_begun = self.open.last().copied();
            self.paragraph.push_str(content);
        }
    }

    fn open_item(&mut self, marker: Marker, indent: usize, text: &str) {
        let is_other = self.section != Section::Behaviour || (self.introduces_examples && marker != Marker::Heading);
        let parent = self.open.last().copied();
        self.open.push(self.outline.items.len());
        self.outline.items.push(Item { marker, text: one_line(text), indent, parent, is_other });
    }

    fn text(&mut self, text: &str, indent: usize) {
        if self.was_blank && indent < 2 {
            // A paragraph at the margin ends a list.
            let items = &self.outline.items;
            self.open.retain(|at| items[*at].marker == Marker::Heading);
        }
        if self.paragraph.len() + text.len() < MAX_PARAGRAPH {
            if !self.paragraph.is_empty() {
                self.paragraph.push(' ');
            }
            self.paragraph.push_str(text);
        }
    }

    /// Reads the examples and requirements of the paragraph that ends here.
    fn end_paragraph(&mut self) {
        let paragraph = std::mem::take(&mut self.paragraph);
        match self.item_begun.take() {
            Some(item) => self.end_item(item, &paragraph),
            None if !paragraph.is_empty() => self.prose(&paragraph),
            None => {}
        }
    }

    fn end_item(&mut self, at: usize, text: &str) {
        let found = examples::in_prose(text);
        let is_example = !found.is_empty() && is_only_example(text, &found);
        let found = if self.section == Section::Examples || self.introduces_examples {
            whole_example(text, found)
        } else {
            found
        };
        self.add(found);
        let item = &mut self.outline.items[at];
        let is_data = is_example || (words(text) < FEWEST_WORDS && !text.ends_with(':'));
        item.is_other |= (is_data && item.marker == Marker::Bullet) || is_link(text) || text.trim().is_empty();
        item.is_other |= introduces_examples(text);
        item.text = one_line(text);
    }

    fn prose(&mut self, text: &str) {
        // A list of examples often goes on behind another line with a colon.
        self.introduces_examples = introduces_examples(text) || (self.introduces_examples && text.ends_with(':'));
        self.say_more_than_a_label(text);
        for sentence in sentences(text) {
            let is_requirement = self.section == Section::Behaviour
                && self.outline.sentences.len() < MAX_REQUIREMENTS
                && says_behaviour(sentence)
                && !is_link(sentence);
            if is_requirement {
                self.last_sentence = Some(self.outline.sentences.len());
                self.outline.sentences.push(one_line(sentence));
            }
            if self.section != Section::Background {
                self.add(examples::in_prose(sentence));
            }
        }
    }

    /// Gives a heading such as `Step 1` the first sentence below it.
    fn say_more_than_a_label(&mut self, text: &str) {
        let Some(item) = self.open.last().map(|at| &mut self.outline.items[*at]) else { return };
        let is_label = item.marker == Marker::Heading && item.text.ends_with(|c: char| c.is_ascii_digit());
        if let Some(first) = sentences(text).first().filter(|_| is_label && words(&item.text) <= 1) {
            item.text = one_line(&format!("{}: {first}", item.text));
        }
    }

    fn add(&mut self, found: impl IntoIterator<Item = Found>) {
        let room = MAX_EXAMPLES.saturating_sub(self.outline.examples.len());
        if self.section != Section::Background {
            let (item, sentence) = (self.open.last().copied(), self.last_sentence);
            let example = |Found { text, values }| FoundExample { text, values, item, sentence };
            self.outline.examples.extend(found.into_iter().take(room).map(example));
        }
    }
}

/// Whether a line only draws a line: `---`, `===`, `* * *`.
fn is_rule(text: &str) -> bool {
    let mark = text.chars().next().unwrap_or(' ');
    let marks = text.chars().filter(|c| *c == mark).count();
    matches!(mark, '-' | '=' | '*' | '_') && marks >= 3 && text.chars().all(|c| c == mark || c == ' ')
}

fn heading(text: &str) -> Option<(usize, &str)> {
    let level = text.bytes().take_while(|byte| *byte == b'#').count();
    let title = text[level..].strip_prefix(' ')?;
    (1..=6).contains(&level).then(|| (level, title.trim().trim_end_matches('#').trim_end()))
}

fn item(text: &str) -> Option<(Marker, &str)> {
    if matches!(text, "-" | "*" | "+" | "•") {
        return Some((Marker::Bullet, ""));
    }
    if let Some(content) = ["- ", "* ", "+ ", "• "].iter().find_map(|mark| text.strip_prefix(mark)) {
        return Some((Marker::Bullet, content.trim_start()));
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let content = text[digits..].strip_prefix(". ").or_else(|| text[digits..].strip_prefix(") "))?;
    (1..=3).contains(&digits).then(|| (Marker::Numbered, content.trim_start()))
}

/// The text of a heading such as `1. Empty text`, `Step 2: one number` or `Aufgabe 3`.
fn numbered_title(title: &str) -> Option<&str> {
    const LABELS: [&str; 12] = [
        "step",
        "task",
        "part",
        "requirement",
        "rule",
        "feature",
        "story",
        "schritt",
        "aufgabe",
        "teil",
        "anforderung",
        "regel",
    ];
    let (first, rest) = title.split_once(' ').unwrap_or((title, ""));
    let is_labelled = LABELS.contains(&first.to_lowercase().as_str());
    let number = if is_labelled { rest } else { title };
    let digits = number.bytes().take_while(u8::is_ascii_digit).count();
    let after = &number[digits..];
    let is_number = (1..=3).contains(&digits) && (is_labelled || after.starts_with(['.', ')', ':']));
    let text = after.trim_start_matches(['.', ')', ':', '-', '–', '—', ' ']);
    is_number.then_some(if text.is_empty() { title } else { text })
}

/// What a heading announces. A title may hold any word, so only lower headings and single words count.
fn section(level: usize, title: &str) -> Section {
    const EXAMPLES: [&str; 6] = ["example", "examples", "sample", "samples", "beispiel", "beispiele"];
    const BACKGROUND: [&str; 26] = [
        "background",
        "story",
        "history",
        "introduction",
        "source",
        "sources",
        "license",
        "licence",
        "credits",
        "links",
        "references",
        "resources",
        "about",
        "author",
        "authors",
        "copyright",
        "installation",
        "setup",
        "hints",
        "tips",
        "hintergrund",
        "geschichte",
        "quelle",
        "quellen",
        "lizenz",
        "einleitung",
    ];
    let words: Vec<String> = title.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase).collect();
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    match words.len() {
        count if level == 1 && count > 1 => Section::Behaviour,
        _ if has(&EXAMPLES) => Section::Examples,
        _ if has(&BACKGROUND) => Section::Background,
        _ => Section::Behaviour,
    }
}

/// Whether a text announces examples: "For example:", "**Examples**".
fn introduces_examples(text: &str) -> bool {
    let plain = text.trim_matches(['*', '_', ' ']);
    let lower = plain.to_lowercase();
    let last = lower.rsplit(['.', '!', '?']).next().unwrap_or_default();
    let names = ["example", "beispiel", "e.g", "sample"].iter().any(|word| last.contains(word));
    let is_title = plain.split_whitespace().count() <= 2 && !plain.ends_with('.');
    names && (plain.ends_with(':') || is_title)
}

fn is_link(text: &str) -> bool {
    let text = text.trim();
    let links = text.matches("](").count() + text.matches("][").count();
    let is_one = text.starts_with('[') && (text.contains("]: ") || (text.ends_with([')', ']']) && links == 1));
    is_one || text.starts_with("http://") || text.starts_with("https://") || text.starts_with('!')
}

/// Whether hardly a word is left beside the examples of an item.
fn is_only_example(text: &str, found: &[Found]) -> bool {
    let shown: usize = found.iter().map(|found| found.text.split_whitespace().count()).sum();
    text.split_whitespace().count() <= shown + 1
}

/// How many words a text has beside its literals.
fn words(text: &str) -> usize {
    let mut own = text.to_owned();
    for literal in literals::scan(text) {
        own.replace_range(literal.range.clone(), &" ".repeat(literal.range.len()));
    }
    own.split(|c: char| !c.is_alphanumeric()).filter(|word| word.starts_with(char::is_alphabetic)).count()
}

/// The examples of an item that is known to be one: the whole item, unless what was found reaches its last literal.
fn whole_example(text: &str, found: Vec<Found>) -> Vec<Found> {
    let values = literals::values(text);
    if found.last().is_some_and(|found| found.values.last() == values.last()) {
        return found;
    }
    examples::in_code(text).or_else(|| examples::whole(text)).into_iter().collect()
}

/// The sentences of a paragraph. Full stops inside of literals and after abbreviations end none.
fn sentences(text: &str) -> Vec<&str> {
    const ABBREVIATIONS: [&str; 8] = ["e.g.", "i.e.", "etc.", "vs.", "z.", "b.", "bzw.", "ca."];
    let literals = literals::scan(text);
    let mut literals = literals.iter().peekable();
    let (mut found, mut from) = (Vec::new(), 0);
    for (at, mark) in text.match_indices(['.', '!', '?']) {
        while literals.next_if(|literal| literal.range.end <= at).is_some() {}
        let in_literal = literals.peek().is_some_and(|literal| literal.range.contains(&at));
        let end = at + mark.len();
        let word = text[from..end].rsplit([' ', '(']).next().unwrap_or_default().to_lowercase();
        let next = text[end..].trim_start().chars().next().unwrap_or('A');
        let begins = !next.is_lowercase() && (next.is_alphanumeric() || "`\"'“„*_[(".contains(next));
        let is_end = begins && text[end..].starts_with(char::is_whitespace) && !ABBREVIATIONS.contains(&word.as_str());
        if is_end && !in_literal {
            found.push(text[from..end].trim());
            from = end;
        }
    }
    found.push(text[from..].trim());
    found.retain(|sentence| !sentence.is_empty());
    found
}

/// Whether a sentence says what the code does, by its verbs and conditions.
fn says_behaviour(sentence: &str) -> bool {
    const SAYS: &str = "should must shall return returns give gives print prints output outputs yield yields become becomes \
                        raise raises throw throws reject rejects rejected refuse refused ignore ignored replace replaced \
                        replaces convert converts count counts add adds sum sums if when unless instead accept accepts \
                        support supports allowed contain contains calculate compute determine implement write given \
                        find reverse soll sollen muss müssen gibt liefert wird werden wenn falls statt schreibe berechne \
                        ermittle ergibt";
    let words = sentence.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words.take(200).any(|word| SAYS.split_whitespace().any(|says| says == word))
}
