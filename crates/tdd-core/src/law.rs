//! All rules in one table: each rule, the kinds of change it applies to, and the function that checks it.
//!
//! [`TABLE`] is the only list of rules. The gate asks the rows that need no run before anything is written; the
//! pipeline asks the rows about the change, the run, the check, the probes and the code. Rows are asked in table order.

use crate::antipattern::{self, CodeContext};
use crate::change::Change;
use crate::check::{self, CheckSeen};
use crate::config::Gate;
use crate::cycle::Phase;
use crate::gate::GateInput;
use crate::gate::edits;
use crate::gate::request;
use crate::judge::others::{none_removed, others_kept};
use crate::judge::{self, RunFacts};
use crate::proof::{self, Proof};
use crate::rule::{Refusal, Rule, Severity};
use crate::scope;
use crate::strength::{self, Answers};
use crate::test_id::TestId;
use crate::yagni;

/// What a change claims to be. It decides which rules are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A test that fails.
    Red,
    /// A test that passes at once, and whose altered copies fail.
    Characterization,
    /// Production code that makes a red test pass.
    Green,
    /// The tests of a change that brings tests and production code together.
    NewTests,
    /// A doubted test was revised or withdrawn.
    Rethink,
    /// A test was mended because a tool complained about it.
    Mend,
    /// The code was improved.
    Refactor,
    /// A model's task of a `type: tdd` plan, in refactor mode.
    Task,
    /// A model's task of a `type: execute` plan. `gate.test_gate` decides whether a failing test refuses it.
    Execute,
    /// A person's work in refactor mode.
    RefactorMode,
    /// A person retires or skips one test.
    OneTest,
    /// A person unblocks one test.
    Unblock,
    /// The files that `init` adds.
    Scaffold,
    /// A commit that claims no kind.
    Unclaimed,
}

impl Kind {
    /// The phase that a commit of this kind claims, if it has one.
    pub fn phase(self) -> Option<Phase> {
        match self {
            Self::Red => Some(Phase::Red),
            Self::Green | Self::Characterization => Some(Phase::Green),
            Self::Rethink | Self::Mend => Some(Phase::RethinkTest),
            Self::Refactor | Self::Task | Self::Execute | Self::RefactorMode => Some(Phase::Refactor),
            Self::NewTests | Self::OneTest | Self::Unblock | Self::Scaffold | Self::Unclaimed => None,
        }
    }
}

/// The change that a rule judges, and the tests it is for.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The kind that it claims to be.
    pub kind: Kind,
    /// The test that is judged, if any.
    pub target: Option<&'a TestId>,
    /// All tests that the change is for, including `target`.
    pub targets: &'a [TestId],
    /// The doubted test has passed before.
    pub was_green: bool,
    /// How strictly a red is judged.
    pub gate: &'a Gate,
}

/// The answer of a rule.
pub type RuleResult = Result<(), Refusal>;

/// What a rule looks at, and so what must be known before it can be asked.
#[derive(Clone, Copy)]
pub enum Ask {
    /// The edits alone.
    Edits(fn(&GateInput<'_>) -> RuleResult),
    /// The request, before anything is written.
    Request(fn(&GateInput<'_>) -> RuleResult),
    /// The change, before and after it is written.
    Change(fn(&Subject<'_>, &Change) -> RuleResult),
    /// The results of a test run.
    Run(fn(&Subject<'_>, &RunFacts<'_>) -> RuleResult),
    /// The result of the check command.
    Check(fn(&CheckSeen<'_>) -> RuleResult),
    /// The probes of one target.
    Probe(fn(&TestId, &Proof) -> RuleResult),
    /// The probes of a test that the change is not for, now and before the change.
    Affected(fn(&TestId, &Proof, &Proof) -> RuleResult),
    /// What tests without altered copies made of production's altered answers, before the change and now.
    Answers(fn(&Answers) -> RuleResult),
    /// The signs in the changed code.
    Code(fn(&CodeContext<'_>) -> Vec<Refusal>),
}

/// One rule and when it applies.
#[derive(Clone, Copy)]
pub struct Row {
    /// The rule.
    pub rule: Rule,
    /// The kinds of change it applies to.
    pub kinds: &'static [Kind],
    /// The function that checks it.
    pub ask: Ask,
}

use Kind::{
    Characterization, Execute, Green, Mend, NewTests, OneTest, Red, Refactor, RefactorMode, Rethink, Scaffold, Task,
    Unblock, Unclaimed,
};

const MODEL: &[Kind] = &[Red, Green, Rethink, Mend, Refactor, Task, Execute, RefactorMode];
const WRITTEN: &[Kind] =
    &[Red, Green, Rethink, Mend, Refactor, Task, Execute, RefactorMode, OneTest, Unblock, Scaffold];
const STEPS: &[Kind] = &[Red, Characterization, Green, NewTests, Rethink, Mend, Refactor];
const RUN: &[Kind] =
    &[Red, Characterization, Green, Rethink, Mend, Refactor, Task, Execute, RefactorMode, OneTest, Unblock];
const CODE: &[Kind] = &[Red, Characterization, Green, Rethink, Mend, Refactor];

const fn row(rule: Rule, kinds: &'static [Kind], ask: Ask) -> Row {
    Row { rule, kinds, ask }
}

/// Every rule, in the order in which they are asked.
pub const TABLE: &[Row] = &[
    row(Rule::SizeLimit, WRITTEN, Ask::Edits(edits::size_limit)),
    row(Rule::PathConfined, WRITTEN, Ask::Edits(edits::path_confined)),
    row(Rule::ProtectedPath, WRITTEN, Ask::Edits(edits::protected_path)),
    row(Rule::PlainText, WRITTEN, Ask::Edits(edits::plain_text)),
    row(Rule::EditApplies, WRITTEN, Ask::Edits(edits::edit_applies)),
    row(Rule::OneEditPerPath, WRITTEN, Ask::Edits(edits::one_edit_per_path)),
    row(Rule::ProtectedPath, MODEL, Ask::Request(request::not_a_persons)),
    row(Rule::IgnoredPath, MODEL, Ask::Request(request::not_ignored)),
    row(Rule::EditApplies, MODEL, Ask::Request(request::place_is_free)),
    row(Rule::TargetFence, MODEL, Ask::Request(request::inside_fence)),
    row(Rule::Budget, MODEL, Ask::Request(request::within_budget)),
    row(Rule::RefactorMode, MODEL, Ask::Request(request::mode_fits_step)),
    row(Rule::SteeringFrozen, STEPS, Ask::Change(|_, change| scope::steering_frozen(change))),
    row(Rule::TestsFrozen, &[OneTest, Unblock], Ask::Change(scope_of_one_test)),
    row(Rule::TestsFrozen, &[NewTests, Task, Execute], Ask::Change(|_, change| scope::readable(change))),
    row(Rule::TestsFrozen, &[Refactor], Ask::Change(|_, change| scope::tests_kept(change))),
    row(Rule::PhaseScope, &[Red, Characterization], Ask::Change(|_, change| scope::red_changes_tests_only(change))),
    row(Rule::PhaseScope, &[Refactor], Ask::Change(|_, change| scope::one_side_only(change))),
    row(Rule::PhaseScope, &[Refactor], Ask::Change(|_, change| scope::data_kept(change))),
    row(Rule::TestsFrozen, &[Refactor], Ask::Change(|_, change| scope::support_kept(change))),
    row(Rule::TestsFrozen, &[Red, Characterization], Ask::Change(|_, change| scope::tests_frozen_at_red(change))),
    row(
        Rule::TestsFrozen,
        &[Red, Characterization, NewTests, Rethink, Mend],
        Ask::Change(|_, change| scope::nothing_intrudes(change)),
    ),
    row(Rule::TestsFrozen, &[Green], Ask::Change(|_, change| scope::green_changes_production_only(change))),
    row(Rule::TestsFrozen, &[NewTests, Task, Execute], Ask::Change(|_, change| scope::tests_frozen(change))),
    row(Rule::TestsFrozen, &[Rethink], Ask::Change(judge::rethinks_one_test)),
    row(Rule::TestsFrozen, &[Mend], Ask::Change(mends_one_test)),
    row(
        Rule::OneBehaviour,
        &[Red, Characterization],
        Ask::Change(|subject, change| scope::one_behaviour(change, subject.gate.max_new_tests.get())),
    ),
    row(Rule::OneBehaviour, &[Red], Ask::Request(request::brings_the_wanted_test)),
    row(Rule::TestsFrozen, &[Rethink], Ask::Request(request::quotes_the_kata)),
    row(Rule::RedFirst, &[Green], Ask::Request(request::has_a_red)),
    row(Rule::ClaimAfterRed, &[Green], Ask::Request(request::claims_a_red)),
    row(
        Rule::TestAsserts,
        &[NewTests],
        Ask::Change(|_, change| change.new_demands().try_for_each(|test| judge::target::asserts(change, &test.id))),
    ),
    row(Rule::SameTree, RUN, Ask::Run(|_, seen| judge::same_tree(seen))),
    row(Rule::TestsFrozen, &[Rethink], Ask::Run(judge::is_thought_over)),
    row(Rule::RedFirst, &[Red], Ask::Run(judge::target::fails_validly)),
    row(Rule::RedFirst, &[Rethink, Mend], Ask::Run(judge::target::fails_again)),
    row(Rule::TestAsserts, &[Red, Characterization], Ask::Run(judge::target::asserts_more)),
    row(Rule::TestAsserts, &[Rethink], Ask::Run(judge::target::still_asserts)),
    row(Rule::RedFirst, &[Green], Ask::Run(judge::target::were_red)),
    row(Rule::TargetPasses, &[Green, Characterization], Ask::Run(judge::target::all_pass)),
    row(Rule::OthersKept, RUN, Ask::Run(others_kept)),
    row(Rule::OthersKept, &[RefactorMode, Task, Execute, OneTest], Ask::Run(|_, seen| none_removed(seen.change))),
    row(
        Rule::IgnoredPath,
        &[Red, Characterization, Green, Refactor],
        Ask::Run(|_, seen| judge::includes_are_in_the_tree(seen)),
    ),
    row(Rule::CheckPasses, &[Green, Refactor, Task, Execute, RefactorMode], Ask::Check(check::passes)),
    row(Rule::CounterProof, &[Green, Characterization], Ask::Probe(proof::can_fail)),
    row(Rule::CounterProof, &[Green, Refactor], Ask::Affected(proof::can_still_fail)),
    row(Rule::CounterProof, &[Green, Refactor], Ask::Answers(strength::as_strong_as)),
    row(Rule::PreTestCode, CODE, Ask::Code(antipattern::pre_test_code)),
    row(
        Rule::TestTampering,
        &[Red, Characterization, Green, Rethink, Mend, Refactor, Unclaimed],
        Ask::Code(antipattern::tampering),
    ),
    row(
        Rule::TestSensing,
        &[Red, Characterization, Green, Rethink, Mend, Refactor, Task, Execute],
        Ask::Code(antipattern::sensing),
    ),
    row(Rule::EmptyTest, CODE, Ask::Code(antipattern::empty_tests)),
    row(Rule::Yagni, CODE, Ask::Code(yagni::findings)),
    row(Rule::OverMocking, CODE, Ask::Code(|case| antipattern::overdone_tests(case, Rule::OverMocking))),
    row(Rule::TestAfterTheFact, CODE, Ask::Code(antipattern::after_the_fact)),
    row(Rule::BroadAssertions, CODE, Ask::Code(|case| antipattern::overdone_tests(case, Rule::BroadAssertions))),
    row(Rule::HardCodedValue, CODE, Ask::Code(antipattern::hard_coded)),
];

fn scope_of_one_test(subject: &Subject<'_>, change: &Change) -> RuleResult {
    subject.target.map_or(Ok(()), |target| scope::one_test_only(change, target))
}

fn mends_one_test(subject: &Subject<'_>, change: &Change) -> RuleResult {
    subject.target.map_or_else(|| scope::tests_frozen(change), |target| scope::mends_one_test(change, target))
}

/// A rule that would have refused without a person's exception.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Overridden {
    /// The rule.
    pub rule: Rule,
    /// The person's reason.
    pub reason: String,
}

/// Returns the reason for an exception from a rule, if one is in force.
pub type Exceptions<'a> = &'a dyn Fn(Rule) -> Option<String>;

/// No exceptions.
pub const NO_EXCEPTIONS: Exceptions<'static> = &|_| None;

/// Asks rules, and collects the exceptions that were used.
pub struct RuleRunner<'a> {
    exceptions: Exceptions<'a>,
    /// The rules that would have refused without an exception.
    pub overridden: Vec<Overridden>,
}

impl<'a> RuleRunner<'a> {
    /// A runner with these exceptions.
    pub fn new(exceptions: Exceptions<'a>) -> Self {
        Self { exceptions, overridden: Vec::new() }
    }

    /// Asks every row of this kind that looks at edits alone.
    pub fn ask_edits(&mut self, input: &GateInput<'_>) -> RuleResult {
        self.ask_rows(input.kind, |ask| if let Ask::Edits(ask) = ask { ask(input) } else { Ok(()) })
    }

    /// Asks every row of this kind that can be asked before anything is written.
    pub fn ask_request(&mut self, input: &GateInput<'_>, subject: &Subject<'_>) -> RuleResult {
        self.ask_rows(input.kind, |ask| match ask {
            Ask::Edits(ask) | Ask::Request(ask) => ask(input),
            Ask::Change(ask) => ask(subject, input.request.change),
            Ask::Run(_) | Ask::Check(_) | Ask::Probe(_) | Ask::Affected(_) | Ask::Answers(_) | Ask::Code(_) => Ok(()),
        })
    }

    /// Asks every row that looks at the change alone.
    pub fn ask_change(&mut self, subject: &Subject<'_>, change: &Change) -> RuleResult {
        self.ask_rows(subject.kind, |ask| if let Ask::Change(ask) = ask { ask(subject, change) } else { Ok(()) })
    }

    /// Asks every row that looks at a run of the tests.
    pub fn ask_run(&mut self, subject: &Subject<'_>, seen: &RunFacts<'_>) -> RuleResult {
        self.ask_rows(subject.kind, |ask| if let Ask::Run(ask) = ask { ask(subject, seen) } else { Ok(()) })
    }

    /// Asks every row that looks at the check command.
    pub fn ask_check(&mut self, kind: Kind, seen: &CheckSeen<'_>) -> RuleResult {
        self.ask_rows(kind, |ask| if let Ask::Check(ask) = ask { ask(seen) } else { Ok(()) })
    }

    /// Asks every row that looks at the probes of a target.
    pub fn ask_probe(&mut self, kind: Kind, target: &TestId, proof: &Proof) -> RuleResult {
        self.ask_rows(kind, |ask| if let Ask::Probe(ask) = ask { ask(target, proof) } else { Ok(()) })
    }

    /// Asks every row that looks at the probes of a test that the change is not for.
    pub fn ask_affected(&mut self, kind: Kind, test: &TestId, after: &Proof, before: &Proof) -> RuleResult {
        self.ask_rows(kind, |ask| if let Ask::Affected(ask) = ask { ask(test, after, before) } else { Ok(()) })
    }

    /// Asks every row that looks at production's altered answers.
    pub fn ask_answers(&mut self, kind: Kind, answers: &Answers) -> RuleResult {
        self.ask_rows(kind, |ask| if let Ask::Answers(ask) = ask { ask(answers) } else { Ok(()) })
    }

    /// Asks the rows of this kind one after the other until one refuses.
    fn ask_rows(&mut self, kind: Kind, answer: impl Fn(Ask) -> RuleResult) -> RuleResult {
        rows(kind).try_for_each(|row| self.answer(answer(row.ask)))
    }

    /// Asks every row of this severity that looks at the code, and returns all findings.
    pub fn ask_code(&mut self, case: &CodeContext<'_>, severity: Severity) -> Vec<Refusal> {
        let mut findings = Vec::new();
        for row in rows(case.kind).filter(|row| row.rule.severity() == severity) {
            if let Ask::Code(ask) = row.ask {
                findings.extend(ask(case).into_iter().filter_map(|found| self.answer(Err(found)).err()));
            }
        }
        findings
    }

    /// Lifts a refusal if there is an exception from its rule.
    pub fn answer(&mut self, answer: RuleResult) -> RuleResult {
        let Err(refusal) = answer else { return Ok(()) };
        match (self.exceptions)(refusal.rule).filter(|_| refusal.rule.has_exceptions()) {
            None => Err(refusal),
            Some(reason) => {
                let rule = refusal.rule;
                if !self.overridden.iter().any(|known| known.rule == rule) {
                    self.overridden.push(Overridden { rule, reason });
                }
                Ok(())
            }
        }
    }
}

/// The rows that apply to a kind of change.
pub fn rows(kind: Kind) -> impl Iterator<Item = &'static Row> {
    TABLE.iter().filter(move |row| row.kinds.contains(&kind))
}

/// Whether a kind of change has a row that `ask` accepts.
pub fn is_due(kind: Kind, ask: fn(&Ask) -> bool) -> bool {
    rows(kind).any(|row| ask(&row.ask))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_rule_has_a_row_and_every_row_a_kind() {
        let in_table: BTreeSet<Rule> = TABLE.iter().map(|row| row.rule).collect();
        assert_eq!(in_table, BTreeSet::from(Rule::ALL));
        assert!(TABLE.iter().all(|row| !row.kinds.is_empty()));
    }

    #[test]
    fn what_costs_more_is_asked_later() {
        let cost = |row: &Row| match row.ask {
            Ask::Edits(_) => 0,
            Ask::Request(_) | Ask::Change(_) => 1,
            Ask::Run(_) => 2,
            Ask::Check(_) => 3,
            Ask::Probe(_) | Ask::Affected(_) | Ask::Answers(_) => 4,
            Ask::Code(_) => 5,
        };
        assert!(TABLE.is_sorted_by_key(cost));
    }

    #[test]
    fn an_exception_is_looked_up_each_time_a_rule_refuses() {
        let asked = std::cell::Cell::new(0);
        let exceptions = |rule: Rule| {
            asked.set(asked.get() + 1);
            (rule == Rule::CheckPasses && asked.get() == 1).then(|| "for now".to_owned())
        };
        let mut rules = RuleRunner::new(&exceptions);
        assert_eq!(rules.answer(Err(Rule::CheckPasses.refuse("x", "y"))), Ok(()));
        assert!(rules.answer(Err(Rule::CheckPasses.refuse("x", "y"))).is_err());
        assert_eq!(rules.overridden, [Overridden { rule: Rule::CheckPasses, reason: "for now".to_owned() }]);
    }

    #[test]
    fn no_exception_helps_against_a_rule_that_has_none() {
        let mut rules = RuleRunner::new(&|_| Some("please".to_owned()));
        assert!(rules.answer(Err(Rule::SameTree.refuse("x", "y"))).is_err());
    }
}
