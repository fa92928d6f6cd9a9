//! Finds examples in a line of code, in prose, and in a row of a table.

use std::ops::Range;

use super::literals::{self, Literal, LiteralKind};
use super::{MAX_EXAMPLES, one_line};

/// An example, before it is known which requirement it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub text: String,
    pub values: Vec<String>,
}

/// Longest line that is looked at.
const MAX_LINE: usize = 400;
/// Most words between an input and its result in prose.
const MAX_BETWEEN: usize = 5;
/// Longest value without quotes.
const MAX_BARE: usize = 40;

/// Arrows and signs between an input and its result; the longer of two that begin alike comes first.
const ARROWS: [&str; 8] = ["===", "==", "=>", "->", "→", "⇒", "⟶", "="];

/// Verbs between an input and its result in prose.
const VERBS: &str = "is are was be becomes become for gives give returns return yields yield equals prints print produces \
                     outputs maps adds evaluates converts translates scores counts results as says ist sind wird ergibt \
                     liefert gibt für bleibt heißt zu";

/// Words that make a sentence compare or enumerate instead.
const OTHERWISE: &str = "and but or than greater less bigger smaller larger divisible from any und oder als größer kleiner \
                         teilbar";

/// Words for results that a test need not spell.
const UNSPELLED: &str = "true false error exception null none nil undefined invalid traceback";

/// First words of a line of code that is no example.
const DECLARES: &str = "def fn func function class type interface if elif while for return match case pub public private \
                        static import from use";

/// Whether a list of words has this one.
fn has(words: &str, word: &str) -> bool {
    let word = word.to_lowercase();
    words.split_whitespace().any(|known| known == word)
}

impl Found {
    /// An example with these values. A single digit or letter stands in almost every test, so it is not enough.
    pub fn new(text: &str, values: Vec<String>) -> Option<Self> {
        let says_something = values.len() > 1 || values.first().is_some_and(|value| value.len() > 1);
        says_something.then(|| Self { text: one_line(text), values })
    }
}

/// The example in a line of code: `f(x) == y`, `f(x) # => y`, `x -> y` or an assertion.
pub(super) fn in_code(line: &str) -> Option<Found> {
    let line = line.trim();
    let first = line.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    if line.len() > MAX_LINE || has(DECLARES, first) {
        return None;
    }
    let literals = literals::scan(line);
    if line.contains("assert") || line.contains("expect") {
        let values: Vec<String> = literals.into_iter().flat_map(|literal| literal.values).collect();
        return if values.len() > 1 { Found::new(line, values) } else { None };
    }
    let (arrow, at) = first_arrow(line, &literals).or_else(|| comment(line, &literals))?;
    let is_input_end = |c: char| c.is_whitespace() || matches!(c, '#' | '/' | '=' | ';');
    let input = line[..at.start].trim_end_matches(is_input_end);
    // Without a call or a string, `=` is an assignment or a formula.
    if arrow.starts_with('=') && arrow != "=>" && !literals::is_call(input) && !input.contains(['"', '\'']) {
        return None;
    }
    let result = last_result(&line[at.end..]);
    let (inputs, results) = (literals::values(input), literals::values(result));
    let values = match (inputs.is_empty(), results.is_empty()) {
        (false, false) => [inputs, results].concat(),
        (_, _) if arrow == "=" => return None,
        (false, true) => [inputs, bare(result)?].concat(),
        (true, false) => [bare(input)?, results].concat(),
        (true, true) if arrow == "==" || arrow == "===" => return None,
        (true, true) => [bare(input)?, bare(result)?].concat(),
    };
    Found::new(line, values)
}

/// The end of a chain of arrows, without a remark in brackets: `igpay` in `igp -> igpay (one consonant)`.
fn last_result(text: &str) -> &str {
    let mut text = text;
    while let Some((_, at)) = first_arrow(text, &literals::scan(text)) {
        text = &text[at.end..];
    }
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == ';');
    let remark = text.find(" (").filter(|_| text.ends_with(')'));
    &text[..remark.unwrap_or(text.len())]
}

/// A call and its result, as in a Python doctest.
pub(super) fn call(expression: &str, result: &str) -> Option<Found> {
    let (line, result) = (expression.trim(), result.trim());
    let values = [literals::values(line), literals::values(result)].concat();
    if result.starts_with("Traceback") {
        Found::new(&format!("{line} → an error"), literals::values(line))
    } else {
        Found::new(&format!("{line} → {result}"), values)
    }
}

/// The examples in a paragraph: "`I` for 1", "3 is `III`", "V = 5".
pub(super) fn in_prose(text: &str) -> Vec<Found> {
    let literals = literals::scan(text);
    let mut found: Vec<(Range<usize>, Vec<String>)> = Vec::new();
    for literal in literals.iter().filter(|literal| literal.kind == LiteralKind::Call) {
        let code = text[literal.range.clone()].trim_matches('`');
        if let Some(example) = in_code(code).filter(|_| first_arrow(code, &literals::scan(code)).is_some()) {
            found.push((literal.range.clone(), example.values));
        }
    }
    for (at, literal) in literals.iter().enumerate() {
        let is_used = |found: &[(Range<usize>, Vec<String>)]| {
            found.iter().any(|(range, _)| range.start < literal.range.end && literal.range.start < range.end)
        };
        if is_used(&found) {
            continue;
        }
        if found.len() >= MAX_EXAMPLES {
            break;
        }
        let next = literals.get(at + 1).filter(|next| connects(text, literal, next));
        let bare = || {
            let is_value = matches!(literal.kind, LiteralKind::Number | LiteralKind::Quoted | LiteralKind::Call);
            bare_operand(text, literal).filter(|_| is_value)
        };
        if let Some(next) = next {
            let values = [literal.values.clone(), next.values.clone()].concat();
            found.push((literal.range.start..next.range.end, values));
        } else if let Some((range, value)) = bare() {
            found.push((range, [vec![value], literal.values.clone()].concat()));
        }
    }
    found.sort_by_key(|(range, _)| range.start);
    found.into_iter().filter_map(|(range, values)| Found::new(&text[range], values)).collect()
}

/// A row of a table, if each of its cells is a short value.
pub(super) fn in_row(cells: &[&str]) -> Option<Found> {
    let mut all = Vec::new();
    for cell in cells {
        let values = literals::values(cell);
        all.extend(if values.is_empty() { bare(cell.trim_matches('*'))? } else { values });
    }
    let is_short = cells.iter().all(|cell| cell.len() <= MAX_BARE && cell.split_whitespace().count() <= 3);
    let has_literal = cells.iter().any(|cell| !literals::scan(cell).is_empty());
    Found::new(&cells.join(" | "), all).filter(|_| (2..=4).contains(&cells.len()) && is_short && has_literal)
}

/// The whole text as an example, by its first and its last literal.
pub(super) fn whole(text: &str) -> Option<Found> {
    let values = literals::values(text);
    if text.split_whitespace().count() < 2 {
        return None;
    }
    let ends = match values.as_slice() {
        [first, .., last] => vec![first.clone(), last.clone()],
        few => few.to_vec(),
    };
    Found::new(text, ends)
}

/// The first arrow outside of strings.
fn first_arrow(line: &str, literals: &[Literal]) -> Option<(&'static str, Range<usize>)> {
    let mut starts = line.char_indices().filter(|(_, c)| matches!(c, '=' | '-' | '→' | '⇒' | '⟶'));
    starts.find_map(|(at, _)| {
        let arrow = ARROWS.iter().find(|arrow| line[at..].starts_with(**arrow))?;
        let compares = line[..at].ends_with(['<', '>', '!', '+', '-', '*', ':']);
        let is_free = literals.iter().all(|literal| !literal.range.contains(&at));
        (is_free && !compares).then_some((*arrow, at..at + arrow.len()))
    })
}

/// A comment behind a call that says what it returns: `f(1) // returns 2`.
fn comment(line: &str, literals: &[Literal]) -> Option<(&'static str, Range<usize>)> {
    let is_free = |at: usize| literals.iter().all(|literal| !literal.range.contains(&at));
    let mut starts = line.match_indices("//").chain(line.match_indices('#'));
    let (at, mark) = starts.find(|(at, _)| is_free(*at) && line[..*at].trim_end().ends_with([')', ';']))?;
    let rest = line[at + mark.len()..].trim_start();
    let lower = rest.to_ascii_lowercase();
    let introductions = ["should return", "should be", "returns", "return", "gives", "result:", "expected:"];
    let introduction_length = introductions.iter().find(|text| lower.starts_with(**text)).map_or(0, |text| text.len());
    let result = line.len() - rest.len() + introduction_length;
    let begins = literals.iter().any(|literal| {
        let start = literal.range.start;
        start >= result && line[result..start].chars().all(|c| c.is_whitespace() || matches!(c, '[' | '(' | '{'))
    });
    begins.then_some(("->", at..result))
}

/// A value without quotes; none are needed for words such as `true`.
fn bare(text: &str) -> Option<Vec<String>> {
    let text = text.trim().trim_end_matches('.');
    let is_value =
        |c: char| c.is_alphanumeric() || c.is_whitespace() || matches!(c, '.' | ',' | '!' | '?' | '-' | '_' | '\'');
    if text.is_empty() || text.len() > MAX_BARE || !text.chars().all(is_value) {
        return None;
    }
    if has(UNSPELLED, text) { Some(Vec::new()) } else { Some(vec![text.to_owned()]) }
}

/// Whether the words between two literals make the second the result of the first.
fn connects(text: &str, one: &Literal, other: &Literal) -> bool {
    let both = |kind: LiteralKind| one.kind == kind && other.kind == kind;
    let either = |kind: LiteralKind| one.kind == kind || other.kind == kind;
    let between = text[one.range.end..other.range.start].trim_end_matches(['-', '−']);
    if between.len() > MAX_LINE || both(LiteralKind::Name) || either(LiteralKind::Formula) || is_variable(one) {
        return false;
    }
    let is_operator = |c: char| matches!(c, '+' | '-' | '−' | '*' | '×' | '/' | '^' | '(' | '$' | '%');
    let in_formula = text[..one.range.start].trim_end().ends_with(is_operator)
        || text[other.range.end..].trim_start().starts_with(is_operator);
    if ARROWS.contains(&between.trim()) {
        return !(both(LiteralKind::Number) && in_formula);
    }
    let words: Vec<&str> = between.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let most = if both(LiteralKind::Number) || either(LiteralKind::Name) { MAX_BETWEEN / 2 } else { MAX_BETWEEN };
    let is_verb = |word: &&str| has(VERBS, word) && !(both(LiteralKind::Number) && has("for as für", word));
    let is_plain = !between.contains(['.', ';', ':', '!', '?', '(', ')', ',']);
    is_plain && words.len() <= most && words.iter().any(is_verb) && !words.iter().any(|word| has(OTHERWISE, word))
}

/// Whether a literal is a name such as `n`.
fn is_variable(literal: &Literal) -> bool {
    literal.kind == LiteralKind::Name
        && literal.values.iter().all(|name| name.len() == 1 && name.to_uppercase() != *name)
}

/// The word without quotes at the other end of an arrow beside a literal: `V = 5`, `5 → V`.
fn bare_operand(text: &str, literal: &Literal) -> Option<(Range<usize>, String)> {
    let is_word = |c: char| c.is_alphanumeric();
    let before = text[..literal.range.start].trim_end();
    if let Some(arrow) = ARROWS.iter().find(|arrow| before.ends_with(**arrow)) {
        let before = before[..before.len() - arrow.len()].trim_end();
        let word = &before[before
            .rfind(|c| !is_word(c))
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8))..];
        // A small letter before `=` is a variable.
        let is_value =
            !word.is_empty() && word.len() <= MAX_BARE && (*arrow != "=" || word.starts_with(char::is_uppercase));
        return is_value.then(|| (before.len() - word.len()..literal.range.end, word.to_owned()));
    }
    let after = text[literal.range.end..].trim_start();
    let arrow = ["=>", "->", "→", "⇒", "⟶"].iter().find(|arrow| after.starts_with(**arrow))?;
    let result = after[arrow.len()..].trim_start();
    let word = &result[..result.find(|c| !is_word(c)).unwrap_or(result.len())];
    let end = text.len() - result.len() + word.len();
    (!word.is_empty() && word.len() <= MAX_BARE).then(|| (literal.range.start..end, word.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(line: &str) -> Vec<String> {
        in_code(line).map(|found| found.values).unwrap_or_default()
    }

    fn prose(text: &str) -> Vec<String> {
        in_prose(text).into_iter().map(|found| found.text).collect()
    }

    #[test]
    fn a_line_of_code_with_an_input_and_a_result_is_an_example() {
        assert_eq!(code("add(\"1,2\") == 3"), ["1,2", "3"]);
        assert_eq!(code("roman(4)  # => 'IV'"), ["4", "IV"]);
        assert_eq!(code("solution('abc') // should return ['ab', 'c_']"), ["abc", "ab", "c_"]);
        assert_eq!(code("\"1,2\" → 3"), ["1,2", "3"]);
        assert_eq!(code("is_leap(2000) -> true"), ["2000"]);
        assert_eq!(code("hello world -> dlrow olleh"), ["hello world", "dlrow olleh"]);
        assert_eq!(code("assert_eq!(add(\"\"), 0);"), ["", "0"]);
        assert_eq!(code("add(\"2\") = 2"), ["2", "2"]);
        assert_eq!(code("\"pig\" -> \"igp\" -> \"igpay\" (one \"p\")"), ["pig", "igpay"]);
    }

    #[test]
    fn other_code_is_none() {
        for line in [
            "fn add(text: &str) -> i64 {",
            "def add(text: str = \"1\") -> int:",
            "(x) => x + 1",
            "x = 5",
            "if x == 3:",
            "a >= 5",
            "let total: u32;",
            "(3 * 10 + 5) mod 11 == 0",
            "1 + 2 = 3",
            "// returns 5",
            "",
        ] {
            assert_eq!(in_code(line), None, "{line}");
        }
    }

    #[test]
    fn prose_with_an_input_and_a_result_is_an_example() {
        assert_eq!(prose("`I` for 1, and 3 is `III`."), ["`I` for 1", "3 is `III`"]);
        assert_eq!(prose("Then `add(\"1,2\")` returns 3."), ["`add(\"1,2\")` returns 3"]);
        assert_eq!(prose("So `add(\"4\") == 4` holds."), ["`add(\"4\") == 4`"]);
        assert_eq!(prose("The symbols are I = 1, V = 5 and X = 10."), ["I = 1", "V = 5", "X = 10"]);
        assert_eq!(prose("\"abc\" → \"cba\"; 5 -> V"), ["\"abc\" → \"cba\"", "5 -> V"]);
        assert_eq!(prose("Aus 3 wird „Fizz“."), ["3 wird „Fizz“"]);
    }

    #[test]
    fn prose_about_types_and_ranges_has_none() {
        for text in [
            "It takes a `&str`, and gives a `Result`: the sum as an `i64`.",
            "Numbers go from 1 to 3999.",
            "A multiple of three is `\"Fizz\"`.",
            "For n = 5 it is slow.",
            "Use version 2. It is 3 times faster.",
            "As 23 is greater than 16, and 28 is divisible by 7.",
            "So 3025 - 385 = 2640, and `n` is 5.",
            "Because `1 + 2 + 3 = 6`, `6` is `1 + 2 + 3`.",
            "An ISBN-10 is 9 digits.",
            "There is 'A' for adenine, 'C' for cytosine.",
        ] {
            assert_eq!(prose(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn a_row_of_short_values_is_an_example() {
        assert_eq!(in_row(&["1", "I"]).unwrap().values, ["1", "I"]);
        assert_eq!(in_row(&["`\"\"`", "0"]).unwrap().text, "`\"\"` | 0");
        assert_eq!(in_row(&["`--help`", "prints what the program can do"]), None);
        assert_eq!(in_row(&["name", "value"]), None);
    }
}
