//! What a commit claims by its message, and what an audit finds of it.

use serde::Serialize;

use crate::change::{Change, TestChange};
use crate::commit::{Mode, Trailers};
use crate::cycle::Phase;
use crate::judge::Ruling;
use crate::report::Fault;
use crate::rule::Rule;
use crate::scope;
use crate::test_id::TestId;

/// What a commit's trailers claim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claim {
    /// The phase.
    pub phase: Option<Phase>,
    /// The test that it is about.
    pub test: Option<TestId>,
    /// The way of working, if it is not that of the phase.
    pub mode: Option<Mode>,
    /// The test that a person removed with its feature, or left aside.
    pub excused: Option<TestId>,
}

impl Claim {
    /// Reads a message. Other tools write `GSD-Phase`.
    pub fn of_message(message: &str) -> Self {
        let trailers = Trailers::parse(message);
        let test = |key: &str| trailers.get(key).and_then(|id| TestId::parse(id).ok());
        let phase = trailers.get("TDD-Phase").or_else(|| trailers.get("GSD-Phase"));
        Self {
            phase: phase.and_then(|phase| Phase::parse(&phase.to_lowercase())),
            test: test("TDD-Test"),
            mode: trailers.get("TDD-Mode").and_then(Mode::parse),
            excused: test("TDD-Retired").or_else(|| test("TDD-Skipped")).or_else(|| test("TDD-Unblocked")),
        }
    }
}

/// What was found of a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "finding", rename_all = "kebab-case")]
pub enum Finding {
    /// It keeps the law.
    Holds {
        /// Why.
        reason: String,
    },
    /// There is nothing to say about it.
    Nothing {
        /// Why.
        reason: String,
    },
    /// It breaks the law.
    Broken {
        /// Which rule.
        rule: Option<Rule>,
        /// How.
        reason: String,
    },
    /// It could not be found out.
    Unknown {
        /// Why.
        reason: String,
    },
}

impl Finding {
    /// Nothing to say.
    pub fn nothing(reason: &str) -> Self {
        Self::Nothing { reason: reason.to_owned() }
    }

    /// Broken, whatever the rules say.
    pub fn broken(reason: &str) -> Self {
        Self::Broken { rule: None, reason: reason.to_owned() }
    }

    /// Whether it keeps the law, or has nothing to do with it.
    pub fn holds(&self) -> bool {
        matches!(self, Self::Holds { .. } | Self::Nothing { .. })
    }

    /// Whether it breaks the law.
    pub fn is_broken(&self) -> bool {
        matches!(self, Self::Broken { .. })
    }

    /// Whether it could not be found out.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown { .. })
    }
}

/// A ruling as a finding.
pub fn judged(ruling: &Ruling) -> Finding {
    match ruling {
        Ruling::Holds(holding) => Finding::Holds { reason: holding.reason.clone() },
        Ruling::Refused(refusal) => match refusal.fault() {
            Fault::Change => Finding::Broken { rule: Some(refusal.rule), reason: refusal.reason.clone() },
            Fault::Environment => Finding::Unknown { reason: refusal.reason.clone() },
        },
    }
}

/// A commit that claims nothing: it loosens no test but the one that it says a person took away.
pub fn unclaimed(change: &Change, claim: &Claim) -> Finding {
    let kept = |test: &TestChange| Some(&scope::facts(test).id) != claim.excused.as_ref();
    let tests = change.tests.iter().filter(|test| kept(test)).cloned().collect();
    let rest = Change { tests, ..Change::default() };
    match scope::tests_frozen(&rest) {
        Ok(()) if change.tests.is_empty() => Finding::nothing("it touches no test"),
        Ok(()) => Finding::Holds { reason: "no test is loosened".to_owned() },
        Err(refusal) => Finding::Broken { rule: Some(refusal.rule), reason: refusal.reason },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::TestFacts;
    use crate::digest::Digest;

    fn facts(name: &str) -> TestFacts {
        TestFacts {
            id: TestId::native("tests/a.rs", name),
            path: "tests/a.rs".into(),
            line: 1,
            digest: Digest::of(name),
            body: Digest::of(name),
            assertions: Vec::new(),
            skipped: None,
            conditions: Vec::new(),
            should_panic: false,
            returns_result: false,
            asks_production: true,
        }
    }

    #[test]
    fn a_claim_is_read_from_trailers_of_ours_and_of_others() {
        let ours = Claim::of_message("test: x\n\nTDD-Step: 1\nTDD-Phase: red\nTDD-Test: tests/a.rs::adds\n");
        assert_eq!(ours.phase, Some(Phase::Red));
        assert_eq!(ours.test.unwrap().as_str(), "tests/a.rs::adds");
        assert_eq!(Claim::of_message("feat: y\n\nGSD-Phase: green\n").phase, Some(Phase::Green));
        assert_eq!(Claim::of_message("feat: y\n\nTDD-Phase: blue\n"), Claim::default());
        assert_eq!(Claim::of_message("docs: TDD-Phase: red"), Claim::default());
    }

    #[test]
    fn without_a_claim_no_test_may_be_lost_but_the_one_that_a_person_retired() {
        let gone = Change { tests: vec![TestChange::Removed(facts("adds"))], ..Change::default() };
        assert!(unclaimed(&gone, &Claim::default()).is_broken());
        let retired = Claim::of_message("test: retire\n\nTDD-Retired: tests/a.rs::adds\n");
        assert!(unclaimed(&gone, &retired).holds());
        assert!(unclaimed(&Change::default(), &Claim::default()).holds());
    }
}
