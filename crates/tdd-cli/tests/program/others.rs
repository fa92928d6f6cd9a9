//! Tests that a program in the format of public autoloop repositories runs unchanged, with the default strategy.

use serde_json::json;
use tdd_fixtures::server::Cast;

use crate::stage::Stage;

const PROGRAM: &str = r#"<!-- Kept by a workflow. -->
---
schedule: daily
timeout-minutes: 5
labels: [size]
---

# Shorter

## Goal

Make `src/lib.rs` as short as it can be.

## Target

Only modify these files:
- `src/lib.rs` — the whole of it

Do NOT modify:
- `tests/**` — they say what must stay

## Evaluation

```bash
echo "{\"lines\": $(wc -l < src/lib.rs), \"unrelated\": 1}"
```

The metric is `lines`. **Lower is better.**
"#;

const PAGE: &str = "# Autoloop: shorter

## ⚙️ Machine State

| Field | Value |
|-------|-------|
| Last Run | 2025-01-15T12:00:00Z |
| Iteration Count | 12 |
| Best Metric | 9 |
| Paused | false |
| Completed | false |
| Consecutive Errors | 0 |

## 🎯 Current Priorities

Without tricks.

## 📚 Lessons Learned

- Blank lines count.
";

const LONG: &str = "//! Adds.\n\n/// The sum.\npub fn add(a: i64, b: i64) -> i64 {\n    let sum = a;\n    let sum = sum + b;\n    #[allow(clippy::let_and_return)]\n    sum\n}\n";
const SHORT: &str = "//! Adds.\n\n/// The sum.\npub fn add(a: i64, b: i64) -> i64 {\n    a + b\n}\n";
const TEST: &str = "#[test]\nfn adds() {\n    assert_eq!(kata::add(1, 2), 3);\n}\n";

fn project() -> Stage {
    let stage = Stage::bare();
    stage.sandbox.write("src/lib.rs", LONG);
    stage.sandbox.write("tests/add.rs", TEST);
    stage.sandbox.write(".autoloop/programs/shorter.md", PROGRAM);
    stage.commit("feat: add");
    stage.keep_page("shorter", PAGE);
    stage
}

fn iterate(stage: &Stage, cast: Cast) -> String {
    stage.recast(cast);
    let told = stage.run(&["program", "run", "shorter"]);
    assert_eq!(told.code, Some(0), "{}\n{}", told.stdout, told.stderr);
    assert_eq!(stage.sandbox.git(&["status", "--porcelain"]), "");
    told.stdout.lines().last().unwrap_or_default().to_owned()
}

fn proposes(code: &str) -> Cast {
    let said = json!({"summary": "less", "rationale": "Lesson: Names can go."});
    Cast::new().edits("refactorer", &[("src/lib.rs", Some(code))], &said)
}

#[test]
fn it_is_read_as_it_is_and_keeps_only_what_improves() {
    let stage = project();
    assert!(stage.ok(&["program", "list"]).starts_with("due shorter: 12 iterations, best 9"));
    assert_eq!(iterate(&stage, proposes(SHORT)), "shorter: accepted (metric 6): refactor: less");
    assert_eq!(stage.sandbox.read("src/lib.rs"), SHORT);
    let told = iterate(&stage, proposes(LONG));
    assert!(told.starts_with("shorter: discarded (metric 9): the metric went backwards, from 6 to 9"), "{told}");
    assert_eq!(stage.sandbox.read("src/lib.rs"), SHORT);
    let told = iterate(&stage, proposes(&SHORT.replace("The sum.", "Their sum.")));
    assert!(told.starts_with("shorter: discarded (metric 6): the metric is still 6"), "{told}");
    let broken = proposes(&SHORT.replace("a + b", "3"));
    assert!(iterate(&stage, broken).starts_with("shorter: discarded"), "a lucky answer is no shorter");
    assert_eq!(
        iterate(&stage, Cast::new()),
        "shorter: error: no proposed change was accepted; refactor: nothing worth it"
    );
    let page = stage.sandbox.git(&["show", "memory/autoloop:shorter.md"]);
    assert!(page.contains("| Iteration Count | 17 |") && page.contains("| Best Metric | 6 |"), "{page}");
    assert!(
        page.contains("Without tricks.") && page.contains("- Blank lines count.") && page.contains("- Names can go.")
    );
    let asked = stage.server.requests().last().unwrap().body.to_string();
    assert!(asked.contains("Without tricks.") && asked.contains("Lower is better"), "{asked}");
    assert_eq!(stage.run(&["program", "run", "--due"]).code, Some(1), "it has run today");
}

#[test]
fn a_change_outside_of_its_target_or_of_behaviour_is_refused() {
    let stage = project();
    let tests = Cast::new().edits("refactorer", &[("tests/add.rs", Some(""))], &json!({}));
    let then = tests.edits("refactorer", &[("src/lib.rs", Some(&SHORT.replace("a + b", "a - b")))], &json!({}));
    let told = iterate(&stage, then.edits("refactorer", &[("src/lib.rs", Some(SHORT))], &json!({"summary": "less"})));
    assert_eq!(told, "shorter: accepted (metric 6): refactor: less");
    let rules: Vec<String> = stage
        .events()
        .iter()
        .filter(|event| event["type"] == "reverted")
        .map(|event| event["rule"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(rules, ["target-fence", "others-kept"]);
}
