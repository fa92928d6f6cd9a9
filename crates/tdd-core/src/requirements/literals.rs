//! Finds literals in a line: numbers, quoted texts, and code in backticks.

use std::collections::HashMap;
use std::ops::Range;

/// Most bytes inside of quotes or backticks, so that a quote that is never closed costs little.
const MAX_QUOTED: usize = 120;

/// A literal in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Literal {
    /// Where it stands, quotes included.
    pub range: Range<usize>,
    /// Its value; several for code that holds several, such as `add(1, 2)`.
    pub values: Vec<String>,
    pub kind: LiteralKind,
}

/// What a literal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LiteralKind {
    Number,
    Quoted,
    /// Code in backticks with numbers or strings inside.
    Call,
    /// A calculation in backticks.
    Formula,
    /// Other code in backticks: a value without its quotes, a name or a type.
    Name,
}

/// The literals of a line, from left to right.
pub(super) fn scan(line: &str) -> Vec<Literal> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(c) = line[at..].chars().next() {
        let literal = match c {
            '`' => code(line, at),
            '"' | '“' | '„' | '«' | '\'' | '‘' => quoted(line, at, c),
            '0'..='9' => number(line, at),
            '[' if line[at..].starts_with("[]") => {
                Some(Literal { range: at..at + 2, values: vec!["[]".to_owned()], kind: LiteralKind::Quoted })
            }
            _ => None,
        };
        at = match literal {
            Some(literal) => {
                let end = literal.range.end;
                found.push(literal);
                end
            }
            None => end_of_run(line, at, c),
        };
    }
    found
}

/// The values of all literals of a line.
pub(super) fn values(line: &str) -> Vec<String> {
    scan(line).into_iter().flat_map(|literal| literal.values).collect()
}

/// Everything in a test's source that may be an example's value, literals and words outside of them, and how often.
pub(super) fn tokens(source: &str) -> HashMap<String, usize> {
    let mut tokens = HashMap::new();
    for line in source.lines() {
        let line = line.replace("\"\"\"", " ");
        let mut from = 0;
        for literal in scan(&line) {
            words(&line[from..literal.range.start], &mut tokens);
            from = literal.range.end;
            literal.values.into_iter().for_each(|value| *tokens.entry(value).or_default() += 1);
        }
        words(&line[from..], &mut tokens);
    }
    tokens
}

fn words(text: &str, tokens: &mut HashMap<String, usize>) {
    for word in text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()) {
        // `1_000u32` is a number as well.
        let digits: String = word.chars().filter(|c| *c != '_').take_while(char::is_ascii_digit).collect();
        *tokens.entry(if digits.is_empty() { word.to_owned() } else { digits }).or_default() += 1;
    }
}

/// A digit inside of a word is no number, so the rest of the run is skipped with it.
fn end_of_run(line: &str, at: usize, c: char) -> usize {
    if !c.is_ascii_digit() {
        return at + c.len_utf8();
    }
    at + line[at..].find(|c: char| !c.is_alphanumeric()).unwrap_or(line.len() - at)
}

/// Whether a text calls something: a name directly before a bracket.
pub(super) fn is_call(text: &str) -> bool {
    text.match_indices('(').any(|(at, _)| text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '!'))
}

fn code(line: &str, at: usize) -> Option<Literal> {
    let ticks = line[at..].bytes().take_while(|byte| *byte == b'`').count();
    let inside = at + ticks;
    let length = super::head(&line[inside..], MAX_QUOTED).find(&line[at..inside])?;
    let content = line[inside..inside + length].trim();
    if content.is_empty() {
        return None;
    }
    let inner = values(content);
    let is_formula = content.contains(['+', '*', '×', '/', '^', '%', '='])
        && !content.contains(['"', '\'', '>', '→', '['])
        && !is_call(content);
    let (values, kind) = match inner.is_empty() {
        true => (vec![content.to_owned()], LiteralKind::Name),
        false if is_formula => (inner, LiteralKind::Formula),
        false => (inner, LiteralKind::Call),
    };
    Some(Literal { range: at..inside + length + ticks, values, kind })
}

fn quoted(line: &str, at: usize, open: char) -> Option<Literal> {
    let is_apostrophe = matches!(open, '\'' | '‘');
    if is_apostrophe && line[..at].ends_with(char::is_alphanumeric) {
        return None;
    }
    let closes = |c: char| match open {
        '“' => c == '”' || c == '“',
        '„' => matches!(c, '“' | '”'),
        '«' => c == '»',
        '‘' => c == '’',
        other => c == other,
    };
    let inside = at + open.len_utf8();
    let mut escaped = false;
    for (offset, c) in super::head(&line[inside..], MAX_QUOTED).char_indices() {
        let end = inside + offset + c.len_utf8();
        if !escaped && closes(c) && !(is_apostrophe && line[end..].starts_with(char::is_alphanumeric)) {
            let values = vec![line[inside..inside + offset].to_owned()];
            return Some(Literal { range: at..end, values, kind: LiteralKind::Quoted });
        }
        escaped = !escaped && c == '\\';
    }
    None
}

fn number(line: &str, at: usize) -> Option<Literal> {
    if line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let bytes = line.as_bytes();
    let mut end = at;
    while end < bytes.len() {
        let next_is_digit = bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
        match bytes[end] {
            b'0'..=b'9' => end += 1,
            b'.' | b'_' if next_is_digit => end += 1,
            _ => break,
        }
    }
    if line[end..].starts_with(|c: char| c.is_alphabetic() || c == '_') {
        return None;
    }
    let before = line[..at].strip_suffix(['-', '−']);
    if before.is_some_and(|before| before.ends_with(char::is_alphabetic)) {
        // `ISBN-10` is a name.
        return None;
    }
    let is_negative = before.is_some_and(|before| !before.ends_with(|c: char| c.is_alphanumeric() || c == ')'));
    let digits: String = line[at..end].chars().filter(|c| *c != '_').collect();
    let value = if is_negative { format!("-{digits}") } else { digits };
    Some(Literal { range: at..end, values: vec![value], kind: LiteralKind::Number })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_strings_and_code_are_literals() {
        let line = "add(\"1,2\") is 3, `add('')` is −4, “Fizz” is `III`, it's the 5th of v2, 12.5 and 1_000 and [].";
        assert_eq!(values(line), ["1,2", "3", "", "-4", "Fizz", "III", "12.5", "1000", "[]"]);
        assert_eq!(values(r#""a \" b" and "never closed"#), [r#"a \" b"#]);
    }

    #[test]
    fn the_tokens_of_a_test_are_its_literals_and_words() {
        let tokens = tokens("assert_eq!(roman(1_000u32), \"M\"); // don't\nadd(\"1\\n2\", -5)");
        for token in ["1000", "M", "1\\n2", "-5", "roman"] {
            assert_eq!(tokens.get(token), Some(&1), "{token}");
        }
        assert_eq!(tokens.get("2"), None, "it is inside of a string");
    }
}
