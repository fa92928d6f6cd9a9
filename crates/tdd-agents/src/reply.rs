//! Parses an edit plan out of a model's answer: lenient about its wrapping, strict about its content.
//!
//! The plan may be surrounded by prose and fences, and `found.rs` repairs common mistakes. Unknown fields are ignored,
//! and `null` counts as absent. A bare list of edits or a single bare edit is a plan, unless the answer also has broken
//! JSON that it may be a part of. Of several plans the last one counts, because models write drafts first.
//!
//! Whole file contents with CRLF on every line are changed to LF; mixed line ends stay. `find` and its replacement stay
//! unchanged, because they must match a file that is not read here.

use serde_json::{Map, Value};
use tdd_core::event::PlannedStep;
use tdd_core::gate::{Action, Edit};
use tdd_core::seam::{Done, StepResult};
use tdd_core::test_id::TestId;

use crate::found::{self, JsonValues, NotFound};

/// Longest answer in bytes.
pub const MAX_REPLY: usize = 8 << 20;
/// Most entries of a list in an answer.
pub const MAX_ENTRIES: usize = 200;
/// Most characters of a plan's step, which the ledger stores.
const MAX_STEP: usize = 400;

/// Why an answer is not an edit plan, in words that the model can act on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplyError {
    /// The answer is empty.
    #[error("the answer is empty; send one JSON object with `edits`")]
    Empty,
    /// The answer is too long to parse.
    #[error("the answer has {0} bytes, the limit is {MAX_REPLY}; make the change smaller")]
    TooLong(usize),
    /// The answer has no JSON.
    #[error("the answer has no JSON object; send one JSON object with `edits`, and nothing else")]
    NoJson,
    /// The answer ends inside of the JSON.
    #[error("the JSON breaks off before its end; send the whole object again, with a smaller change")]
    Cut,
    /// The JSON does not parse.
    #[error(
        "the JSON is wrong at line {line}, column {column} ({why}); inside of strings write `\\n` for a line end, `\\\"` for a quote and `\\\\` for a backslash, and send the whole object again"
    )]
    BadJson {
        /// Line of the error, counted from 1.
        line: usize,
        /// Column of the error, counted from 1.
        column: usize,
        /// The parser's message.
        why: String,
    },
    /// The JSON is not a plan.
    #[error(
        "the JSON has no `edits` (it has {0}); send {{\"edits\": [{{\"path\": …, \"action\": …, \"content\": …}}]}}"
    )]
    NoPlan(String),
    /// A field has a value of the wrong type.
    #[error("`{field}` is {found}; it must be {expected}")]
    Kind {
        /// The path of the field.
        field: String,
        /// The type it has.
        found: &'static str,
        /// The type it must have.
        expected: &'static str,
    },
    /// An edit lacks a field.
    #[error("edit {number}{} has no `{field}`; {hint}", shown(.path))]
    Missing {
        /// The edit's number, counted from 1.
        number: usize,
        /// The edit's file; empty if missing.
        path: String,
        /// The missing field.
        field: &'static str,
        /// What to send instead.
        hint: &'static str,
    },
    /// An edit has an unknown action.
    #[error("edit {number}{} has the action `{action}`; the actions are `upsert`, `delete`, `rename` and `replace`", shown(.path))]
    Action {
        /// The edit's number, counted from 1.
        number: usize,
        /// The edit's file.
        path: String,
        /// The unknown action.
        action: String,
    },
    /// Two edits of one file cannot be combined.
    #[error("edit {second} changes `{path}` again; send one edit for each file, with its final content")]
    Twice {
        /// The later edit's number, counted from 1.
        second: usize,
        /// The file.
        path: String,
    },
    /// In one of several replacements, the text to find does not occur exactly once.
    #[error("`{find}` does not occur in `{path}` exactly once; send the whole content of the file in one edit")]
    NotOnce {
        /// The file.
        path: String,
        /// The text to find.
        find: String,
    },
    /// The code for a file does not parse.
    #[error("the code for `{path}` does not parse at its line {line}: `{text}`")]
    Broken {
        /// The file.
        path: String,
        /// Line of the error, counted from 1.
        line: usize,
        /// That line.
        text: String,
    },
    /// The code for a file could replace several items.
    #[error("`{path}` has more than one {item}; send the whole content of the file")]
    Ambiguous {
        /// The file.
        path: String,
        /// The item that occurs more than once.
        item: String,
    },
    /// A block has no path.
    #[error("block {number} has no path; write the path of its file alone on the line before the fence")]
    NoPath {
        /// The block's number, counted from 1.
        number: usize,
    },
    /// The answer has no fenced block.
    #[error("the answer has no fenced block; write the path of the file on a line, then its code between ``` fences")]
    NoBlock,
    /// A name is not a test id.
    #[error("`{field}` names `{name}`, which is not a test id; write it as `path::name`")]
    TestId {
        /// The field with the name.
        field: String,
        /// The name.
        name: String,
    },
    /// A list is too long.
    #[error("`{field}` has {found} entries, the limit is {MAX_ENTRIES}; make the change smaller")]
    TooMany {
        /// The field with the list.
        field: String,
        /// The number of entries.
        found: usize,
    },
    /// A call names an unknown tool.
    #[error("there is no tool `{name}`; the tools are {known}")]
    Tool {
        /// The unknown name.
        name: String,
        /// The existing tools.
        known: String,
    },
    /// A call lacks an argument.
    #[error("`{tool}` needs `{field}`; call it again with it")]
    Argument {
        /// The called tool.
        tool: String,
        /// The missing argument.
        field: &'static str,
    },
}

impl ReplyError {
    /// Whether the answer has no usable JSON plan at all, rather than a mistake inside of one.
    pub fn is_broken_json(&self) -> bool {
        matches!(self, Self::NoJson | Self::BadJson { .. } | Self::Cut | Self::NoPlan(_))
    }
}

/// Parses an answer.
pub fn read(text: &str) -> Result<StepResult, ReplyError> {
    if text.len() > MAX_REPLY {
        return Err(ReplyError::TooLong(text.len()));
    }
    if text.trim().is_empty() {
        return Err(ReplyError::Empty);
    }
    let JsonValues { values, wrong } = found::values(text)?;
    let alone = wrong.is_none();
    match values.iter().rev().find_map(|value| as_plan(value, alone)) {
        Some(fields) => plan(&fields),
        None => Err(wrong.map_or_else(|| ReplyError::NoPlan(kind_or_keys(&values)), ReplyError::from)),
    }
}

impl From<NotFound> for ReplyError {
    fn from(not_found: NotFound) -> Self {
        match not_found {
            NotFound::Nothing => Self::NoJson,
            NotFound::Cut => Self::Cut,
            NotFound::Wrong { line, column, why } => Self::BadJson { line, column, why },
        }
    }
}

/// Finds the fields of a plan in a value. `alone` also accepts a bare list of edits or a bare edit.
fn as_plan(value: &Value, alone: bool) -> Option<Map<String, Value>> {
    match value {
        Value::Object(fields) if is_plan(fields) => Some(fields.clone()),
        Value::Object(fields) if alone && fields.contains_key("path") => Some(edits_alone(vec![value.clone()])),
        Value::Object(fields) => {
            let inner = ["edit_plan", "arguments", "parameters"].iter().find_map(|name| fields.get(*name))?;
            match inner {
                Value::String(text) => as_plan(&found::value(text).ok()?, alone),
                Value::Object(_) => as_plan(inner, alone),
                _ => None,
            }
        }
        Value::Array(items) if alone && items.iter().any(|item| item.get("path").is_some()) => {
            Some(edits_alone(items.clone()))
        }
        Value::Array(items) => items.iter().rev().find_map(|item| as_plan(item, alone)),
        _ => None,
    }
}

/// A plan has `edits`, or a non-empty `need` or `done`.
fn is_plan(fields: &Map<String, Value>) -> bool {
    let filled = |name: &&str| fields.get(*name).and_then(Value::as_array).is_some_and(|list| !list.is_empty());
    fields.contains_key("edits") || ["need", "done"].iter().any(filled)
}

fn edits_alone(edits: Vec<Value>) -> Map<String, Value> {
    Map::from_iter([("edits".to_owned(), Value::Array(edits))])
}

fn kind_or_keys(values: &[Value]) -> String {
    let Some(Value::Object(fields)) = values.last() else {
        return "only a list".to_owned();
    };
    let keys: Vec<String> = fields.keys().take(8).map(|key| format!("`{}`", one_line(key))).collect();
    if keys.is_empty() { "nothing".to_owned() } else { keys.join(", ") }
}

fn plan(fields: &Map<String, Value>) -> Result<StepResult, ReplyError> {
    Ok(StepResult {
        edits: edits(fields)?,
        summary: text(fields, "summary")?,
        rationale: text(fields, "rationale")?,
        commit_message: text(fields, "commit_message")?,
        claims: test_ids(fields, "claims")?,
        notes: text(fields, "notes")?,
        need: strings(fields, "need")?.iter().map(|path| plain_path(path)).filter(|path| !path.is_empty()).collect(),
        reason: text(fields, "reason")?,
        spec_source: text(fields, "spec_source")?,
        done: done(fields)?,
        later: Vec::new(),
        is_listed: false,
    })
}

fn edits(fields: &Map<String, Value>) -> Result<Vec<Edit>, ReplyError> {
    let mut edits = Vec::new();
    for (at, value) in list(fields, "edits")?.iter().enumerate() {
        let Value::Object(fields) = value else {
            let (field, expected) = (format!("edits[{at}]"), "an object with `path` and `action`");
            return Err(ReplyError::Kind { field, found: kind(value), expected });
        };
        edits.push(edit(at + 1, fields)?);
    }
    Ok(edits)
}

fn edit(number: usize, fields: &Map<String, Value>) -> Result<Edit, ReplyError> {
    let path = string(fields, "path", number)?.map(|path| plain_path(&path)).unwrap_or_default();
    let missing = |field, hint| ReplyError::Missing { number, path: one_line(&path), field, hint };
    if path.is_empty() {
        return Err(missing("path", "name the file relative to the project's root, like `src/lib.rs`"));
    }
    let action = string(fields, "action", number)?
        .ok_or_else(|| missing("action", "use `upsert` with the file's whole content"))?;
    let content = || string(fields, "content", number);
    let action = match action.trim().to_ascii_lowercase().as_str() {
        "upsert" => {
            let content = content()?.ok_or_else(|| missing("content", "send the file's whole new content"))?;
            Action::Upsert { content: plain_line_ends(content) }
        }
        "delete" => Action::Delete,
        "rename" => {
            let to = string(fields, "to", number)?.map(|to| plain_path(&to)).filter(|to| !to.is_empty());
            Action::Rename { to: to.ok_or_else(|| missing("to", "name the file's new path"))? }
        }
        "replace" => Action::Replace {
            find: string(fields, "find", number)?
                .filter(|find| !find.is_empty())
                .ok_or_else(|| missing("find", "quote the text to replace; it must occur in the file exactly once"))?,
            content: content()?.ok_or_else(|| missing("content", "send the text to put in its place"))?,
        },
        _ => return Err(ReplyError::Action { number, path: one_line(&path), action: one_line(&action) }),
    };
    Ok(Edit { path, action })
}

pub(crate) fn done(fields: &Map<String, Value>) -> Result<Vec<Done>, ReplyError> {
    if let Some(Value::Bool(false)) = fields.get("done") {
        return Ok(Vec::new());
    }
    let entries = list(fields, "done")?;
    entries.iter().enumerate().map(|(at, entry)| done_entry(&format!("done[{at}]"), entry)).collect()
}

fn done_entry(field: &str, entry: &Value) -> Result<Done, ReplyError> {
    let expected = "an object with `requirement` and `test_id`";
    let bad = || ReplyError::Kind { field: field.to_owned(), found: kind(entry), expected };
    let part = |name| entry.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    let requirement = part("requirement").ok_or_else(bad)?.to_owned();
    let test_id = test_id(field, part("test_id").ok_or_else(bad)?)?;
    Ok(Done { requirement, test_id })
}

/// The steps of a plan; a step may be a plain string.
pub(crate) fn planned_steps(fields: &Map<String, Value>) -> Result<Vec<PlannedStep>, ReplyError> {
    let steps = match fields.get("steps") {
        Some(Value::String(_)) => strings(fields, "steps")?.into_iter().map(Value::String).collect(),
        _ => list(fields, "steps")?,
    };
    steps.iter().enumerate().map(|(at, step)| planned_step(&format!("steps[{at}]"), step)).collect()
}

fn planned_step(field: &str, step: &Value) -> Result<PlannedStep, ReplyError> {
    let expected = "an object with `text`, and with `test_id` and `test_file_path` if it is about a test";
    let bad = || ReplyError::Kind { field: field.to_owned(), found: kind(step), expected };
    let part = |name: &str| {
        let text = step.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
        text.map(|text| text.chars().take(MAX_STEP).collect::<String>())
    };
    let text = step.as_str().map(|text| text.chars().take(MAX_STEP).collect());
    let text = text.or_else(|| ["text", "description", "title", "step"].into_iter().find_map(part));
    let id = part("test_id").map(|name| test_id(&format!("{field}.test_id"), &name)).transpose()?;
    Ok(PlannedStep {
        text: text.ok_or_else(bad)?,
        test_id: id,
        test_file_path: part("test_file_path").map(|path| plain_path(&path)),
    })
}

fn test_ids(fields: &Map<String, Value>, field: &str) -> Result<Vec<TestId>, ReplyError> {
    strings(fields, field)?.iter().map(|name| test_id(field, name)).collect()
}

pub(crate) fn test_id(field: &str, name: &str) -> Result<TestId, ReplyError> {
    TestId::parse(name.trim()).map_err(|_| ReplyError::TestId { field: field.to_owned(), name: one_line(name) })
}

/// A list of strings; a single string counts as a list.
pub(crate) fn strings(fields: &Map<String, Value>, field: &str) -> Result<Vec<String>, ReplyError> {
    let expected = "a list of strings";
    let one = |value: &Value| match value {
        Value::String(text) => Ok(text.clone()),
        other => Err(ReplyError::Kind { field: field.to_owned(), found: kind(other), expected }),
    };
    match fields.get(field) {
        Some(Value::String(text)) if text.trim().is_empty() => Ok(Vec::new()),
        Some(value @ Value::String(_)) => Ok(vec![one(value)?]),
        _ => list(fields, field)?.iter().map(one).collect(),
    }
}

/// A list; a single object counts as a list.
fn list(fields: &Map<String, Value>, field: &str) -> Result<Vec<Value>, ReplyError> {
    match fields.get(field) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) if items.len() > MAX_ENTRIES => {
            Err(ReplyError::TooMany { field: field.to_owned(), found: items.len() })
        }
        Some(Value::Array(items)) => Ok(items.clone()),
        Some(value @ Value::Object(_)) => Ok(vec![value.clone()]),
        Some(other) => Err(ReplyError::Kind { field: field.to_owned(), found: kind(other), expected: "a list" }),
    }
}

/// Free text: a list becomes lines, and numbers and booleans become text.
pub(crate) fn text(fields: &Map<String, Value>, field: &str) -> Result<String, ReplyError> {
    let one = |value: &Value| match value {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(text.clone()),
        Value::Bool(_) | Value::Number(_) => Ok(value.to_string()),
        Value::Array(_) | Value::Object(_) => {
            Err(ReplyError::Kind { field: field.to_owned(), found: kind(value), expected: "a string" })
        }
    };
    match fields.get(field) {
        None => Ok(String::new()),
        Some(Value::Array(lines)) => Ok(lines.iter().map(one).collect::<Result<Vec<_>, _>>()?.join("\n")),
        Some(value) => one(value),
    }
}

fn string(fields: &Map<String, Value>, field: &str, number: usize) -> Result<Option<String>, ReplyError> {
    match fields.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(ReplyError::Kind {
            field: format!("edits[{}].{field}", number - 1),
            found: kind(other),
            expected: "a string",
        }),
    }
}

/// Removes a leading `./`; the gate judges everything else.
pub(crate) fn plain_path(path: &str) -> String {
    let path = path.trim();
    path.strip_prefix("./").unwrap_or(path).to_owned()
}

/// Changes CRLF to LF if every line ends in CRLF.
pub(crate) fn plain_line_ends(text: String) -> String {
    let all = text.matches('\n').count();
    if all > 0 && text.matches("\r\n").count() == all { text.replace("\r\n", "\n") } else { text }
}

pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Quotes a model's text back to it on one line of limited length.
pub(crate) fn one_line(text: &str) -> String {
    text.chars().take(120).flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

fn shown(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!(" (`{path}`)") }
}

#[cfg(test)]
#[path = "reply_tests.rs"]
mod tests;
