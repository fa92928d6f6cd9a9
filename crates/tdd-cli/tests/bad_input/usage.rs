//! Tests invalid command lines and the help.

use crate::machine::Machine;

snapshots! {
    a_command_that_is_not_built_yet_is_refused => Machine::new().refused(&["watch"]);
    an_unknown_option_is_refused => Machine::new().refused(&["status", "--steps", "3"]);
    an_unknown_format_is_refused => Machine::new().says(&["status", "--format", "xml"]);
    an_unknown_event_type_is_refused_with_the_known_ones => Machine::ready().refused(&["log", "--type", "nonsense"]);
    a_manual_of_an_unknown_command_is_refused => Machine::new().refused(&["man", "nonsense"]);
}

#[test]
fn no_command_at_all_shows_the_help_and_fails() {
    let output = Machine::new().output(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("Usage: tdd-cli"));
}

/// The commands that `--help` lists.
fn commands(machine: &Machine) -> Vec<String> {
    let help = String::from_utf8(machine.output(&["--help"]).stdout).expect("text");
    let (_, list) = help.split_once("Commands:\n").expect("a list of commands");
    list.lines().map_while(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn every_command_has_a_help_with_an_example() {
    let machine = Machine::new();
    let commands = commands(&machine);
    let gates = ["validate-red", "validate-green", "validate-refactor"];
    let person = ["refactor", "plan", "program", "resume", "retire", "override"];
    let rest = ["log", "export", "completions", "man"];
    let first = ["demo", "init", "run", "step", "status", "doctor", "eval", "check", "commit", "prove", "auto-test"];
    let expected = [&first[..], &gates, &["detect-antipattern", "audit"], &person, &rest].concat();
    assert_eq!(commands, expected);
    for command in &commands {
        let output = machine.output(&[command, "--help"]);
        let help = String::from_utf8_lossy(&output.stdout);
        let example = format!("tdd-cli {command}");
        let examples = help.split_once("Example").map_or("", |(_, examples)| examples);
        let shown = examples.contains(&example) || examples.contains(&format!(" {command}"));
        assert!(output.status.success() && shown, "{help}");
    }
}

#[test]
fn colours_are_for_terminals_and_for_those_who_ask() {
    let machine = Machine::ready();
    for args in [&["status"][..], &["log"], &["--help"], &["status", "-C", "missing"], &["nonsense"]] {
        let output = machine.output(args);
        assert!(!output.stdout.contains(&0x1b) && !output.stderr.contains(&0x1b), "{args:?}");
    }
    for args in [["status", "--color", "always"], ["log", "--color", "always"]] {
        assert!(machine.output(&args).stdout.contains(&0x1b), "{args:?}");
    }
    assert!(machine.output(&["status", "-C", "missing", "--color", "always"]).stderr.contains(&0x1b));
    let json = machine.output(&["status", "--color", "always", "--format", "json"]);
    assert!(!json.stdout.contains(&0x1b), "JSON has no colours");
}
