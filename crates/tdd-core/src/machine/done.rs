//! Checks a tester's claim that the kata is done: every requirement needs a passing test.

use std::collections::BTreeSet;

use crate::report::{Outcome, Report};
use crate::rule::{Refusal, Rule};
use crate::seam::{Done, StepResult};
use crate::test_id::TestId;

/// Most passing tests that a refusal lists.
const MAX_NAMED: usize = 20;

/// Refuses if a named test does not pass, or if fewer requirements are named than the kata numbers.
pub(super) fn judge(plan: &StepResult, report: &Report, kata: &str) -> Result<(), Refusal> {
    if let Some(unproven) = plan.done.iter().find(|done| !passes(report, &done.test_id)) {
        let Done { requirement, test_id } = unproven;
        let reason = format!("`{test_id}` is named as the test of \"{requirement}\", but it does not pass");
        let next = format!("name tests that exist and pass, or write the missing test; {}", there(report));
        return Err(Rule::TargetPasses.refuse(reason, next));
    }
    let named: BTreeSet<String> = plan.done.iter().map(|done| done.requirement.to_lowercase()).collect();
    let asked = numbered(kata);
    if named.len() < asked {
        let reason =
            format!("the kata numbers {asked} requirements, but only {} named with a test", count(named.len()));
        let next = "name a passing test for each of them, or write the missing test";
        return Err(Rule::TargetPasses.refuse(reason, next));
    }
    Ok(())
}

/// Whether this test passes. A bare name is enough if only one test has it.
fn passes(report: &Report, id: &TestId) -> bool {
    let mut named = report.results().filter(|result| result.id.name() == Some(id.as_str()));
    let meant = report.get(id).or_else(|| named.next().filter(|_| named.next().is_none()));
    meant.is_some_and(|result| result.outcome == Outcome::Pass)
}

fn there(report: &Report) -> String {
    let passing = report.results().filter(|result| result.outcome == Outcome::Pass);
    let names: Vec<String> = passing.take(MAX_NAMED).map(|result| format!("`{}`", result.id)).collect();
    if names.is_empty() { "none passes".to_owned() } else { format!("these pass: {}", names.join(", ")) }
}

fn count(named: usize) -> String {
    if named == 1 { "1 was".to_owned() } else { format!("{named} were") }
}

/// How many requirements the kata numbers: `1.` or `1)` at the start of a line, outside of code.
fn numbered(kata: &str) -> usize {
    let mut in_code = false;
    let mut found = 0;
    for line in kata.lines() {
        in_code ^= line.trim_start().starts_with("```");
        let (digits, rest) = line.split_at(line.bytes().take_while(u8::is_ascii_digit).count());
        let is_item = !digits.is_empty() && (rest.starts_with(". ") || rest.starts_with(") "));
        found += usize::from(is_item && !in_code);
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::report::{Cause, TestResult};

    use super::*;

    const KATA: &str = "# Adder\n\n1. An empty text is 0.\n   2. not by itself\n2) One number is itself.\n\n\
                        ```text\n3. no\n```\n\n12.5 is no item\n";

    fn report() -> Report {
        let fails = Outcome::Fail { cause: Cause::Assertion, message: String::new() };
        let result = |path: &str, name: &str, outcome| TestResult::new(TestId::native(path, name), outcome, 1);
        let twice = [result("a.py", "twice", Outcome::Pass), result("b.py", "twice", Outcome::Pass)];
        let others = [result("a.py", "empty", Outcome::Pass), result("a.py", "wrong", fails)];
        Report::new(twice.into_iter().chain(others), Vec::new())
    }

    fn said(done: &[(&str, &str)]) -> String {
        let entry = |(requirement, test): &(&str, &str)| Done {
            requirement: (*requirement).to_owned(),
            test_id: TestId::parse(test).unwrap(),
        };
        let plan = StepResult { done: done.iter().map(entry).collect(), ..StepResult::default() };
        judge(&plan, &report(), KATA).map_or_else(|refusal| refusal.reason, |()| "done".to_owned())
    }

    #[test]
    fn a_kata_is_done_when_every_numbered_requirement_has_a_test_that_passes() {
        assert_eq!(said(&[("1", "a.py::empty"), ("2", "a.py::twice")]), "done");
        assert_eq!(said(&[("1", "empty"), ("2", "empty"), ("3", "empty")]), "done");
        let few = "the kata numbers 2 requirements, but only 1 was named with a test";
        assert_eq!(said(&[("An empty text", "a.py::empty")]), few);
        assert_eq!(said(&[("Empty", "a.py::empty"), ("empty", "a.py::twice")]), few);
    }

    #[test]
    fn a_test_that_fails_or_is_not_there_or_may_be_another_pins_nothing() {
        for test in ["a.py::wrong", "wrong", "a.py::nowhere", "nowhere", "twice"] {
            assert!(said(&[("1", test), ("2", "empty")]).ends_with("but it does not pass"), "{test}");
        }
    }

    #[test]
    fn who_names_none_that_is_there_is_told_what_is() {
        let done = vec![Done { requirement: "1".to_owned(), test_id: TestId::native("a.py", "nowhere") }];
        let refused = judge(&StepResult { done, ..StepResult::default() }, &report(), KATA).unwrap_err();
        let next = "name tests that exist and pass, or write the missing test; these pass: \
                    `a.py::empty`, `a.py::twice`, `b.py::twice`";
        assert_eq!(refused.next, next);
    }
}
