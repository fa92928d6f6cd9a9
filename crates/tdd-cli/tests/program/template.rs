//! Tests that the strategy copied by `program new` is complete; a lost part is named.

use crate::stage::Stage;

/// A part of a template: its file, its heading, and words that must follow the heading.
struct Part(&'static str, &'static str, &'static [&'static str]);

const PARTS: &[Part] = &[
    Part("strategy.md", "## What this program specifies", &["<CUSTOMIZE:", "source of truth"]),
    Part("strategy.md", "### 1. Load the state", &["`program.md`", "`memory/autoloop`", "Test Harness", "<CUSTOMIZE:"]),
    Part(
        "strategy.md",
        "### 2. Pick one target",
        &["<CUSTOMIZE: the unit of work", "failing test that is not blocked", "three iterations", "`rethink-test`"],
    ),
    Part(
        "strategy.md",
        "### 3. Red: write a test that fails",
        &["write-test.md", "behaviour", "source of truth", "assertions", "edge cases", "passes at once", "`failing`"],
    ),
    Part(
        "strategy.md",
        "### 4. Green: make it pass",
        &["make-green.md", "hold now", "smallest change", "existing tests", "all tests"],
    ),
    Part(
        "strategy.md",
        "### 4. Green: make it pass",
        &[
            "Attempts 1 to 3",
            "attempt 4",
            "`rethink-test`",
            "`test-revised`",
            "attempt 5",
            "`blocked`",
            "`td-stuck: <test>`",
        ],
    ),
    Part("strategy.md", "### 5. Refactor, or not", &["refactor.md", "all tests pass", "undone", "Nothing worth it"]),
    Part(
        "strategy.md",
        "### 6. Evaluate",
        &[r#"{"metric": 4, "passing": 4, "failing": 0}"#, "`failing` must still be 0"],
    ),
    Part("strategy.md", "### 7. Update the Test Harness", &["`passing`", "changes its status", "`blocked`", "fold"]),
    Part("strategy.md", "### 7. Update the Test Harness", &["<CUSTOMIZE: how many tests", "`harness-cap`", "100"]),
    Part(
        "strategy.md",
        "### 8. Accept or discard",
        &[
            "`phase`",
            "`target`",
            "`new_tests`",
            "`existing_tests_status`",
            "all-green",
            "regression-introduced-and-fixed",
        ],
    ),
    Part(
        "strategy.md",
        "## Test Harness schema",
        &[
            "## ✅ Test Harness",
            "- **Status**: ✅ passing | ❌ failing | 🚧 blocked",
            "- **Target**",
            "- **Spec source**",
            "- **Added iteration**",
            "- **Made green iteration**",
            "- **Blocked reason**",
            "- **Notes**",
            "### Tests of iterations",
            "TODO",
        ],
    ),
    Part(
        "strategy.md",
        "## Invariants",
        &["Never loosen", "Never skip", "Never delete", "The tests decide", "behaviour, not implementation"],
    ),
    Part("strategy.md", "## Lessons", &["`Lesson:`", "fact about the problem"]),
    Part("prompts/write-test.md", "## Facts about the problem", &["<CUSTOMIZE:", "edge cases", "source of truth"]),
    Part(
        "prompts/write-test.md",
        "## How",
        &["one behaviour", "Name the test", "properties", "how it is made", "not happen"],
    ),
    Part("prompts/write-test.md", "## Edge cases", &["no input", "malformed"]),
    Part(
        "prompts/write-test.md",
        "## Red checklist",
        &["compiles", "one clear failure", "expected and the actual value", "refactor"],
    ),
    Part(
        "prompts/write-test.md",
        "## What your answer says",
        &[
            "`Target:`",
            "`Spec source:`",
            "`Edge cases:`",
            "`Left out:`",
            "`Expected failure:`",
            "red summary: 10 to 20 words",
        ],
    ),
    Part("prompts/make-green.md", "## Facts about the problem", &["<CUSTOMIZE:"]),
    Part(
        "prompts/make-green.md",
        "## How",
        &["word for word", "smallest change", "Never change a test", "whole suite"],
    ),
    Part("prompts/make-green.md", "## Do not", &["expected value", "no test asks for", "special case"]),
    Part(
        "prompts/make-green.md",
        "## Green checklist",
        &["new test passes", "Every other test still passes", "as small as it can be", "in one sentence why"],
    ),
    Part(
        "prompts/make-green.md",
        "## What your answer says",
        &["hold now", "must keep\npassing", "`Left out:`", "green summary", "how many tests pass"],
    ),
    Part("prompts/refactor.md", "## Facts about the problem", &["<CUSTOMIZE:"]),
    Part("prompts/refactor.md", "## Worth it", &["near copy", "two things", "name"]),
    Part("prompts/refactor.md", "## Not worth it", &["fine", "another way", "later", "nothing to do with"]),
    Part("prompts/refactor.md", "## Refactor checklist", &["still passes", "one line", "smaller"]),
    Part("prompts/refactor.md", "## What your answer says", &["before and after", "why not", "refactor summary"]),
    Part("CUSTOMIZE.md", "## When it fits", &["Tests can say", "source of truth", "seconds", "Do not choose it"]),
    Part("CUSTOMIZE.md", "## Steps", &["strategy/test-driven.md", "write-test.md", "make-green.md", "refactor.md"]),
    Part(
        "CUSTOMIZE.md",
        "## What to write for the markers",
        &["What this program specifies", "unit of work", "size of the harness", "same in all three"],
    ),
    Part(
        "CUSTOMIZE.md",
        "## What goes into program.md",
        &["## Evolution Strategy", "**Test-Driven** strategy", "`strategy/test-driven.md`", "`memory/autoloop`"],
    ),
    Part(
        "CUSTOMIZE.md",
        "## What does not belong into a program's folder",
        &["Test Harness", "This page", "rethink-test"],
    ),
];

/// The text below a heading, up to the next heading of the same or a higher level. Ignores fenced blocks.
fn below<'a>(text: &'a str, heading: &str) -> Option<&'a str> {
    let rank = |line: &str| line.bytes().take_while(|byte| *byte == b'#').count();
    let (mut at, mut start, mut in_block) = (0, None, false);
    for line in text.split_inclusive('\n') {
        in_block ^= line.trim_start().starts_with("```");
        let is_heading = !in_block && (1..=rank(heading)).contains(&rank(line));
        match start {
            Some(start) if is_heading => return Some(&text[start..at]),
            None if line.trim_end() == heading => start = Some(at + line.len()),
            Some(_) | None => {}
        }
        at += line.len();
    }
    start.map(|start| &text[start..])
}

#[test]
fn no_part_of_the_strategy_is_lost() {
    let stage = Stage::bare();
    stage.ok(&["program", "new", "port", "--strategy", "test-driven"]);
    let mut lost = Vec::new();
    for Part(file, heading, words) in PARTS {
        let text = stage.sandbox.read(&format!(".autoloop/strategies/test-driven/{file}"));
        match below(&text, heading) {
            None => lost.push(format!("{file}: {heading}")),
            Some(part) => {
                let missing = words.iter().filter(|word| !part.contains(**word));
                lost.extend(missing.map(|word| format!("{file}: {heading}: {word}")));
            }
        }
    }
    assert!(lost.is_empty(), "lost:\n{}", lost.join("\n"));
}

#[test]
fn a_program_gets_a_copy_of_each_file_and_points_at_it() {
    let stage = Stage::bare();
    stage.ok(&["program", "new", "port", "--strategy", "test-driven"]);
    let program = stage.sandbox.read(".autoloop/programs/port/program.md");
    let pointer = below(&program, "## Evolution Strategy").unwrap();
    assert!(pointer.contains("**Test-Driven** strategy") && pointer.contains("`memory/autoloop`"), "{pointer}");
    for (template, copy) in [
        ("strategy.md", "strategy/test-driven.md"),
        ("prompts/write-test.md", "strategy/prompts/write-test.md"),
        ("prompts/make-green.md", "strategy/prompts/make-green.md"),
        ("prompts/refactor.md", "strategy/prompts/refactor.md"),
    ] {
        let shipped = stage.sandbox.read(&format!(".autoloop/strategies/test-driven/{template}"));
        assert_eq!(stage.sandbox.read(&format!(".autoloop/programs/port/{copy}")), shipped);
        assert!(pointer.contains(&format!("`{copy}`")), "{pointer}");
    }
    let block =
        below(&stage.sandbox.read(".autoloop/strategies/test-driven/CUSTOMIZE.md"), "## What goes into program.md")
            .unwrap()
            .replace("\n  ", "\n");
    for line in pointer.lines().filter(|line| !line.contains("port.md")) {
        assert!(block.contains(line), "the block in CUSTOMIZE.md lacks: {line}");
    }
}
