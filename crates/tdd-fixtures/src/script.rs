//! Builds a cassette for tests: a model's answers, call by call.

use serde_json::{Value, json};

use crate::server::edit_plan;

/// A model's answers, by call key.
#[derive(Clone, Debug, Default)]
pub struct Script {
    lines: Vec<Value>,
}

impl Script {
    /// A script without answers.
    pub fn new() -> Self {
        Self::default()
    }

    /// The answer to one call.
    #[must_use]
    pub fn says(mut self, key: &str, content: &str) -> Self {
        self.lines.push(json!({"ask": {"key": key}, "answer": {"content": content}}));
        self
    }

    /// Answers one call with tool calls, each a name and arguments.
    #[must_use]
    pub fn calls(mut self, key: &str, calls: &[(&str, Value)]) -> Self {
        let call = |(at, (name, arguments)): (usize, &(&str, Value))| json!({"id": format!("call-{at}"), "name": name, "arguments": arguments.to_string()});
        let calls: Vec<Value> = calls.iter().enumerate().map(call).collect();
        self.lines.push(json!({"ask": {"key": key}, "answer": {"content": "", "tool_calls": calls}}));
        self
    }

    /// Adds a step's plan, whose content does not matter to the machine.
    #[must_use]
    pub fn plans(self, step: &str) -> Self {
        self.says(&format!("step-{step}-plan"), "The smallest thing that can be done.")
    }

    /// Adds an attempt's edit plan: whole files by path (`None` deletes the file), and the other fields.
    #[must_use]
    pub fn edits(self, step: &str, attempt: u32, files: &[(&str, Option<&str>)], said: &Value) -> Self {
        self.says(&format!("step-{step}-edit-{attempt}"), &edit_plan(files, said))
    }

    /// A step whose only attempt writes one file.
    #[must_use]
    pub fn writes(self, step: &str, path: &str, content: &str) -> Self {
        self.plans(step).edits(step, 1, &[(path, Some(content))], &json!({"summary": "do it"}))
    }

    /// Adds a step that changes nothing.
    #[must_use]
    pub fn rests(self, step: &str) -> Self {
        self.plans(step).edits(step, 1, &[], &json!({"summary": "nothing worth it"}))
    }

    /// The cassette.
    pub fn cassette(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect::<Vec<_>>().concat()
    }
}
