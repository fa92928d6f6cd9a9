//! Tests of parsing plans, and of their findings.

use super::*;

fn plan(kind: &str, body: &str) -> Plan {
    Plan::parse(&format!("---\nphase: 5\nplan: 1\ntype: {kind}\n---\n{body}")).unwrap()
}

/// Every finding as `line severity problem`.
fn findings(plan: &Plan) -> Vec<String> {
    let shown = |it: Finding| format!("{} {:?} {}", it.line, it.severity, it.problem);
    plan.findings().into_iter().map(shown).collect()
}

fn named(plan: &Plan) -> Vec<(&str, usize, Option<&str>, Option<&str>)> {
    plan.steps
        .iter()
        .map(|step| {
            let id = step.test_id.as_ref().map(|field| field.text.as_str());
            (step.title.as_str(), step.line, id, step.test_file_path.as_ref().map(|field| field.text.as_str()))
        })
        .collect()
}

#[test]
fn the_front_matter_of_the_first_document_is_read() {
    let text = "---\nphase: 5\nplan: 1\ntype: tdd              # Enables TDD execution mode\nwave: 1\nmust_haves:\n  truths:\n    - \"User authentication works with email/password\"\n  artifacts:\n    - \"src/auth/login.ts\"\n    - \"test/auth/login.test.ts\"\n---\n1. Log in\n";
    let plan = Plan::parse(text).unwrap();
    assert_eq!((plan.phase.as_str(), plan.number.as_str(), plan.wave), ("5", "1", 1));
    assert_eq!(plan.kind(), Some(Kind::Tdd));
    assert_eq!(plan.artifacts, ["src/auth/login.ts", "test/auth/login.test.ts"]);
    insta::assert_snapshot!(findings(&plan).join("\n"), @r#"
    8 Note "User authentication works with email/password" names no test, so it will be reported as unproven
    13 Note "Log in" names no test, so it runs only in refactor mode
    "#);
}

#[test]
fn steps_are_tasks_or_headings_or_numbered_items() {
    let tasks = "<tasks>\n<task type=\"auto\" test_id=\"tests/a.rs::a\">\n  <name>One</name>\n  <test_file_path>tests/a.rs</test_file_path>\n</task>\ntest_id: not::mine\n<task>\n  <name>Two</name>\n  test_id: two\n</task>\n";
    assert_eq!(
        named(&plan("tdd", tasks)),
        [("One", 7, Some("tests/a.rs::a"), Some("tests/a.rs")), ("Two", 12, Some("two"), None)]
    );
    let headings = "# Plan\n\n## Step 1: log in\n\n- **test_id:** `tests/a.rs::a`\n- test_file_path: tests/a.rs\n\n1. not a step\n\n### Task two\n";
    assert_eq!(
        named(&plan("tdd", headings)),
        [("Step 1: log in", 8, Some("tests/a.rs::a"), Some("tests/a.rs")), ("Task two", 15, None, None)]
    );
    let items = "1. One\n   - test_id: tests/a.rs::a\n   - test_file_path: tests/a.rs\n2) Two\n   1. inner\n";
    assert_eq!(
        named(&plan("execute", items)),
        [("One", 6, Some("tests/a.rs::a"), Some("tests/a.rs")), ("Two", 9, None, None)]
    );
}

#[test]
fn a_step_has_its_text_and_its_mark() {
    let body = "Before.\n\n1. One\n   ```\n   2. Two\n   ```\n2. Two\n   test_id: two\n";
    let read = plan("tdd", body);
    let texts: Vec<&str> = read.steps.iter().map(|step| step.text.as_str()).collect();
    assert_eq!(texts, ["1. One\n   ```\n   2. Two\n   ```", "2. Two\n   test_id: two"]);
    assert_eq!(read.mark(1), "[phase-05/plan-01/task-02]");
    let named = Plan { phase: "05-auth]x".into(), ..read };
    assert_eq!(named.mark(0), "[phase-05-auth-x/plan-01/task-01]");
    let tasks = plan("tdd", "<task>\n<name>One</name>\n</task>\nBetween.\n<task>\n</task>\n");
    assert_eq!(tasks.steps[0].text, "<task>\n<name>One</name>\n</task>");
}

#[test]
fn an_example_in_a_fence_is_no_step() {
    let body = "1. One\n\n```markdown\n2. Two\n   test_id: x::y\n```\n";
    assert_eq!(named(&plan("execute", body)), [("One", 6, None, None)]);
}

#[test]
fn what_stops_a_plan_is_told_with_its_line() {
    let body = "1. One\n   test_id: tests/a.rs::a\n2. Two\n   test_id: tests/a.rs::a\n   test_file_path: tests/b.rs\n3. Three\n   test_id: no id\n   test_file_path: ../x.rs\n";
    insta::assert_snapshot!(findings(&plan("tdd", body)).join("\n"), @"
    7 Stop the step names the test `tests/a.rs::a` but no file for it
    9 Stop `tests/a.rs::a` is already the test of the step on line 7
    10 Stop the test `tests/a.rs::a` is in `tests/a.rs`, but the step says `tests/b.rs`
    12 Stop `no id` is not a test id; write `path::name` or the slug of a `@tdd-test-id:` comment
    13 Stop the test file `../x.rs` contains `..`; a path must stay inside the project
    ");
    let head = "---\nphase: 1\nplan: 1\ntype: tddd\nmust_haves:\n  artifacts: [/etc/passwd]\n---\n";
    insta::assert_snapshot!(findings(&Plan::parse(head).unwrap()).join("\n"), @"
    1 Stop the plan has no steps
    4 Stop `tddd` is not a plan type
    6 Stop the artifact `/etc/passwd` is absolute; name files relative to the project's root
    ");
}

#[test]
fn a_truth_names_a_test_in_its_words_or_beside_them() {
    let text = "---\nphase: 1\nplan: 1\nmust_haves:\n  truths:\n    - adds (`tests/a.rs::adds`).\n    - it is slugged\n    - { truth: divides, test_id: \"tests/a.rs::divides\" }\n  artifacts:\n    - { path: src/a.rs, provides: adding }\n---\n1. One\n   test_id: slugged\n   test_file_path: tests/a.rs\n";
    let plan = Plan::parse(text).unwrap();
    let tests: Vec<_> = plan.truths.iter().map(|truth| truth.test.as_ref().map(TestId::as_str)).collect();
    assert_eq!(tests, [Some("tests/a.rs::adds"), Some("slugged"), Some("tests/a.rs::divides")]);
    assert_eq!((plan.artifacts, plan.kind), (vec!["src/a.rs".to_owned()], None));
}

#[test]
fn what_is_no_plan_is_told_with_line_and_remedy() {
    for (text, line, problem) in [
        ("", 1, "there is no front matter"),
        ("# Plan\n", 1, "there is no front matter"),
        ("---\nphase: 1\n", 1, "the front matter has no end"),
        ("---\n\n---\n", 2, "the front matter is empty"),
        ("---\nphase: 1\nplan: 1\nwave: soon\n---\n", 4, "expected a whole number, 1 or more"),
        ("---\nphase: 1\n---\n", 2, "the key `plan` is missing"),
        ("---\nphase: 1\nphase: 2\nplan: 1\n---\n", 3, "the key `phase` appears twice"),
    ] {
        let error = Plan::parse(text).unwrap_err();
        assert_eq!((error.line, error.problem.as_str()), (line, problem), "{text}");
    }
}
