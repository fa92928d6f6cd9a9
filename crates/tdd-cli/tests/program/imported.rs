//! Tests the import of an autoloop page written by other tools: tests by their names, folded ranges unchanged.

use tdd_fixtures::server::Cast;

use crate::stage::{Source, Stage, cycle, implementor};

const PAGE: &str = "# Autoloop: port

## ⚙️ Machine State

| Field | Value |
|-------|-------|
| Iteration Count | 12 |
| Best Metric | 1 |
| Paused | false |

## ✅ Test Harness

> 🤖 *One entry per pinned behaviour. Newest first.*

### t2 ❌ failing

- **Target**: src/lib.rs
- **Spec source**: reference/f2.py
- **Added iteration**: 11

### `t1`  ·  gen 9

- **Status**: ❌ failing
- **Added iteration**: 9
- **Notes**: f1 adds 1

### sorts NaN last  ·  gen 8

- **Status**: ✅ passing
- **Added iteration**: 8

### Tests 40–80 — ✅ passing (41 batch additions for strings): widths and cases

### Tests 1–39 — ✅ passing (39 batch additions for numbers): sums

- They came in one go.

## 📊 Iteration History

### Iteration 12 — [2025-01-15 12:00 UTC](https://example.org/run)

- **Status**: ✅ Accepted

### Iterations 1–11 — 9 accepted, 2 rejected
";

/// A project with one passing test, one failing test, and an imported page.
fn project() -> Stage {
    let stage = Stage::port();
    let source = Source::of(&stage).with(1).with(2);
    stage.sandbox.write("src/lib.rs", source.code.replace("x + 2", "x + 0"));
    stage.sandbox.write("tests/ported.rs", &source.tests);
    stage.commit("feat: what others did");
    stage.keep_page("port", PAGE);
    stage
}

/// The heading and status of each test entry, and the folded ranges.
fn harness(page: &str) -> Vec<String> {
    let section = page.split("## ✅ Test Harness").nth(1).unwrap().split("\n## ").next().unwrap();
    let is_told = |line: &&str| line.starts_with("### ") || line.starts_with("- **Status**") || line.contains("one go");
    section.lines().filter(is_told).map(str::to_owned).collect()
}

#[test]
fn its_tests_are_known_by_their_bare_names_and_its_folded_ranges_stay() {
    let stage = project();
    let code = Source::of(&stage).code.replace("x + 0", "x + 2");
    assert_eq!(stage.iterate(implementor(Cast::new(), 2, &code)), "accepted green 2.0 exit 0");
    let expected = [
        "### tests/ported.rs::t2  ·  gen 11",
        "- **Status**: ✅ passing",
        "### tests/ported.rs::t1  ·  gen 9",
        "- **Status**: ✅ passing",
        "### sorts NaN last  ·  gen 8",
        "- **Status**: ✅ passing",
        "### Tests 40–80 — ✅ passing (41 batch additions for strings): widths and cases",
        "### Tests 1–39 — ✅ passing (39 batch additions for numbers): sums",
        "- They came in one go.",
    ];
    assert_eq!(harness(&stage.page()), expected);
    assert!(
        stage.page().contains(
            "- **Spec source**: reference/f2.py\n- **Added iteration**: 11\n- **Made green iteration**: 13\n"
        )
    );
    assert!(stage.page().contains("\n### Iterations 1–11 — 9 accepted, 2 rejected\n"), "{}", stage.page());
    stage.iterate(cycle(&stage, 3));
    assert_eq!(harness(&stage.page())[2..], expected);
}
