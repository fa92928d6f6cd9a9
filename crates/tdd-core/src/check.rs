//! Judges a check that fails beside what it said before the change: only what is new is the change's fault.

use std::collections::BTreeSet;

use crate::rule::{Refusal, Rule};

/// The refusal of a change on which the check fails. `before` is what it said without the change, if it failed there.
pub fn refuse(command: &str, said: &str, before: Option<&str>) -> Refusal {
    let Some(before) = before else {
        return of_change(command, complaints(said).next());
    };
    let known: BTreeSet<String> = complaints(before).map(without_places).collect();
    let mut new = complaints(said).filter(|line| !known.contains(&without_places(line)));
    match new.next() {
        Some(new) => of_change(command, Some(new)),
        None => of_before(command, complaints(said).next()),
    }
}

fn of_change(command: &str, first: Option<&str>) -> Refusal {
    Rule::CheckPasses.refuse(format!("`{command}` fails{}", quoted(first)), "mend what it complains about")
}

fn of_before(command: &str, first: Option<&str>) -> Refusal {
    let reason = format!("`{command}` fails, and failed before this change too{}", quoted(first));
    let next = "mend that first, in a commit of its own; or make an exception for a while: \
                `tdd-cli override --rule check-passes --reason \"…\"`";
    Rule::CheckPasses.refuse(reason, next)
}

fn quoted(line: Option<&str>) -> String {
    line.map(|line| format!(": {line}")).unwrap_or_default()
}

/// What is complained of, one line each; how many there were in the end is no complaint.
fn complaints(said: &str) -> impl Iterator<Item = &str> {
    let is_sum = |line: &&str| line.starts_with("error: could not compile") || line.starts_with("error: aborting");
    said.lines().map(str::trim).filter(|line| line.starts_with("error")).filter(move |line| !is_sum(line))
}

/// A complaint moves with the lines above it, and is the same all the same.
fn without_places(line: &str) -> String {
    line.chars().filter(|c| !c.is_ascii_digit()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(said: &str, before: Option<&str>, expected: &str) {
        assert_eq!(refuse("lint", said, before).reason, expected);
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
    fn what_failed_before_is_said_to_be_old_and_has_a_way_out() {
        let old = "error: a.py:3:1: F401 unused";
        let said = "error: a.py:9:1: F401 unused\nerror: aborting due to 2 previous errors";
        check(said, Some(old), "`lint` fails, and failed before this change too: error: a.py:9:1: F401 unused");
        check("not in our words", Some("nor here"), "`lint` fails, and failed before this change too");
        assert!(refuse("lint", said, Some(old)).next.contains("override --rule check-passes"));
    }
}
