//! Judges the check command against its output before the change: only new complaints count.

use std::collections::BTreeMap;

use crate::command::Exit;
use crate::law::RuleResult;
use crate::report::Cause;
use crate::rule::{Refusal, Rule};

/// The result of the check command, or of the command that verifies refactor mode.
#[derive(Clone, Copy, Debug)]
pub struct CheckSeen<'a> {
    /// The command, as one line.
    pub command: &'a str,
    /// How it ended.
    pub exit: &'a Exit,
    /// Its whole output.
    pub said: &'a str,
    /// Its output without the change, if it failed there, too.
    pub before: Option<&'a str>,
    /// It changed project files, so it verified nothing.
    pub changed_files: bool,
}

/// The check passes, or repeats only complaints from before the change.
pub fn passes(seen: &CheckSeen<'_>) -> RuleResult {
    let refuse = |how: &str, next: &str| Rule::CheckPasses.refuse(format!("`{}` {how}", seen.command), next);
    match seen.exit {
        Exit::Passed if seen.changed_files => {
            let reason = format!("`{}` changed the project's files, so nothing was verified", seen.command);
            Err(Rule::SameTree.refuse(reason, "make it leave the project's files alone"))
        }
        Exit::Passed => Ok(()),
        Exit::Failed(_) => failed(seen),
        Exit::Signalled(signal) => {
            Err(refuse(&format!("was killed by signal {signal}"), "mend it").because(Cause::Crash))
        }
        Exit::TimedOut => {
            Err(refuse("did not finish before its timeout", "raise `ci.build_timeout_secs`").because(Cause::Timeout))
        }
        Exit::Interrupted => Err(refuse("was interrupted", "run it again")),
        Exit::NotStarted(why) => {
            let next = "install it, or change the command in `tdd.yaml`";
            Err(refuse(&format!("could not be started: {why}"), next).because(Cause::RunnerMissing))
        }
    }
}

fn failed(seen: &CheckSeen<'_>) -> RuleResult {
    let now = complaints(seen.said);
    let Some(before) = seen.before else { return Err(refusal(seen.command, now.first().copied())) };
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for complaint in complaints(before) {
        *known.entry(without_places(complaint)).or_default() += 1;
    }
    let mut is_new = |line: &&&str| match known.get_mut(&without_places(line)) {
        Some(left) if *left > 0 => {
            *left -= 1;
            false
        }
        Some(_) | None => true,
    };
    match now.iter().find(|line| is_new(line)) {
        Some(new) => Err(refusal(seen.command, Some(new))),
        // If no complaint can be recognized, only the same output counts as the same complaint.
        None if now.is_empty() && without_places(seen.said) != without_places(before) => {
            Err(refusal(seen.command, None))
        }
        None => Ok(()),
    }
}

fn refusal(command: &str, first: Option<&str>) -> Refusal {
    Rule::CheckPasses.refuse(format!("`{command}` fails{}", quoted(first)), "fix what it complains about")
}

fn quoted(line: Option<&str>) -> String {
    line.map(|line| format!(": {line}")).unwrap_or_default()
}

/// The complaints in an output: the lines that start with `error`, or, if there are none, the lines that name a place.
/// Summary lines do not count.
fn complaints(output: &str) -> Vec<&str> {
    let is_sum = |line: &str| line.starts_with("error: could not compile") || line.starts_with("error: aborting");
    let lines = || output.lines().map(str::trim).filter(|line| !is_sum(line));
    let errors: Vec<&str> = lines().filter(|line| line.starts_with("error")).collect();
    if errors.is_empty() { lines().filter(|line| names_a_place(line)).collect() } else { errors }
}

/// Whether a line holds something like `a.go:5:14: …`.
fn names_a_place(line: &str) -> bool {
    let word = |part: &str| part.contains('.') && !part.ends_with('.');
    let number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = line.split(':').map(str::trim).collect();
    parts.windows(2).any(|pair| word(pair[0]) && number(pair[1]))
}

/// Drops all digits, so that a complaint on another line number is still the same.
fn without_places(line: &str) -> String {
    line.chars().filter(|c| !c.is_ascii_digit()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asserts the reason of the refusal, or `passes`.
    fn check(said: &str, before: Option<&str>, expected: &str) {
        let exit = Exit::Failed(1);
        let seen = CheckSeen { command: "lint", exit: &exit, said, before, changed_files: false };
        assert_eq!(passes(&seen).map_or_else(|refusal| refusal.reason, |()| "passes".to_owned()), expected);
    }

    #[test]
    fn what_passed_before_is_the_changes_fault() {
        check("error: unused\nerror: other", None, "`lint` fails: error: unused");
        check("what else", None, "`lint` fails");
    }

    #[test]
    fn of_several_complaints_the_new_one_is_told() {
        let before = "error: a.py:3:1: F401 unused\nerror: could not compile `a` due to 1 previous error";
        let said = "error: a.py:7:1: F401 unused\nerror: b.py:1:1: E999\nerror: could not compile `a`";
        check(said, Some(before), "`lint` fails: error: b.py:1:1: E999");
    }

    #[test]
    fn a_line_that_names_a_place_is_a_complaint_where_nobody_says_error() {
        let before = "# calc\nvet: ./sum_test.go:11:5: undefined: Mul";
        let said = "# calc\n# [calc]\n./bad.go:5:14: fmt.Printf format %d has arg \"x\" of wrong type string";
        let new = "`lint` fails: ./bad.go:5:14: fmt.Printf format %d has arg \"x\" of wrong type string";
        check(said, Some(before), new);
        check(said, None, new);
        check(&said.replace(":5:14:", ":9:14:"), Some(said), "passes");
    }

    #[test]
    fn a_complaint_that_was_there_before_refuses_nothing() {
        let old = "error: a.py:3:1: F401 unused";
        check("error: a.py:9:1: F401 unused\nerror: aborting due to 2 previous errors", Some(old), "passes");
        check("no 7 words", Some("no 8 words"), "passes");
        check("not in our words", Some("nor here"), "`lint` fails");
    }

    #[test]
    fn the_same_complaint_once_more_is_new() {
        let old = "error: a.py:3:1: F401 unused";
        let said = "error: a.py:3:1: F401 unused\nerror: a.py:9:1: F401 unused";
        check(said, Some(old), "`lint` fails: error: a.py:9:1: F401 unused");
    }

    #[test]
    fn a_command_that_cannot_be_run_is_not_the_changes_fault() {
        let exit = Exit::NotStarted("no such file".to_owned());
        let seen = CheckSeen { command: "lint", exit: &exit, said: "", before: None, changed_files: false };
        assert_eq!(passes(&seen).unwrap_err().cause, Some(Cause::RunnerMissing));
        let seen = CheckSeen { exit: &Exit::Passed, changed_files: true, ..seen };
        assert_eq!(passes(&seen).unwrap_err().rule, Rule::SameTree);
    }
}
