//! The tools of the tools protocol, and how a tool call becomes a [`ToolRequest`].

use serde_json::{Map, Value, json};
use tdd_core::cycle::Phase;
use tdd_core::gate::{Action, Edit};
use tdd_core::seam::StepResult;
use tdd_llm::client::{ToolCall, ToolSpec};

use crate::found;
use crate::part::Part;
use crate::reply::{self, ReplyError};
use crate::schema;
use crate::tool_request::ToolRequest;

/// All tool names.
pub const NAMES: [&str; 9] = [
    "read_file",
    "list_files",
    "search",
    "submit_plan",
    "edit_claim",
    "edit_file",
    "delete_file",
    "run_tests",
    "finish",
];

/// Id prefix of calls found in an answer's text. Their results must be sent as text, not as tool messages.
pub const WRITTEN: &str = "written-";

/// The tools that a part may use.
pub fn tools(part: Part) -> Vec<ToolSpec> {
    let given = |name: &&str| match *name {
        "edit_claim" => part.phase == Phase::Green,
        "delete_file" => part.actions.contains(&"delete"),
        _ => true,
    };
    NAMES.iter().filter(|name| given(name)).map(|name| tool(name, part)).collect()
}

/// Parses a tool call.
pub fn read_call(call: &ToolCall) -> Result<ToolRequest, ReplyError> {
    let arguments = arguments(&call.arguments)?;
    let given = Given { tool: &call.name, arguments: &arguments };
    match call.name.as_str() {
        "read_file" => Ok(ToolRequest::Read { path: given.path("path")? }),
        "list_files" => Ok(ToolRequest::List { under: given.optional("under")? }),
        "search" => Ok(ToolRequest::Search { text: given.needed("text")?, under: given.optional("under")? }),
        "submit_plan" => {
            let (text, steps) = (given.optional("text")?.unwrap_or_default(), reply::planned_steps(&arguments)?);
            if text.is_empty() && steps.is_empty() {
                Err(given.missing("steps"))
            } else {
                Ok(ToolRequest::Plan { text, steps })
            }
        }
        "edit_claim" => {
            let test = reply::test_id("test_id", &given.needed("test_id")?)?;
            Ok(ToolRequest::Claim { test, target: given.path("edit_target")? })
        }
        "edit_file" => Ok(ToolRequest::Edit(Edit { path: given.path("path")?, action: given.action()? })),
        "delete_file" => Ok(ToolRequest::Edit(Edit { path: given.path("path")?, action: Action::Delete })),
        "run_tests" => {
            let named = reply::strings(&arguments, "test_ids")?;
            let tests = named.iter().map(|name| reply::test_id("test_ids", name)).collect::<Result<_, _>>()?;
            Ok(ToolRequest::RunTests { tests })
        }
        "finish" => Ok(ToolRequest::Finish(Box::new(finish(&arguments)?))),
        other => Err(ReplyError::Tool { name: reply::one_line(other), known: known() }),
    }
}

/// Finds calls that a model wrote into its text instead of making them: `{"name": …, "arguments": {…}}`, fenced or not,
/// alone or in a list. Only known tool names count, so that no other JSON is mistaken for a call.
pub fn written_calls(text: &str) -> Vec<ToolCall> {
    if text.len() > reply::MAX_REPLY {
        return Vec::new();
    }
    let values = found::values(text).map(|found| found.values).unwrap_or_default();
    let single = values.into_iter().flat_map(|value| match value {
        Value::Array(items) => items,
        Value::Object(mut fields) => match fields.remove("tool_calls") {
            Some(Value::Array(items)) => items,
            Some(_) | None => vec![Value::Object(fields)],
        },
        _ => Vec::new(),
    });
    let calls = single.filter_map(|value| written_call(&value));
    let numbered = calls.take(reply::MAX_ENTRIES).enumerate();
    numbered.map(|(at, call)| ToolCall { id: format!("{WRITTEN}{}", at + 1), ..call }).collect()
}

fn written_call(value: &Value) -> Option<ToolCall> {
    let call = value.get("function").filter(|function| function.is_object()).unwrap_or(value);
    let name = call.get("name").and_then(Value::as_str).filter(|name| NAMES.contains(name))?;
    let arguments = call.get("arguments").or_else(|| call.get("parameters"));
    let arguments = match arguments {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => "{}".to_owned(),
    };
    Some(ToolCall { id: String::new(), name: name.to_owned(), arguments })
}

/// Parses a call's arguments; an empty text means no arguments.
fn arguments(text: &str) -> Result<Map<String, Value>, ReplyError> {
    if text.len() > reply::MAX_REPLY {
        return Err(ReplyError::TooLong(text.len()));
    }
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    match found::value(text)? {
        Value::Object(fields) => Ok(fields),
        Value::Null => Ok(Map::new()),
        other => Err(ReplyError::Kind { field: "arguments".into(), found: reply::kind(&other), expected: "an object" }),
    }
}

fn finish(arguments: &Map<String, Value>) -> Result<StepResult, ReplyError> {
    let text = |name| reply::text(arguments, name);
    Ok(StepResult {
        summary: text("summary")?,
        rationale: text("rationale")?,
        commit_message: text("commit_message")?,
        notes: text("notes")?,
        reason: text("reason")?,
        spec_source: text("spec_source")?,
        done: reply::done(arguments)?,
        ..StepResult::default()
    })
}

fn known() -> String {
    NAMES.map(|name| format!("`{name}`")).join(", ")
}

/// The arguments of one call.
struct Given<'a> {
    tool: &'a str,
    arguments: &'a Map<String, Value>,
}

impl Given<'_> {
    /// Infers the action from the arguments: a new path, a text to find, or whole content.
    fn action(&self) -> Result<Action, ReplyError> {
        if let Some(to) = self.optional("to")? {
            return Ok(Action::Rename { to: reply::plain_path(&to) });
        }
        let content = self.text("content")?.ok_or_else(|| self.missing("content"))?;
        match self.optional("find")? {
            Some(find) => Ok(Action::Replace { find, content }),
            None => Ok(Action::Upsert { content: reply::plain_line_ends(content) }),
        }
    }

    fn path(&self, field: &'static str) -> Result<String, ReplyError> {
        let path = reply::plain_path(&self.needed(field)?);
        if path.is_empty() { Err(self.missing(field)) } else { Ok(path) }
    }

    fn needed(&self, field: &'static str) -> Result<String, ReplyError> {
        self.optional(field)?.ok_or_else(|| self.missing(field))
    }

    /// Treats an empty text as missing.
    fn optional(&self, field: &'static str) -> Result<Option<String>, ReplyError> {
        Ok(self.text(field)?.filter(|text| !text.is_empty()))
    }

    fn text(&self, field: &'static str) -> Result<Option<String>, ReplyError> {
        match self.arguments.get(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(ReplyError::Kind {
                field: format!("{}.{field}", self.tool),
                found: reply::kind(other),
                expected: "a string",
            }),
        }
    }

    fn missing(&self, field: &'static str) -> ReplyError {
        ReplyError::Argument { tool: self.tool.to_owned(), field }
    }
}

fn tool(name: &str, part: Part) -> ToolSpec {
    let (description, needed, optional): (&str, &[&str], &[&str]) = match name {
        "read_file" => ("Shows a file of the project.", &["path"], &[]),
        "list_files" => ("Lists the project's files, or those below a folder.", &[], &["under"]),
        "search" => ("Shows the lines that hold a text, in all files or below a folder.", &["text"], &["under"]),
        "submit_plan" => (
            "Says step by step what you are going to do, and which test a step is about. Call it first.",
            &["steps"],
            &["text"],
        ),
        "edit_claim" => (
            "Says for which failing test you change a file. Call it before you edit the file.",
            &["test_id", "edit_target"],
            &[],
        ),
        "edit_file" => (
            "Writes a file: `content` alone is the whole file; with `find`, it replaces that text, which must occur \
             exactly once; `to` alone moves the file.",
            &["path"],
            &["content", "find", "to"],
        ),
        "delete_file" => ("Removes a file.", &["path"], &[]),
        "run_tests" => (
            "Runs these tests, or all of them, on the files as you have edited them, and shows you what each of them says. All runs that you ask for in one message are made at once, after its other calls.",
            &[],
            &["test_ids"],
        ),
        _ => ("Ends your turn: the machine now judges your change.", &["summary"], &["rationale"]),
    };
    let mut fields: Map<String, Value> = needed.iter().chain(optional).map(|name| parameter(name)).collect();
    if name == "finish" {
        fields.extend(part.fields.iter().map(|name| parameter(name)));
        if part.phase == Phase::Red {
            fields.insert("done".to_owned(), json!({"type": "array", "items": schema::done_entry()}));
        }
    }
    let parameters = json!({"type": "object", "properties": fields, "required": needed, "additionalProperties": false});
    ToolSpec { name: name.to_owned(), description: description.to_owned(), parameters }
}

fn parameter(name: &str) -> (String, Value) {
    let form = match name {
        "test_ids" => json!({"type": "array", "items": {"type": "string"}}),
        "steps" => json!({"type": "array", "items": planned_step()}),
        _ => json!({"type": "string"}),
    };
    (name.to_owned(), form)
}

fn planned_step() -> Value {
    let text = || json!({"type": "string"});
    let fields = json!({"text": text(), "test_id": text(), "test_file_path": text()});
    json!({"type": "object", "properties": fields, "required": ["text"], "additionalProperties": false})
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tdd_core::event::PlannedStep;
    use tdd_core::test_id::TestId;

    fn call(name: &str, arguments: &str) -> ToolCall {
        ToolCall { id: "1".to_owned(), name: name.to_owned(), arguments: arguments.to_owned() }
    }

    fn check(name: &str, arguments: &Value, expected: ToolRequest) {
        assert_eq!(read_call(&call(name, &arguments.to_string())), Ok(expected));
    }

    fn wrong(name: &str, arguments: &str, expected: &str) {
        assert_eq!(read_call(&call(name, arguments)).unwrap_err().to_string(), expected);
    }

    fn edit(path: &str, action: Action) -> ToolRequest {
        ToolRequest::Edit(Edit { path: path.to_owned(), action })
    }

    #[test]
    fn every_tool_becomes_its_wish() {
        let id = TestId::parse("tests/a.rs::x").unwrap();
        check("read_file", &json!({"path": "./a"}), ToolRequest::Read { path: "a".into() });
        check("list_files", &json!({}), ToolRequest::List { under: None });
        check(
            "search",
            &json!({"text": "f", "under": "src"}),
            ToolRequest::Search { text: "f".into(), under: Some("src".into()) },
        );
        check("submit_plan", &json!({"text": "so"}), ToolRequest::Plan { text: "so".into(), steps: Vec::new() });
        let step =
            PlannedStep { text: "a".into(), test_id: Some(id.clone()), test_file_path: Some("tests/a.rs".into()) };
        let words = PlannedStep { text: "b".into(), ..PlannedStep::default() };
        let steps = json!([{"text": "a", "test_id": "tests/a.rs::x", "test_file_path": "./tests/a.rs"}, "b"]);
        let plan = ToolRequest::Plan { text: String::new(), steps: vec![step, words] };
        check("submit_plan", &json!({"steps": steps}), plan);
        let claim = ToolRequest::Claim { test: id.clone(), target: "src/lib.rs".into() };
        check("edit_claim", &json!({"test_id": "tests/a.rs::x", "edit_target": "src/lib.rs"}), claim);
        check("delete_file", &json!({"path": "a"}), edit("a", Action::Delete));
        check("run_tests", &json!({"test_ids": ["tests/a.rs::x"]}), ToolRequest::RunTests { tests: vec![id] });
        check(
            "finish",
            &json!({"summary": "s"}),
            ToolRequest::Finish(Box::new(StepResult { summary: "s".into(), ..StepResult::default() })),
        );
    }

    #[test]
    fn what_is_given_to_edit_file_says_what_it_does() {
        let upsert = Action::Upsert { content: "x\n".into() };
        check("edit_file", &json!({"path": "a", "content": "x\r\n", "find": null}), edit("a", upsert));
        let replace = Action::Replace { find: "x".into(), content: String::new() };
        check("edit_file", &json!({"path": "a", "find": "x", "content": ""}), edit("a", replace));
        check("edit_file", &json!({"path": "a", "to": "b"}), edit("a", Action::Rename { to: "b".into() }));
        wrong("edit_file", r#"{"path":"a"}"#, "`edit_file` needs `content`; call it again with it");
    }

    #[test]
    fn a_bad_call_is_told_what_to_do() {
        let known = known();
        wrong("bash", "{}", &format!("there is no tool `bash`; the tools are {known}"));
        wrong("read_file", "", "`read_file` needs `path`; call it again with it");
        wrong("submit_plan", "{}", "`submit_plan` needs `steps`; call it again with it");
        let form = "an object with `text`, and with `test_id` and `test_file_path` if it is about a test";
        wrong("submit_plan", r#"{"steps": [3]}"#, &format!("`steps[0]` is a number; it must be {form}"));
        wrong("read_file", r#"{"path": 3}"#, "`read_file.path` is a number; it must be a string");
        wrong("read_file", "[1]", "`arguments` is a list; it must be an object");
        assert_eq!(read_call(&call("read_file", r#"{"path": "a"#)), Err(ReplyError::Cut));
        assert_eq!(read_call(&call("read_file", r#""{\"path\":\"a\",}""#)), Ok(ToolRequest::Read { path: "a".into() }));
    }

    #[test]
    fn calls_in_the_text_are_found_and_nothing_else_is_taken_for_one() {
        let text = "I will look.\n```json\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a\"}}\n```\n\
                    <tool_call>{\"name\":\"finish\",\"parameters\":\"{}\"}</tool_call>";
        let calls = written_calls(text);
        let shown: Vec<_> = calls.iter().map(|call| (call.id.as_str(), call.name.as_str())).collect();
        assert_eq!(shown, [("written-1", "read_file"), ("written-2", "finish")]);
        assert_eq!(read_call(&calls[0]), Ok(ToolRequest::Read { path: "a".into() }));
        let wrapped = r#"{"tool_calls":[{"function":{"name":"list_files","arguments":"{}"}}]}"#;
        assert_eq!(written_calls(wrapped).len(), 1);
        assert!(written_calls(r#"{"name":"serde","arguments":{}} {"edits":[]} [{"name":1}]"#).is_empty());
    }

    #[test]
    fn each_part_is_given_only_what_it_may_use() {
        let names = |phase| -> Vec<String> { tools(Part::of(phase)).into_iter().map(|tool| tool.name).collect() };
        assert_eq!(names(Phase::Green), NAMES);
        assert!(!names(Phase::Red).iter().any(|name| name == "delete_file" || name == "edit_claim"));
        insta::assert_json_snapshot!(tools(Part::of(Phase::Red)));
    }

    proptest! {
        #[test]
        fn no_call_makes_it_panic(at in 0..9_usize, arguments in "(?s)(\\{\"path\":|\"|[{}\\[\\],:]|.){0,40}") {
            let _ = read_call(&call(NAMES[at], &arguments));
            let _ = written_calls(&arguments);
        }
    }
}
