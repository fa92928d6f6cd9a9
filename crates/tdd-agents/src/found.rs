//! Finds the JSON in a model's answer: bare, fenced, inside of prose, or as a string that holds JSON.
//!
//! Repairs two common mistakes, because the repair cannot change the meaning: a comma before a closing bracket, and raw
//! line ends or tabs inside of a string. Guesses nothing else.

use serde_json::Value;

/// Most places in a text at which JSON is tried.
const MAX_STARTS: usize = 2_000;
/// Most places at which JSON is repaired; each costs a copy of the text.
const MAX_MENDED: usize = 8;
/// How often a string that holds JSON is unwrapped.
const MAX_WRAPPED: usize = 2;

/// Why there is no JSON in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotFound {
    /// Nothing in the text begins like JSON.
    Nothing,
    /// The text ends inside of the JSON.
    Cut,
    /// The JSON has a syntax error.
    Wrong {
        /// Line of the error, counted from 1 in the whole text.
        line: usize,
        /// Column of the error, counted from 1 in bytes.
        column: usize,
        /// The parser's message.
        why: String,
    },
}

/// All JSON found in a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JsonValues {
    /// Every outermost JSON object and list, in order.
    pub values: Vec<Value>,
    /// The first text that begins like JSON and does not parse. Later values may be parts of it.
    pub wrong: Option<NotFound>,
}

/// Finds JSON in a text. Fails if the text ends inside of JSON, because half an answer must not be used.
pub fn values(text: &str) -> Result<JsonValues, NotFound> {
    let text = unwrapped(text.trim_start_matches('\u{feff}').trim());
    let mut found = JsonValues::default();
    let (mut free, mut tried, mut mended) = (0, 0, 0);
    for start in starts(&text) {
        if start < free || !begins_json(&text[start..]) {
            continue;
        }
        tried += 1;
        if tried > MAX_STARTS {
            break;
        }
        match first_value(&text[start..]) {
            Ok((value, length)) => {
                free = start + length;
                found.values.push(value);
            }
            Err(error) if error.is_eof() => return Err(NotFound::Cut),
            Err(error) => {
                mended += 1;
                if mended <= MAX_MENDED {
                    match first_value(&mend(&text[start..])) {
                        Ok((value, _)) => {
                            found.values.push(value);
                            return Ok(found);
                        }
                        Err(still) if still.is_eof() => return Err(NotFound::Cut),
                        Err(_) => {}
                    }
                }
                free = start + offset(&text[start..], &error).max(1);
                found.wrong.get_or_insert_with(|| wrong(&text, start, &error));
            }
        }
    }
    match (found.values.is_empty(), &found.wrong) {
        (true, Some(wrong)) => Err(wrong.clone()),
        (true, None) => Err(NotFound::Nothing),
        (false, _) => Ok(found),
    }
}

/// Parses one JSON text, after a repair if necessary.
pub fn value(text: &str) -> Result<Value, NotFound> {
    let text = unwrapped(text.trim_start_matches('\u{feff}').trim());
    let raw = match serde_json::from_str(&text) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    match serde_json::from_str(&mend(&text)) {
        Ok(value) => Ok(value),
        Err(error) if error.is_eof() => Err(NotFound::Cut),
        Err(_) => Err(wrong(&text, 0, &raw)),
    }
}

/// Unwraps a string that holds JSON; returns any other text unchanged.
fn unwrapped(text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..MAX_WRAPPED {
        match serde_json::from_str::<String>(&text) {
            Ok(inner) => text = inner,
            Err(_) => break,
        }
    }
    text
}

fn starts(text: &str) -> impl Iterator<Item = usize> + '_ {
    text.match_indices(['{', '[']).map(|(at, _)| at)
}

/// Whether a bracket opens JSON rather than code or prose.
fn begins_json(text: &str) -> bool {
    let inside = text[1..].trim_start();
    if text.starts_with('{') { inside.starts_with(['"', '}']) } else { inside.starts_with(['{', '[', '"', ']']) }
}

/// The JSON value at the beginning of a text, and its length. The parser limits the depth.
fn first_value(text: &str) -> Result<(Value, usize), serde_json::Error> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    match stream.next() {
        Some(value) => value.map(|value| (value, stream.byte_offset())),
        None => serde_json::from_str(text).map(|value| (value, text.len())),
    }
}

/// Escapes raw control characters inside of strings and removes commas before a closing bracket.
fn mend(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let (mut in_string, mut escaped) = (false, false);
    for (at, c) in text.char_indices() {
        if in_string {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => in_string = false,
                _ => {}
            }
            match c {
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                _ => out.push(c),
            }
            continue;
        }
        in_string = c == '"';
        let before_end = || text[at + 1..].trim_start().starts_with(['}', ']']);
        if c != ',' || !before_end() {
            out.push(c);
        }
    }
    out
}

/// Bytes that the parser had read before the error.
fn offset(text: &str, error: &serde_json::Error) -> usize {
    let before: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    before + error.column().saturating_sub(1)
}

fn wrong(text: &str, start: usize, error: &serde_json::Error) -> NotFound {
    let before = &text[..start];
    let indent = if error.line() == 1 { before.len() - before.rfind('\n').map_or(0, |at| at + 1) } else { 0 };
    let why = error.to_string();
    let why = why.split(" at line ").next().unwrap_or_default().to_owned();
    NotFound::Wrong { line: before.matches('\n').count() + error.line(), column: indent + error.column(), why }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn check(text: &str, expected: &[Value]) {
        assert_eq!(values(text).map(|found| found.values), Ok(expected.to_vec()), "{text}");
    }

    #[test]
    fn json_is_found_bare_fenced_and_in_prose() {
        check(r#"{"a":1}"#, &[json!({"a": 1})]);
        check("\u{feff}\r\n```json\r\n{\"a\":\r\n1}\r\n```\r\n", &[json!({"a": 1})]);
        check("Set {x} to [this]: {\"a\":1} and that is all {really}.", &[json!({"a": 1})]);
    }

    #[test]
    fn brackets_inside_of_strings_end_nothing() {
        check(r#"so: {"a":"}]{ \" }","b":[{"c":"["}]} end"#, &[json!({"a": "}]{ \" }", "b": [{"c": "["}]})]);
    }

    #[test]
    fn several_values_are_all_found_in_order() {
        check(r#"first {"a":1} then [[2]]"#, &[json!({"a": 1}), json!([[2]])]);
    }

    #[test]
    fn many_brackets_inside_of_one_value_do_not_hide_the_next() {
        let (long, last) = (json!({"a": "{".repeat(10_000)}), json!({"b": 1}));
        check(&format!("{long} {last}"), &[long, last]);
    }

    #[test]
    fn a_string_of_json_is_opened() {
        check(r#""{\"a\":\"x\"}""#, &[json!({"a": "x"})]);
        let twice = serde_json::to_string(&serde_json::to_string(r#"{"a":1}"#).unwrap()).unwrap();
        check(&twice, &[json!({"a": 1})]);
    }

    #[test]
    fn trailing_commas_and_raw_line_ends_are_mended() {
        check("See [\"1\"].\n{\"a\":1,}", &[json!(["1"]), json!({"a": 1})]);
        check("{\"a\":[1,2,],}", &[json!({"a": [1, 2]})]);
        check("ok:\n{\"a\":\"x\n\ty, }\",\n}", &[json!({"a": "x\n\ty, }"})]);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        assert_eq!(values("I cannot do that."), Err(NotFound::Nothing));
        assert_eq!(values(""), Err(NotFound::Nothing));
        assert_eq!(values("x\n{\"a\": \"b"), Err(NotFound::Cut));
        assert_eq!(values("{\"a\": [{\"b\": 1}"), Err(NotFound::Cut));
        let Err(NotFound::Wrong { line, column, why }) = values("see:\n  {\"a\": 'x'}") else { panic!() };
        assert_eq!((line, column, why.as_str()), (2, 9, "expected value"));
    }

    #[test]
    fn what_follows_broken_json_is_told_from_what_stands_alone() {
        let found = values(r#"{"edits":[{"a":1},{"b":'x'},{"c":1}]}"#).unwrap();
        assert_eq!(found.values, [json!({"c": 1})]);
        assert!(found.wrong.is_some());
    }

    #[test]
    fn deep_nesting_is_refused_and_many_brackets_take_no_time() {
        assert!(values(&"[".repeat(1_000_000)).is_err());
        assert!(values(&format!("{}{}", "{\"a\":".repeat(5000), "}".repeat(5000))).is_err());
        assert!(values(&"{\"a\":1,".repeat(100_000)).is_err());
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(?s)([{}\\[\\]\",:\\\\\n\r a1é]|.){0,80}") {
            let _ = values(&text);
            let _ = value(&text);
        }

        #[test]
        fn a_value_in_prose_is_found_again(inner in "(?s).{0,60}") {
            let value = json!({"content": inner, "n": [1, {"x": null}]});
            let found = values(&format!("Here:\n```json\n{value}\n```\nDone.")).unwrap();
            prop_assert_eq!(found, JsonValues { values: vec![value], wrong: None });
        }
    }
}
