//! Tests that with `-q` every command prints one line, its errors, or the requested content.

use std::collections::BTreeSet;
use std::fs;

use serde_json::json;
use tdd_fixtures::Sandbox;
use tdd_fixtures::script::Script;
use tdd_fixtures::server::edit_plan;

use super::{RIGHT, SKIPPED, TEST, WRONG, run, said};

/// What a command may print with `-q`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    /// One line.
    OneLine,
    /// The problems, each with its fix.
    Errors,
    /// The requested content: a list, a page, a script.
    Content,
}

use Says::{Content, Errors, OneLine};

/// The output of all commands, row by row.
struct Table {
    sandbox: Sandbox,
    text: String,
    commands: BTreeSet<String>,
}

impl Table {
    fn row(&mut self, arguments: &[&str], says: Says) {
        let output = run(&self.sandbox, &[&["-q"], arguments].concat());
        let told = said(&output);
        let lines = told.lines().count();
        let fits = match says {
            OneLine => lines == 1,
            Errors | Content => lines > 0,
        };
        assert!(fits, "{arguments:?} says {lines} lines: {told}");
        let whole = run(&self.sandbox, arguments);
        let code = output.status.code();
        // If the command changed something, the second run may end differently; otherwise it must print at least as
        // much.
        if whole.status.code() == code {
            assert!(told.len() <= said(&whole).len() || lines == 1, "{arguments:?} says more when it is quiet: {told}");
        }
        let shown = if says == Content { format!("[{} on request]\n", arguments[0]) } else { told };
        self.text += &format!("$ tdd-cli -q {}\n{shown}exit {}\n\n", arguments.join(" "), code.unwrap_or(-1));
        self.commands.insert(arguments[0].to_owned());
    }

    /// A row of a command that changes something, so it runs only once.
    fn deed(&mut self, arguments: &[&str]) {
        let output = run(&self.sandbox, &[&["-q"], arguments].concat());
        let told = said(&output);
        assert_eq!(told.lines().count(), 1, "{arguments:?}: {told}");
        let code = output.status.code().unwrap_or(-1);
        self.text += &format!("$ tdd-cli -q {}\n{told}exit {code}\n\n", arguments.join(" "));
        self.commands.insert(arguments[0].to_owned());
    }

    fn script(&self, script: &Script) {
        fs::write(self.sandbox.outside().join("script.jsonl"), script.cassette()).unwrap();
    }
}

/// A plan with one step, done when its file exists.
const PLAN: &str =
    "---\nphase: 5\nplan: 1\ntype: execute\nmust_haves:\n  truths: []\n  artifacts: [NOTES.md]\n---\n1. Notes\n";

#[test]
fn every_command_is_quiet_when_it_is_told_to() {
    let sandbox = Sandbox::new();
    if !sandbox.has_node() {
        return println!("{SKIPPED}");
    }
    let mut table = Table { sandbox, text: String::new(), commands: BTreeSet::new() };
    table.deed(&["init", "--language", "javascript", "--name", "calc"]);
    table.sandbox.write("src/calc.js", WRONG);
    table.sandbox.write("kata.md", "# Add\n\nTwo numbers are added.\n");
    table.sandbox.commit("feat: code without a test");
    table.sandbox.write("test/calc.test.js", TEST);
    table.row(&["auto-test"], OneLine);
    table.row(&["status"], OneLine);
    table.row(&["doctor", "--offline"], OneLine);
    table.row(&["check"], OneLine);
    table.row(&["validate-red"], OneLine);
    table.row(&["detect-antipattern"], OneLine);
    table.deed(&["commit", "-m", "test: pin addition"]);
    table.sandbox.write("src/calc.js", RIGHT);
    table.row(&["check"], OneLine);
    table.row(&["validate-green"], OneLine);
    table.row(&["validate-refactor"], OneLine);
    table.sandbox.write("src/calc.js", WRONG.replace(" - ", " * "));
    table.row(&["check"], OneLine);
    table.sandbox.write("src/calc.js", RIGHT);
    table.deed(&["commit"]);
    table.row(&["prove", "HEAD~2.."], OneLine);
    table.row(&["audit", "HEAD~2.."], OneLine);
    table.deed(&["refactor", "begin", "--reason", "tidy"]);
    table.deed(&["refactor", "end", "--discard"]);
    table.deed(&["override", "--rule", "check-passes", "--reason", "a lint"]);
    table.row(&["resume"], OneLine);
    table.deed(&["retire", "test/calc.test.js::adds two numbers", "--reason", "no numbers any more"]);
    runs(&mut table);
    programs(&mut table);
    evaluation(&mut table);
    table.row(&["log"], Content);
    table.row(&["export", "triples"], Content);
    table.row(&["completions", "bash"], Content);
    table.row(&["man"], Content);
    fs::create_dir(table.sandbox.outside().join("demo")).unwrap();
    table.deed(&["demo", "reverse-polish", "-C", "../demo"]);
    assert_eq!(untold(&table), BTreeSet::new(), "commands without a row");
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"\b[0-9a-f]{10}\b", "[commit]");
    settings.add_filter(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "[time]");
    settings.add_filter(r"in \d+\.\d\d s", "in [seconds]");
    settings.bind(|| insta::assert_snapshot!(table.text));
}

fn runs(table: &mut Table) {
    let test = TEST.replace("add", "sub").replace("3)", "-1)");
    let code = format!("{RIGHT}{}", WRONG.replace("add", "sub"));
    table.script(&Script::new().writes("1-tester", "test/sub.test.js", &test));
    table.deed(&["run", "--steps", "1", "--replay", "../script.jsonl"]);
    table.script(&Script::new().writes("2-implementor", "src/calc.js", &code));
    table.deed(&["step", "--replay", "../script.jsonl"]);
    table.sandbox.write("plans/05-01.md", PLAN);
    table.row(&["plan", "check", "plans/05-01.md"], OneLine);
    table.sandbox.commit("docs: a plan");
    let notes = json!({"summary": "take notes"});
    let edit = edit_plan(&[("NOTES.md", Some("Adds.\n"))], &notes);
    table.script(&Script::new().plans("3-executor").says("step-3-executor-edit-1", &edit));
    table.deed(&["plan", "run", "plans/05-01.md", "--replay", "../script.jsonl"]);
}

/// One exercise in the project's language, with a recorded answer.
fn evaluation(table: &mut Table) {
    table.sandbox.write("../exercises/sums/instructions.md", "Add two numbers.\n");
    table.sandbox.write("../exercises/sums/stub/src/calc.js", WRONG);
    table.sandbox.write("../exercises/sums/hidden/test/calc.test.js", TEST);
    let answer = format!("src/calc.js\n```js\n{RIGHT}```\n");
    let tape = Script::new().says("one-shot", &answer).cassette();
    table.sandbox.write("../tapes/sums.one-shot.1.jsonl", tape);
    table.row(&["eval", "../exercises", "--arms", "one-shot", "--replay", "../tapes"], OneLine);
}

fn programs(table: &mut Table) {
    table.deed(&["program", "new", "port"]);
    table.row(&["program", "check", "port"], Errors);
    table.row(&["program", "list"], OneLine);
    table.row(&["program", "status", "port"], OneLine);
    table.deed(&["program", "pause", "port", "--reason", "later"]);
    table.deed(&["program", "resume", "port"]);
}

/// The commands that are only in `--help` or only in the table.
fn untold(table: &Table) -> BTreeSet<String> {
    let help = said(&run(&table.sandbox, &["--help"]));
    let (_, list) = help.split_once("Commands:\n").unwrap();
    let listed = list.lines().map_while(|line| line.split_whitespace().next()).map(str::to_owned).collect();
    table.commands.symmetric_difference(&listed).cloned().collect()
}

#[test]
fn errors_are_said_however_quiet_it_is() {
    let sandbox = Sandbox::new();
    let output = run(&sandbox, &["-q", "status"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("error:") && said(&output).contains("try:"), "{}", said(&output));
}

#[test]
fn verbose_says_what_a_verdict_rests_on() {
    let Some(sandbox) = super::red_project() else { return println!("{SKIPPED}") };
    let (usual, more) = (said(&run(&sandbox, &["check"])), said(&run(&sandbox, &["-v", "check"])));
    assert!(more.starts_with(&usual) && more.len() > usual.len(), "{more}");
    assert!(more.contains("0 passed, 1 failed, 0 skipped"), "{more}");
}
