//! Tests which parts a brief holds, their order, and what is dropped when the budget is small.

use std::sync::Arc;

use tdd_core::test_id::TestId;

use super::*;
use proptest::prelude::*;

fn file(path: &str, text: &str, sort: Sort) -> File {
    File { path: path.to_owned(), text: text.to_owned(), sort, changed: false }
}

fn context(paths: &[&str]) -> StepContext {
    StepContext {
        role: Role::Implementor,
        step_index: 2,
        kata_description: "# Adder\n\nAdd two numbers.\n".to_owned(),
        git_last_commit_msg: "test: pin addition\n".to_owned(),
        git_last_diff: "+assert_eq!(add(1, 2), 3);\n".to_owned(),
        repo_snapshot_paths: Arc::new(paths.iter().map(|path| (*path).to_owned()).collect()),
        turn: tdd_core::cycle::Turn::Red { attempt: 1 },
        target: None,
        wanted: None,
        may_be_done: false,
        refactor_hints: Vec::new(),
        progress: None,
    }
}

#[test]
fn a_refactorer_sees_what_the_machine_measured() {
    let hints = vec!["`a.py:9` repeats the lines at `a.py:2`".to_owned()];
    let context = StepContext { role: Role::Refactorer, refactor_hints: hints, ..context(&TREE) };
    let brief = Brief { context: &context, files: &files(), target: None, order: Order::Stable }.write(10_000).text;
    let end = "# What may be worth improving\n\nThe machine measured the last commit:\n\n- `a.py:9` repeats the \
               lines at `a.py:2`\n";
    assert!(brief.ends_with(end), "{brief}");
}

fn files() -> Vec<File> {
    vec![
        file("Cargo.toml", "[package]\n", Sort::Steering),
        file("src/lib.rs", "//! ```\n//! x\n//! ```\n", Sort::Production),
        File { changed: true, ..file("src/new.rs", "", Sort::Production) },
        file("tests/a.rs", "// a\n", Sort::Test),
        file("tests/b.rs", "// b\n", Sort::Test),
        file("target/ignored.rs", "secret", Sort::Production),
    ]
}

const TREE: [&str; 5] = ["tests/b.rs", "tests/a.rs", "src/lib.rs", "src/new.rs", "Cargo.toml"];

fn target() -> Target {
    let id = TestId::parse("tests/b.rs::adds").unwrap();
    let output = "error[E0425]: cannot find function `add`\n".to_owned();
    Target { id, path: "tests/b.rs".to_owned(), cause: Cause::MissingSymbol, output }
}

fn order(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with('#')).collect()
}

#[test]
fn a_whole_brief_is_pinned() {
    let (context, files, target) = (context(&TREE), files(), target());
    let written =
        Brief { context: &context, files: &files, target: Some(&target), order: Order::Stable }.write(100_000);
    insta::assert_snapshot!(written.text);
    assert_eq!(written.omitted, Vec::<String>::new());
}

#[test]
fn a_missing_symbol_is_said_to_be_missing_in_production_with_the_file_if_there_is_one() {
    let (context, target) = (context(&TREE), target());
    let brief = |files: &[File], target| {
        Brief { context: &context, files, target: Some(target), order: Order::Stable }.write(100_000).text
    };
    let one = [file("src/lib.rs", "", Sort::Production), file("tests/b.rs", "", Sort::Test)];
    assert!(brief(&one, &target).contains("What it names is not in the production code (`src/lib.rs`) yet."));
    assert!(brief(&files(), &target).contains("What it names is not in the production code yet. Define it there."));
    let none = [file("tests/b.rs", "", Sort::Test)];
    assert!(brief(&none, &target).contains("There is no production code yet: write the first file of it."));
    let ran = Target { cause: Cause::Assertion, ..target.clone() };
    assert!(!brief(&one, &ran).contains("What it names"));
}

#[test]
fn files_come_in_the_order_of_their_relevance_however_they_are_given() {
    let (context, mut files, target) = (context(&TREE), files(), target());
    let write =
        |files: &[File]| Brief { context: &context, files, target: Some(&target), order: Order::Stable }.write(100_000);
    let first = write(&files);
    files.reverse();
    assert_eq!(write(&files), first);
    let sections: Vec<_> = order(&first.text).into_iter().filter(|line| line.starts_with("## ")).collect();
    assert_eq!(sections, ["## tests/b.rs", "## src/new.rs", "## tests/a.rs", "## src/lib.rs", "## Cargo.toml"]);
}

#[test]
fn a_file_that_is_not_in_the_tree_is_never_shown() {
    let (context, files) = (context(&TREE), files());
    let written = Brief { context: &context, files: &files, target: None, order: Order::Stable }.write(100_000);
    assert!(!written.text.contains("secret") && !written.text.contains("ignored"));
}

#[test]
fn whole_files_go_before_anything_is_cut_and_are_named() {
    let context = context(&["tests/b.rs", "src/lib.rs"]);
    let files = [file("src/lib.rs", &"x".repeat(2_000), Sort::Production), file("tests/b.rs", "// b", Sort::Test)];
    let written = Brief { context: &context, files: &files, target: None, order: Order::Stable }.write(1_000);
    assert_eq!((written.omitted, written.longest), (vec!["src/lib.rs".to_owned()], 2_000));
    assert!(written.text.contains("ask for the files that you need: `src/lib.rs`\n") && written.text.contains("// b"));
    assert!(written.text.len() <= 1_000 && !written.text.contains("left out"));
}

#[test]
fn a_kata_that_fits_stays_whole_though_thousands_of_files_do_not() {
    let paths: Vec<String> = (0..2_000).map(|n| format!("src/{n}.rs")).collect();
    let files: Vec<File> = paths.iter().map(|path| file(path, &"x".repeat(500), Sort::Production)).collect();
    let kata_description = "k".repeat(20_000);
    let context = StepContext { kata_description, repo_snapshot_paths: Arc::new(paths), ..context(&[]) };
    for budget in [48_000, 60_000] {
        let written = Brief { context: &context, files: &files, target: None, order: Order::Stable }.write(budget);
        assert!(written.text.contains(&context.kata_description) && written.text.len() <= budget);
        assert!(!written.omitted.is_empty() && written.text.contains("because there is no room"));
    }
}

#[test]
fn of_thousands_of_files_the_sources_are_named_and_shown_first() {
    let paths: Vec<String> = (0..20_000).map(|n| format!("data/{n}.txt")).chain(["src/lib.rs".to_owned()]).collect();
    let files = [file("data/0.txt", "zero", Sort::Document), file("src/lib.rs", "pub fn add() {}", Sort::Production)];
    let context = StepContext { repo_snapshot_paths: Arc::new(paths), ..context(&[]) };
    let written = Brief { context: &context, files: &files, target: None, order: Order::Stable }.write(400_000);
    assert!(written.text.contains("# Files\n\n- src/lib.rs\n- data/0.txt\n- data/1.txt\n"), "{}", &written.text[..300]);
    assert!(written.text.contains("pub fn add() {}") && written.omitted.is_empty());
    let named = written.text.lines().filter(|line| line.starts_with("- ")).count();
    assert!(written.text.contains(&format!("[… {} files more …]\n", 20_001 - named)) && named > 500);
    assert!(written.text.len() < 20_000);
}

#[test]
fn without_any_room_the_longest_parts_are_cut_with_a_mark() {
    let context = StepContext { kata_description: "é".repeat(5_000), ..context(&TREE) };
    let (files, target) = (files(), target());
    let written = Brief { context: &context, files: &files, target: Some(&target), order: Order::Stable }.write(2_000);
    assert!(written.text.len() <= 2_000 && written.text.contains("bytes left out"));
    assert!(written.text.contains("`tests/b.rs::adds` fails (missing-symbol)"));
    assert!(written.text.contains("No file is shown"));
    assert_eq!(written.omitted.len(), 5);
}

#[test]
fn a_file_cannot_close_its_own_fence() {
    assert_eq!(fenced("md", "a\n````\nb"), "`````md\na\n````\nb\n`````");
    assert_eq!(fenced("", "x"), "```\nx\n```");
}

#[test]
fn the_end_of_a_brief_changes_before_its_beginning() {
    let (context, files, mut target) = (context(&TREE), files(), target());
    let before =
        Brief { context: &context, files: &files, target: Some(&target), order: Order::Stable }.write(100_000).text;
    target.output = "something else".to_owned();
    let after =
        Brief { context: &context, files: &files, target: Some(&target), order: Order::Stable }.write(100_000).text;
    let same = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
    assert!(before[..same].contains("# Last commit"));
}

#[test]
fn open_requirements_stand_near_the_end_and_shrink_with_the_budget() {
    let kata = "1. An empty text is 0.\n2. Numbers are added: `add(\"1,2\")` is 3.\n";
    let progress = tdd_core::requirements::Requirements::of(kata).progress(&[], &[]);
    let context = StepContext { progress: Some(progress), kata_description: kata.to_owned(), ..context(&TREE) };
    let (files, target) = (files(), target());
    let brief = |budget| {
        Brief { context: &context, files: &files, target: Some(&target), order: Order::Stable }.write(budget).text
    };
    let whole = brief(100_000);
    let headings: Vec<&str> = order(&whole).into_iter().filter(|line| line.starts_with("# ")).collect();
    assert_eq!(headings, ["# Kata", "# Files", "# Last commit", "# Requirements", "# The failing test"]);
    assert!(
        whole.contains("\n2. Numbers are added: `add(\"1,2\")` is 3.\n\nNext example that no test has yet:"),
        "{whole}"
    );
    let little = brief(900);
    assert!(little.contains("# Requirements\n\nNext example that no test has yet: `add(\"1,2\")` is 3\n"), "{little}");
    assert!(!brief(600).contains("# Requirements"), "{}", brief(600));
}

proptest! {
    #[test]
    fn a_brief_keeps_its_budget_and_is_the_same_twice(
        kata in "(?s).{0,300}", text in "(?s).{0,300}", diff in "(?s).{0,200}", output in "(?s).{0,200}",
        path in "[a-zé/`]{1,20}", budget in 0_usize..1_500
    ) {
        let progress = Some(tdd_core::requirements::Requirements::of(&kata).progress(&[], &[]));
        let context = StepContext { kata_description: kata, git_last_diff: diff, progress, ..context(&[&path, "b"]) };
        let files = [file(&path, &text, Sort::Production), file("b", &text, Sort::Test)];
        let target = Target { output, ..target() };
        let brief = Brief { context: &context, files: &files, target: Some(&target), order: Order::Stable };
        let written = brief.write(budget);
        prop_assert!(written.text.len() <= budget, "{} > {budget}", written.text.len());
        prop_assert_eq!(brief.write(budget), written);
    }
}

#[test]
fn a_short_brief_shows_the_code_last_and_no_list_of_files() {
    let (context, target) = (context(&TREE), target());
    let brief = Brief { context: &context, files: &files(), target: Some(&target), order: Order::CodeLast };
    let text = brief.write(10_000).text;
    let places = ["# Kata", "# The failing test", "# Files", "## tests/b.rs", "## tests/a.rs", "## src/lib.rs"];
    let found: Vec<usize> = places.iter().map(|place| text.find(place).unwrap()).collect();
    assert!(found.is_sorted() && !text.contains("- src/lib.rs"), "{text}");
}

#[test]
fn an_implementor_who_answers_in_files_sees_a_test_only_if_it_names_what_is_missing() {
    let red = |cause| tdd_core::cycle::RedTest::proven(target().id, cause).unwrap();
    let shown = |cause: Cause| {
        let turn = Turn::Green { tests: vec![red(cause)], attempt: 1 };
        let context = StepContext { turn, target: Some(Target { cause, ..target() }), ..context(&TREE) };
        let mut files = files();
        let short = short(&context, &mut files, AnswerFormat::Files).unwrap();
        assert!(short.git_last_commit_msg.is_empty());
        files.iter().any(|file| file.sort == Sort::Test)
    };
    assert_eq!((shown(Cause::Assertion), shown(Cause::MissingSymbol)), (false, true));
}
