//! Tests the ways in which models wrap an edit plan or get it wrong.

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn upsert(path: &str, content: &str) -> Edit {
    Edit { path: path.to_owned(), action: Action::Upsert { content: content.to_owned() } }
}

fn one(path: &str, content: &str) -> StepResult {
    StepResult { edits: vec![upsert(path, content)], ..StepResult::default() }
}

fn check(text: &str, expected: &StepResult) {
    assert_eq!(read(text).as_ref(), Ok(expected), "{text}");
}

fn wrong(text: &str, expected: &str) {
    assert_eq!(read(text).map_err(|error| error.to_string()), Err(expected.to_owned()), "{text}");
}

fn wrong_value(value: &Value, expected: &str) {
    wrong(&value.to_string(), expected);
}

#[test]
fn every_field_of_the_contract_is_read_and_unknown_ones_are_ignored() {
    let text = json!({
        "edits": [
            {"path": "src/lib.rs", "action": "upsert", "content": "a\n", "mode": 7},
            {"path": "b", "action": "Delete", "content": null},
            {"path": "./c", "action": "rename", "to": "./d"},
            {"path": "e", "action": "replace", "find": "x", "content": ""},
        ],
        "summary": "s", "rationale": ["one", "two"], "commit_message": "feat: x", "claims": ["tests/calc.rs::adds"],
        "notes": null, "need": ["src/other.rs"], "reason": "r", "spec_source": "line 3",
        "done": [{"requirement": "adds", "test_id": "tests/calc.rs::adds"}], "mood": {"good": true},
    });
    let plan = read(&text.to_string()).unwrap();
    let actions = [
        upsert("src/lib.rs", "a\n"),
        Edit { path: "b".into(), action: Action::Delete },
        Edit { path: "c".into(), action: Action::Rename { to: "d".into() } },
        Edit { path: "e".into(), action: Action::Replace { find: "x".into(), content: String::new() } },
    ];
    assert_eq!(plan.edits, actions);
    assert_eq!((plan.summary.as_str(), plan.rationale.as_str(), plan.notes.as_str()), ("s", "one\ntwo", ""));
    assert_eq!((plan.commit_message.as_str(), plan.need), ("feat: x", vec!["src/other.rs".to_owned()]));
    assert_eq!((plan.reason.as_str(), plan.spec_source.as_str()), ("r", "line 3"));
    assert_eq!(
        (plan.claims[0].as_str(), plan.done[0].test_id.as_str()),
        ("tests/calc.rs::adds", "tests/calc.rs::adds")
    );
}

#[test]
fn wrapping_does_not_matter() {
    let bare = r#"{"edits":[{"path":"a","action":"upsert","content":"fn f() { \"}\" }"}]}"#;
    let plan = one("a", "fn f() { \"}\" }");
    check(bare, &plan);
    check(&format!("\u{feff}{bare}\r\n"), &plan);
    check(&format!("Sure {{I will}}:\n```json\n{bare}\n```\nThat is [all]."), &plan);
    check(&format!("<think>{{\"edits\":[]}}</think>{bare}"), &plan);
    check(&serde_json::to_string(bare).unwrap(), &plan);
    check(&format!("{{\"edit_plan\":{bare}}}"), &plan);
    check(&format!("{{\"name\":\"edit_plan\",\"arguments\":{}}}", serde_json::to_string(bare).unwrap()), &plan);
    check(&bare.replace("}]}", "},],}"), &plan);
}

#[test]
fn edits_alone_are_a_plan_but_not_the_rest_of_a_broken_one() {
    let edit = r#"{"path":"a","action":"upsert","content":"x"}"#;
    check(edit, &one("a", "x"));
    check(&format!("[{edit}]"), &one("a", "x"));
    check(&format!("{{\"edits\":{edit}}}"), &one("a", "x"));
    let broken = format!("{{\"edits\":[{{\"path\":'b'}},{edit}]}}");
    assert!(read(&broken).unwrap_err().to_string().starts_with("the JSON is wrong at line 1, column 19"), "{broken}");
}

#[test]
fn half_an_answer_is_none() {
    let whole =
        json!({"edits": [{"path": "a", "action": "upsert", "content": "x"}, {"path": "b", "action": "delete"}]});
    let whole = whole.to_string();
    for end in 1..whole.len() {
        let error = read(&whole[..end]).unwrap_err().to_string();
        assert!(error.contains("breaks off") || error.contains("no JSON object"), "{}: {error}", &whole[..end]);
    }
}

#[test]
fn answers_without_a_plan_are_told_what_to_send() {
    wrong("  \n", "the answer is empty; send one JSON object with `edits`");
    wrong("I am sorry.", "the answer has no JSON object; send one JSON object with `edits`, and nothing else");
    wrong(
        r#"{"files": [], "why": 1}"#,
        r#"the JSON has no `edits` (it has `files`, `why`); send {"edits": [{"path": …, "action": …, "content": …}]}"#,
    );
    wrong_value(&json!({"edits": "none"}), "`edits` is a string; it must be a list");
    wrong_value(&json!({"edits": ["a"]}), "`edits[0]` is a string; it must be an object with `path` and `action`");
    assert!(read(&" ".repeat(MAX_REPLY + 1)).unwrap_err().to_string().contains("limit"));
}

#[test]
fn a_bad_edit_is_named_by_its_number_and_its_file() {
    let good = json!({"path": "a", "action": "delete"});
    let check = |bad: Value, expected: &str| wrong_value(&json!({"edits": [good, bad]}), expected);
    check(
        json!({"path": "b", "action": "patch"}),
        "edit 2 (`b`) has the action `patch`; the actions are `upsert`, `delete`, `rename` and `replace`",
    );
    check(json!({"path": "b"}), "edit 2 (`b`) has no `action`; use `upsert` with the file's whole content");
    check(
        json!({"path": " ", "action": "delete"}),
        "edit 2 has no `path`; name the file relative to the project's root, like `src/lib.rs`",
    );
    check(
        json!({"path": "b", "action": "upsert", "content": null}),
        "edit 2 (`b`) has no `content`; send the file's whole new content",
    );
    check(
        json!({"path": "b", "action": "replace", "content": "x"}),
        "edit 2 (`b`) has no `find`; quote the text to replace; it must occur in the file exactly once",
    );
    check(
        json!({"path": "b", "action": "replace", "find": "x"}),
        "edit 2 (`b`) has no `content`; send the text to put in its place",
    );
    check(json!({"path": "b", "action": "rename"}), "edit 2 (`b`) has no `to`; name the file's new path");
    check(
        json!({"path": "b", "action": "upsert", "content": ["x"]}),
        "`edits[1].content` is a list; it must be a string",
    );
}

#[test]
fn line_ends_become_plain_only_where_every_line_has_them() {
    let crlf =
        |content: &str| read(&json!({"edits": [{"path": "a", "action": "upsert", "content": content}]}).to_string());
    assert_eq!(crlf("x\r\ny\r\n"), Ok(one("a", "x\ny\n")));
    assert_eq!(crlf("x\r\ny\n"), Ok(one("a", "x\r\ny\n")));
    let replace = json!({"edits": [{"path": "a", "action": "replace", "find": "x\r\n", "content": "y\r\n"}]});
    let expected = Action::Replace { find: "x\r\n".into(), content: "y\r\n".into() };
    assert_eq!(read(&replace.to_string()).unwrap().edits[0].action, expected);
}

#[test]
fn a_plan_may_ask_or_be_done_without_edits() {
    assert_eq!(read(r#"{"need":["a"]}"#).unwrap().need, ["a"]);
    assert_eq!(read(r#"{"edits":[],"need":"a"}"#).unwrap().need, ["a"]);
    assert_eq!(read(r#"{"edits":[],"done":false,"claims":null}"#), Ok(StepResult::default()));
    assert_eq!(read(r#"{"done":[{"requirement":"x","test_id":"a.rs::b"}]}"#).unwrap().done.len(), 1);
}

#[test]
fn other_fields_are_checked_as_well() {
    wrong_value(
        &json!({"edits": [], "claims": ["not a test"]}),
        "`claims` names `not a test`, which is not a test id; write it as `path::name`",
    );
    wrong_value(&json!({"edits": [], "need": [1]}), "`need` is a number; it must be a list of strings");
    wrong_value(&json!({"edits": [], "summary": {}}), "`summary` is an object; it must be a string");
    wrong_value(
        &json!({"edits": [], "done": [{"requirement": "x"}]}),
        "`done[0]` is an object; it must be an object with `requirement` and `test_id`",
    );
    let many = vec![json!({"path": "a", "action": "delete"}); MAX_ENTRIES + 1];
    wrong_value(&json!({"edits": many}), "`edits` has 201 entries, the limit is 200; make the change smaller");
}

fn json_like() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        Just("edits"),
        Just("path"),
        Just("action"),
        Just("content"),
        Just("find"),
        Just("to"),
        Just("claims"),
        Just("need"),
        Just("done"),
        Just("arguments"),
        Just("edit_plan"),
        Just("test_id"),
        Just("requirement"),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "(upsert|delete|rename|replace|a::b|(?s).{0,8})".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6)
                .prop_map(|pairs| pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "(?s).{0,200}") {
        let _ = read(&text);
    }

    #[test]
    fn no_json_makes_it_panic_and_what_it_says_is_one_line(value in json_like(), cut in 0_usize..400, odd in "(?s).{0,3}") {
        let mut text = value.to_string();
        let _ = read(&text);
        let at = (0..=cut.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap();
        text.insert_str(at, &odd);
        if let Err(error) = read(&text) {
            prop_assert!(!error.to_string().contains('\n'), "{}", error);
        }
    }

    #[test]
    fn whatever_content_is_written_is_read_back(content in "(?s)[^\r]{0,200}", before in "[a-z ,.!\n`]{0,40}") {
        let text = json!({"edits": [{"path": "a", "action": "upsert", "content": content}]}).to_string();
        prop_assert_eq!(read(&format!("{before}{text}")), Ok(one("a", &content)));
    }
}
