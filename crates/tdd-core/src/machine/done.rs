//! Checks a tester's claim that the kata is done: every requirement needs a passing test.

use std::collections::BTreeSet;

use crate::report::{Outcome, Report};
use crate::requirements::{Layout, Progress, Requirements, Standing, TestText};
use crate::rule::{Refusal, Rule};
use crate::seam::{Done, StepResult};
use crate::test_id::TestId;

/// Most passing tests that a refusal lists.
const MAX_NAMED: usize = 20;
/// Most open requirements that a refusal quotes.
const MAX_QUOTED: usize = 5;

/// The machine's own list of what the kata asks for, and what is known about it.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub requirements: &'a Requirements,
    /// The passing tests.
    pub tests: &'a [TestText],
    /// What testers named before, with tests that pass.
    pub named: &'a [Done],
}

/// Refuses if a named test does not pass, or if a requirement has neither a named test nor one that seems to be about
/// it. Returns how many requirements have a test. A kata without a list needs a test for each of its examples instead.
pub(super) fn judge(plan: &StepResult, report: &Report, known: Known<'_>) -> Result<usize, Refusal> {
    if let Some(unproven) = plan.done.iter().find(|done| !passes(report, &done.test_id)) {
        let Done { requirement, test_id } = unproven;
        let reason = format!("`{test_id}` is named as the test of \"{requirement}\", but it does not pass");
        let next = format!("name tests that exist and pass, or write the missing test; {}", there(report));
        return Err(Rule::TargetPasses.refuse(reason, next));
    }
    let named = [known.named, &plan.done].concat();
    let progress = known.requirements.progress(known.tests, &named);
    let claims: BTreeSet<String> = named.iter().map(|done| done.requirement.to_lowercase()).collect();
    let unmatched = claims.iter().filter(|claim| known.requirements.meant_by(claim).is_none()).count();
    let (open, all) = (progress.open().count(), progress.requirements.len());
    // A tester may name requirements in words of its own: then the number of names counts.
    let is_named = claims.len() >= all || unmatched >= open;
    match progress.layout {
        Layout::Numbered | Layout::Bulleted if is_named => Ok(all.max(claims.len())),
        Layout::Numbered | Layout::Bulleted => Err(requirements_open(&progress)),
        Layout::Prose if unmatched >= progress.examples.len() => Ok(claims.len()),
        Layout::Prose => Err(examples_open(&progress)),
    }
}

fn requirements_open(progress: &Progress) -> Refusal {
    let open: Vec<&Standing> = progress.open().collect();
    let quoted: Vec<String> =
        open.iter().take(MAX_QUOTED).map(|it| format!("{}. \"{}\"", it.number, it.text)).collect();
    let more = open.len().saturating_sub(MAX_QUOTED);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let reason = format!(
        "of the kata's {} requirements, {} to have no test yet: {}{more}",
        progress.requirements.len(),
        if open.len() == 1 { "1 seems".to_owned() } else { format!("{} seem", open.len()) },
        quoted.join("; ")
    );
    let next = "write a test for the first of them; if a test that passes is about one of them already, name both in \
                `done`, the requirement by its number";
    Rule::TargetPasses.refuse(reason, format!("{next}{}", next_example(progress)))
}

fn examples_open(progress: &Progress) -> Refusal {
    let quoted: Vec<&str> = progress.examples.iter().take(MAX_QUOTED).map(String::as_str).collect();
    let more = progress.examples.len().saturating_sub(MAX_QUOTED);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let reason = format!("examples of the kata seem to have no test yet: {}{more}", quoted.join("; "));
    let next = "write a test for the first of them; if a test that passes is about it already, name both in `done`, the \
                example in the kata's words";
    Rule::TargetPasses.refuse(reason, next)
}

/// The next example that no test has yet, as a clause.
fn next_example(progress: &Progress) -> String {
    progress.examples.first().map_or(String::new(), |next| format!("; next example that no test has yet: {next}"))
}

/// Whether this test passes. A bare name is enough if only one test has it.
pub(super) fn passes(report: &Report, id: &TestId) -> bool {
    let mut named = report.results().filter(|result| result.id.name() == Some(id.as_str()));
    let meant = report.get(id).or_else(|| named.next().filter(|_| named.next().is_none()));
    meant.is_some_and(|result| result.outcome == Outcome::Pass)
}

fn there(report: &Report) -> String {
    let passing = report.results().filter(|result| result.outcome == Outcome::Pass);
    let names: Vec<String> = passing.take(MAX_NAMED).map(|result| format!("`{}`", result.id)).collect();
    if names.is_empty() { "none passes".to_owned() } else { format!("these pass: {}", names.join(", ")) }
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

    fn said_of(kata: &str, done: &[(&str, &str)]) -> String {
        let entry = |(requirement, test): &(&str, &str)| Done {
            requirement: (*requirement).to_owned(),
            test_id: TestId::parse(test).unwrap(),
        };
        let plan = StepResult { done: done.iter().map(entry).collect(), ..StepResult::default() };
        let requirements = Requirements::of(kata);
        let known = Known { requirements: &requirements, tests: &[], named: &[] };
        judge(&plan, &report(), known).map_or_else(|refusal| refusal.reason, |count| format!("done: {count}"))
    }

    fn said(done: &[(&str, &str)]) -> String {
        said_of(KATA, done)
    }

    #[test]
    fn a_kata_is_done_when_every_listed_requirement_has_a_test_that_passes() {
        assert_eq!(said(&[("1", "a.py::empty"), ("2", "a.py::twice")]), "done: 2");
        assert_eq!(said(&[("1", "empty"), ("2", "empty"), ("3", "empty")]), "done: 3");
        assert_eq!(said(&[("nothing in it", "empty"), ("the other one", "empty")]), "done: 2", "in words of its own");
        let open = "of the kata's 2 requirements, 1 seems to have no test yet: 2. \"One number is itself.\"";
        assert_eq!(said(&[("An empty text", "a.py::empty")]), open);
        assert_eq!(said(&[("Empty", "a.py::empty"), ("empty", "a.py::twice")]), open);
    }

    #[test]
    fn the_first_open_requirements_are_quoted_and_the_others_counted() {
        let items: Vec<String> = (1..=9).map(|n| format!("- Rule {n} holds: `f({n}0)` is {n}.")).collect();
        let kata = items.join("\n");
        let requirements = Requirements::of(&kata);
        let known = Known { requirements: &requirements, tests: &[], named: &[] };
        let done = vec![Done { requirement: "1".to_owned(), test_id: TestId::native("a.py", "empty") }];
        let refused = judge(&StepResult { done, ..StepResult::default() }, &report(), known).unwrap_err();
        let quoted: Vec<String> = (2..=6).map(|n| format!("{n}. \"Rule {n} holds: `f({n}0)` is {n}.\"")).collect();
        let reason =
            format!("of the kata's 9 requirements, 8 seem to have no test yet: {}; and 3 more", quoted.join("; "));
        assert_eq!(refused.reason, reason);
        assert!(refused.next.ends_with("; next example that no test has yet: `f(20)` is 2"), "{}", refused.next);
    }

    #[test]
    fn what_was_named_before_need_not_be_named_again() {
        let requirements = Requirements::of(KATA);
        let entry = |requirement: &str| {
            vec![Done { requirement: requirement.to_owned(), test_id: TestId::native("a.py", "empty") }]
        };
        let named = entry("1");
        let known = Known { requirements: &requirements, tests: &[], named: &named };
        assert_eq!(judge(&StepResult { done: entry("2"), ..StepResult::default() }, &report(), known), Ok(2));
    }

    #[test]
    fn a_kata_without_a_list_needs_a_test_for_each_example() {
        assert_eq!(said_of("It should add.", &[("adds", "empty")]), "done: 1");
        let kata = "Numbers should be added: \"1,2\" becomes 3.\n\n## Examples\n\n`add(\"4\")` is 4.\n";
        let open = "examples of the kata seem to have no test yet: \"1,2\" becomes 3; `add(\"4\")` is 4";
        assert_eq!(said_of(kata, &[("something", "empty")]), open);
        assert_eq!(said_of(kata, &[("numbers are added", "empty"), ("add(\"4\") is 4", "empty")]), "done: 2");
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
        let requirements = Requirements::of(KATA);
        let known = Known { requirements: &requirements, tests: &[], named: &[] };
        let refused = judge(&StepResult { done, ..StepResult::default() }, &report(), known).unwrap_err();
        let next = "name tests that exist and pass, or write the missing test; these pass: \
                    `a.py::empty`, `a.py::twice`, `b.py::twice`";
        assert_eq!(refused.next, next);
    }
}
