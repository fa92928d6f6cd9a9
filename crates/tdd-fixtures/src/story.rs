//! Parses a story: the models' answers of a run, as a Markdown file that people can read and review.
//!
//! `## 4 tester` begins a step, followed by its plan; `### attempt` begins the next attempt. An attempt has lines such
//! as `summary: …` and `rationale: …`, `done: requirement = test id`, and for each file a line `write`, `append` or
//! `delete` with the path in backticks, followed by a fenced block. `append` adds to the file as the previous step's
//! last attempt left it.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::script::Script;

/// Converts a story to a script.
///
/// # Panics
///
/// If a line is invalid.
pub fn script(story: &str) -> Script {
    let mut files = BTreeMap::new();
    let steps = story.split("\n## ").skip(1);
    steps.fold(Script::new(), |script, step| told(script, step, &mut files))
}

fn told(script: Script, step: &str, files: &mut BTreeMap<String, String>) -> Script {
    let (title, rest) = step.split_once('\n').unwrap_or((step, ""));
    let name = title.trim().replace(' ', "-");
    let mut parts = rest.split("\n### attempt\n");
    let plan = parts.next().unwrap_or_default().trim();
    let mut script = script.says(&format!("step-{name}-plan"), &plan.replace('\n', " "));
    let before = files.clone();
    for (number, attempt) in (1..).zip(parts) {
        files.clone_from(&before);
        let answer = answer(attempt, files);
        script = script.says(&format!("step-{name}-edit-{number}"), &answer.to_string());
    }
    script
}

/// The answer of one attempt; updates `files` to their state after it.
fn answer(attempt: &str, files: &mut BTreeMap<String, String>) -> Value {
    let (mut edits, mut said) = (Vec::new(), Map::new());
    let mut lines = attempt.lines();
    while let Some(line) = lines.next() {
        if let Some(path) = file(line, "delete") {
            files.remove(path);
            edits.push(json!({"path": path, "action": "delete"}));
        } else if let Some(path) = file(line, "write") {
            files.insert(path.to_owned(), block(&mut lines));
            edits.push(json!({"path": path, "action": "upsert", "content": files[path]}));
        } else if let Some(path) = file(line, "append") {
            let there = files.get(path).map(|there| format!("{there}\n")).unwrap_or_default();
            files.insert(path.to_owned(), there + &block(&mut lines));
            edits.push(json!({"path": path, "action": "upsert", "content": files[path]}));
        } else if !line.is_empty() {
            say(&mut said, line);
        }
    }
    said.insert("edits".to_owned(), edits.into());
    said.into()
}

/// The path of a line such as ``write `src/lib.rs` ``.
fn file<'a>(line: &'a str, verb: &str) -> Option<&'a str> {
    line.strip_prefix(verb)?.strip_prefix(" `")?.strip_suffix('`')
}

/// The content of the next fenced block.
fn block<'a>(lines: &mut impl Iterator<Item = &'a str>) -> String {
    let inside = lines.skip_while(|line| !line.starts_with("```")).skip(1);
    inside.take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect::<Vec<_>>().concat()
}

/// Adds one field; a repeated field gets another line.
fn say(said: &mut Map<String, Value>, line: &str) {
    let (name, text) = line.split_once(": ").unwrap_or_else(|| panic!("a story cannot say `{line}`"));
    if name == "done" {
        let (requirement, held_by) = text.split_once(" = ").unwrap_or_else(|| panic!("`{line}` names no test"));
        let done = said.entry("done").or_insert_with(|| json!([]));
        done.as_array_mut()
            .into_iter()
            .for_each(|done| done.push(json!({"requirement": requirement, "test_id": held_by})));
        return;
    }
    let text = match said.get(name).and_then(Value::as_str) {
        Some(before) => format!("{before}\n{text}"),
        None => text.to_owned(),
    };
    said.insert(name.to_owned(), text.into());
}

#[cfg(test)]
mod tests {
    use super::*;

    const STORY: &str = "# T\n\n## 1 tester\n\nA plan\nof two lines.\n\n### attempt\n\nsummary: no\n\nappend `a.rs`\n\n\
        ```rust\nwrong\n```\n\n### attempt\n\nsummary: s\nrationale: r\nrationale: q\n\nappend `a.rs`\n\n```rust\none\n\n\
        two\n```\n\ndelete `b.rs`\n\n## 2 implementor\n\nMore.\n\n### attempt\n\ndone: it = t::x\n\nappend `a.rs`\n\n\
        ```rust\nthree\n```\n";

    #[test]
    fn a_story_becomes_a_script_and_what_is_appended_goes_to_what_was_kept() {
        let cassette = script(STORY).cassette();
        let lines: Vec<Value> = cassette.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let said: Vec<(&str, &str)> = lines
            .iter()
            .map(|line| (line["ask"]["key"].as_str().unwrap(), line["answer"]["content"].as_str().unwrap()))
            .collect();
        let content = |at: usize| serde_json::from_str::<Value>(said[at].1).unwrap();
        assert_eq!(said[0], ("step-1-tester-plan", "A plan of two lines."));
        assert_eq!(said[2].0, "step-1-tester-edit-2");
        let kept = content(2);
        assert_eq!((&kept["summary"], &kept["rationale"]), (&json!("s"), &json!("r\nq")));
        assert_eq!(kept["edits"][0]["content"], "one\n\ntwo\n");
        assert_eq!(kept["edits"][1], json!({"path": "b.rs", "action": "delete"}));
        assert_eq!(content(4)["edits"][0]["content"], "one\n\ntwo\n\nthree\n");
        assert_eq!(content(4)["done"], json!([{"requirement": "it", "test_id": "t::x"}]));
    }
}
