//! What a commit claims in its message, and what an audit finds about it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::antipattern;
use crate::change::{Change, ItemChange, ItemFate, TestChange};
use crate::commit::{Mode, Trailers};
use crate::cycle::Phase;
use crate::judge::Verdict;
use crate::law::Kind;
use crate::report::Fault;
use crate::rule::{Refusal, Rule};
use crate::scope;
use crate::test_id::TestId;

/// The claims in a commit's trailers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claim {
    /// The phase.
    pub phase: Option<Phase>,
    /// The tests it is about.
    pub tests: Vec<TestId>,
    /// The mode, if it differs from the phase.
    pub mode: Option<Mode>,
    /// The test that a person retired, skipped or unblocked.
    pub excused: Option<TestId>,
    /// The exceptions that a person made, with reasons.
    pub overrides: BTreeMap<Rule, String>,
}

impl Claim {
    /// The exceptions from rules that a message names, with reasons. A commit made in refactor mode may also change tests
    /// and runner configuration.
    pub fn exceptions(message: &str) -> BTreeMap<Rule, String> {
        let claim = Self::of_message(message);
        let mut exceptions = claim.overrides;
        if matches!(claim.mode, Some(Mode::RefactorMode | Mode::Refactor | Mode::Execute)) {
            let subject = message.lines().next().unwrap_or_default();
            for rule in [Rule::SteeringFrozen, Rule::TestsFrozen, Rule::TestTampering, Rule::PhaseScope] {
                exceptions.entry(rule).or_insert_with(|| format!("refactor mode: {subject}"));
            }
        }
        exceptions
    }

    /// Reads a message. Other tools write `GSD-Phase`.
    pub fn of_message(message: &str) -> Self {
        let trailers = Trailers::parse(message);
        let test = |key: &str| trailers.get(key).and_then(|id| TestId::parse(id).ok());
        let phase = trailers.get("TDD-Phase").or_else(|| trailers.get("GSD-Phase"));
        let exception = |text: &str| {
            let (rule, reason) = text.split_once(": ")?;
            Some((Rule::named(rule)?, reason.to_owned()))
        };
        Self {
            phase: phase.and_then(|phase| Phase::parse(&phase.to_lowercase())),
            tests: trailers.all("TDD-Test").filter_map(|id| TestId::parse(id).ok()).collect(),
            mode: trailers.get("TDD-Mode").and_then(Mode::parse),
            excused: test("TDD-Retired").or_else(|| test("TDD-Skipped")).or_else(|| test("TDD-Unblocked")),
            overrides: trailers.all("TDD-Override").filter_map(exception).collect(),
        }
    }

    /// The kind of change that the commit claims to be.
    pub fn kind(&self) -> Kind {
        match (self.phase, self.mode) {
            (None, _) => Kind::Unclaimed,
            (Some(_), Some(Mode::RefactorMode)) => Kind::RefactorMode,
            (Some(Phase::Refactor), Some(Mode::Refactor)) => Kind::Task,
            (Some(Phase::Refactor), Some(Mode::Execute)) => Kind::Execute,
            (Some(Phase::RethinkTest), Some(Mode::Mend)) => Kind::Mend,
            (Some(Phase::Red), _) => Kind::Red,
            (Some(Phase::Green), Some(Mode::Characterization)) => Kind::Characterization,
            (Some(Phase::Green), _) => Kind::Green,
            (Some(Phase::Refactor), _) => Kind::Refactor,
            (Some(Phase::RethinkTest), _) => Kind::Rethink,
        }
    }
}

/// What an audit found about a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "finding", rename_all = "kebab-case")]
pub enum Finding {
    /// It keeps all rules.
    Holds {
        /// The reason.
        reason: String,
    },
    /// No rule applies to it.
    Nothing {
        /// The reason.
        reason: String,
    },
    /// It changes code or tests, but claims no kind.
    Unclaimed {
        /// What it changes.
        reason: String,
    },
    /// It breaks a rule.
    Broken {
        /// The rule, if there is one.
        rule: Option<Rule>,
        /// How it breaks the rule.
        reason: String,
    },
    /// It could not be judged.
    Unknown {
        /// The reason.
        reason: String,
    },
}

impl Finding {
    /// No rule applies.
    pub fn nothing(reason: &str) -> Self {
        Self::Nothing { reason: reason.to_owned() }
    }

    /// Broken, without a rule.
    pub fn broken(reason: &str) -> Self {
        Self::Broken { rule: None, reason: reason.to_owned() }
    }

    /// Whether it keeps all rules.
    pub fn holds(&self) -> bool {
        matches!(self, Self::Holds { .. })
    }

    /// Whether no rule applies to it.
    pub fn is_nothing(&self) -> bool {
        matches!(self, Self::Nothing { .. })
    }

    /// Whether it claims no kind.
    pub fn is_unclaimed(&self) -> bool {
        matches!(self, Self::Unclaimed { .. })
    }

    /// Whether it breaks a rule.
    pub fn is_broken(&self) -> bool {
        matches!(self, Self::Broken { .. })
    }

    /// Whether it could not be judged.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown { .. })
    }
}

/// Turns a verdict into a finding.
pub fn judged(verdict: &Verdict) -> Finding {
    match verdict {
        Verdict::Holds(holding) => Finding::Holds { reason: holding.reason.clone() },
        Verdict::Refused(refusal) => refused(refusal),
    }
}

/// Turns a refusal into a finding.
pub fn refused(refusal: &Refusal) -> Finding {
    match refusal.fault() {
        Fault::Change => Finding::Broken { rule: Some(refusal.rule), reason: refusal.reason.clone() },
        Fault::Environment => Finding::Unknown { reason: refusal.reason.clone() },
    }
}

/// The change without the test that a person retired, skipped or unblocked.
#[must_use]
pub fn without_excused(change: Change, claim: &Claim) -> Change {
    let Some(excused) = &claim.excused else { return change };
    let kept = |test: &TestChange| &scope::facts(test).id != excused;
    Change { tests: change.tests.into_iter().filter(kept).collect(), ..change }
}

/// The finding about a commit that claims no kind and tampers with no test.
pub fn unclaimed(change: &Change, claim: &Claim) -> Finding {
    if claim.excused.is_some() {
        return Finding::Holds { reason: "a person's word about one test, and nothing else".to_owned() };
    }
    // A new file beside the tests that is not code, such as `.gitkeep`, does not count.
    let is_work = |item: &&ItemChange| antipattern::is_code(item) || item.fate != ItemFate::Added;
    let counts = [
        (change.tests.len() + change.support.iter().filter(is_work).count(), "tests or what they use"),
        (change.production.iter().filter(|item| antipattern::is_code(item)).count(), "production code"),
    ];
    let touched: Vec<&str> = counts.into_iter().filter(|(count, _)| *count > 0).map(|(_, what)| what).collect();
    if touched.is_empty() {
        return Finding::nothing("it changes neither code nor tests");
    }
    Finding::Unclaimed { reason: format!("it changes {} and claims no phase", touched.join(" and ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::TestFacts;

    fn facts(name: &str) -> TestFacts {
        TestFacts::plain("tests/a.rs", name)
    }

    #[test]
    fn a_claim_is_read_from_trailers_of_ours_and_of_others() {
        let ours = Claim::of_message("test: x\n\nTDD-Step: 1\nTDD-Phase: red\nTDD-Test: tests/a.rs::adds\n");
        assert_eq!(ours.phase, Some(Phase::Red));
        assert_eq!(ours.tests, [TestId::native("tests/a.rs", "adds")]);
        assert_eq!(Claim::of_message("feat: y\n\nGSD-Phase: green\n").phase, Some(Phase::Green));
        assert_eq!(Claim::of_message("feat: y\n\nTDD-Phase: blue\n"), Claim::default());
        assert_eq!(Claim::of_message("docs: TDD-Phase: red"), Claim::default());
    }

    #[test]
    fn exceptions_and_modes_are_read_from_trailers() {
        let claim = Claim::of_message(
            "feat: x\n\nTDD-Phase: green\nTDD-Override: check-passes: an old lint\nTDD-Override: nonsense: x\n",
        );
        assert_eq!(claim.overrides, BTreeMap::from([(Rule::CheckPasses, "an old lint".to_owned())]));
        let mode = Claim::of_message("refactor: x\n\nTDD-Phase: refactor\nTDD-Mode: refactor-mode\n");
        assert_eq!(mode.kind(), Kind::RefactorMode);
        let in_mode =
            |mode: &str| Claim::of_message(&format!("refactor: x\n\nTDD-Phase: refactor\nTDD-Mode: {mode}\n")).kind();
        assert_eq!((in_mode("refactor"), in_mode("execute")), (Kind::Task, Kind::Execute));
        assert_eq!(Claim::default().kind(), Kind::Unclaimed);
    }

    #[test]
    fn a_commit_that_changed_a_test_file_is_never_said_to_touch_no_test() {
        let added = Change { tests: vec![TestChange::Added(facts("adds"))], ..Change::default() };
        assert!(unclaimed(&added, &Claim::default()).is_unclaimed());
        assert!(unclaimed(&Change::default(), &Claim::default()).is_nothing());
        let gone = Change { tests: vec![TestChange::Removed(facts("adds"))], ..Change::default() };
        let retired = Claim::of_message("test: retire\n\nTDD-Retired: tests/a.rs::adds\n");
        assert_eq!(without_excused(gone.clone(), &retired), Change::default());
        assert_eq!(without_excused(gone.clone(), &Claim::default()), gone);
        assert!(unclaimed(&Change::default(), &retired).holds());
    }
}
