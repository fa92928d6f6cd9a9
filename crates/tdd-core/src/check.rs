//! Judges a check that fails beside what it said before the change: only what is new is the change's fault.

use std::collections::BTreeSet;

use crate::rule::{Refusal, Rule};

/// The refusal of a change on which the check fails. `before` is what it said without the change, if it failed there.
pub fn refuse(command: &str, said: &str, before: Option<&str>) -> Refusal {
    let complaints_now = complaints(said);
    let first = complaints_now.first().copied();
    let Some(before) = before else { return of_change(command, first) };
    let known: BTreeSet<String> = complaints(before).into_iter().map(without_places).collect();
    let new = complaints_now.iter().find(|line| !known.contains(&without_places(line)));
    match new {
        Some(new) => of_change(command, Some(new)),
        // Where we cannot tell what is complained of, only the same words are the same complaint.
        None if first.is_none() && without_places(said) != without_places(before) => of_change(command, None),
        None => of_before(command, first),
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

/// What is complained of, one line each: lines that say that they are errors, or, where there are none, those that name a
/// place. How many there were in the end is no complaint.
fn complaints(said: &str) -> Vec<&str> {
    let is_sum = |line: &str| line.starts_with("error: could not compile") || line.starts_with("error: aborting");
    let lines = || said.lines().map(str::trim).filter(|line| !is_sum(line));
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
    fn a_line_that_names_a_place_is_a_complaint_where_nobody_says_error() {
        let before = "# calc\nvet: ./sum_test.go:11:5: undefined: Mul";
        let said = "# calc\n# [calc]\n./bad.go:5:14: fmt.Printf format %d has arg \"x\" of wrong type string";
        let new = "`lint` fails: ./bad.go:5:14: fmt.Printf format %d has arg \"x\" of wrong type string";
        check(said, Some(before), new);
        check(said, None, new);
        let moved = said.replace(":5:14:", ":9:14:");
        assert!(refuse("lint", &moved, Some(said)).reason.contains("failed before this change too: ./bad.go:9:14"));
    }

    #[test]
    fn what_failed_before_is_said_to_be_old_and_has_a_way_out() {
        let old = "error: a.py:3:1: F401 unused";
        let said = "error: a.py:9:1: F401 unused\nerror: aborting due to 2 previous errors";
        check(said, Some(old), "`lint` fails, and failed before this change too: error: a.py:9:1: F401 unused");
        check("no 7 words", Some("no 8 words"), "`lint` fails, and failed before this change too");
        check("not in our words", Some("nor here"), "`lint` fails");
        assert!(refuse("lint", said, Some(old)).next.contains("override --rule check-passes"));
    }
}
