//! Every rule with its name and severity, and the refusal.

use serde::{Deserialize, Serialize};

use crate::report::{Cause, Fault};
use crate::signs::Place;
use crate::test_id::TestId;

/// All rules. [`crate::law::TABLE`] says when each is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// An edit names a file inside the project, by a plain relative path.
    PathConfined,
    /// Models do not edit git's folder, our state and config, spec files, or a person's untracked files.
    ProtectedPath,
    /// A file written by an edit is text.
    PlainText,
    /// Files and requests stay within the gate's size limits.
    SizeLimit,
    /// A request has one edit per file.
    OneEditPerPath,
    /// An edit applies to the file as it is.
    EditApplies,
    /// Ignored files are neither edited nor included by changed files, because the commit would lack them.
    IgnoredPath,
    /// A program changes only files of its target.
    TargetFence,
    /// No edits while the run is paused, or after the budget or all attempts are spent.
    Budget,
    /// A task of a plan needs refactor mode, and any other step excludes it.
    RefactorMode,
    /// A step does not change runner configuration.
    SteeringFrozen,
    /// A red changes tests only, a green production only, a refactor one of the two.
    PhaseScope,
    /// No test is deleted, skipped or loosened, and what it uses does not change.
    TestsFrozen,
    /// A red adds one behaviour.
    OneBehaviour,
    /// Production changes only for a test that was seen to fail for a valid cause.
    RedFirst,
    /// A production change claims its red test after that test was seen to fail.
    ClaimAfterRed,
    /// Evidence is about the judged tree: a run that changed the tree is void.
    SameTree,
    /// A test can fail, and asserts something about production.
    TestAsserts,
    /// The target passes.
    TargetPasses,
    /// Every other test is as it was before.
    OthersKept,
    /// The check command passes.
    CheckPasses,
    /// The test fails when its expectation is changed, and passes under another name.
    CounterProof,
    /// Production items are added or changed only if a test reaches them.
    PreTestCode,
    /// No test is weakened, whatever the change claims to be.
    TestTampering,
    /// Changed production code does not check whether it is under test.
    TestSensing,
    /// A test asserts something about production.
    EmptyTest,
    /// New production code is executed by a test, or at least referenced.
    Yagni,
    /// A test uses few mocks.
    OverMocking,
    /// A test is written before the code it tests.
    TestAfterTheFact,
    /// A test asserts one thing.
    BroadAssertions,
    /// Production code does not hard-code the values that a test expects.
    HardCodedValue,
}

/// Whether a finding stops a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It blocks the change.
    Block,
    /// It is only a warning.
    Warn,
}

/// Whether a person may make an exception from a rule.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Exceptions {
    Allowed,
    Never,
}

impl Rule {
    /// Every rule, in declaration order.
    pub const ALL: [Self; 31] = [
        Self::PathConfined,
        Self::ProtectedPath,
        Self::PlainText,
        Self::SizeLimit,
        Self::OneEditPerPath,
        Self::EditApplies,
        Self::IgnoredPath,
        Self::TargetFence,
        Self::Budget,
        Self::RefactorMode,
        Self::SteeringFrozen,
        Self::PhaseScope,
        Self::TestsFrozen,
        Self::OneBehaviour,
        Self::RedFirst,
        Self::ClaimAfterRed,
        Self::SameTree,
        Self::TestAsserts,
        Self::TargetPasses,
        Self::OthersKept,
        Self::CheckPasses,
        Self::CounterProof,
        Self::PreTestCode,
        Self::TestTampering,
        Self::TestSensing,
        Self::EmptyTest,
        Self::Yagni,
        Self::OverMocking,
        Self::TestAfterTheFact,
        Self::BroadAssertions,
        Self::HardCodedValue,
    ];

    /// Name, severity, and whether exceptions are possible. Rules that protect the disk or the evidence have none: a
    /// person can edit such a file by hand.
    fn facts(self) -> (&'static str, Severity, Exceptions) {
        use Exceptions::{Allowed, Never};
        use Severity::{Block, Warn};
        match self {
            Self::PathConfined => ("path-confined", Block, Never),
            Self::ProtectedPath => ("protected-path", Block, Never),
            Self::PlainText => ("plain-text", Block, Never),
            Self::SizeLimit => ("size-limit", Block, Never),
            Self::OneEditPerPath => ("one-edit-per-path", Block, Never),
            Self::EditApplies => ("edit-applies", Block, Never),
            Self::IgnoredPath => ("ignored-path", Block, Never),
            Self::TargetFence => ("target-fence", Block, Allowed),
            Self::Budget => ("budget", Block, Allowed),
            Self::RefactorMode => ("refactor-mode", Block, Allowed),
            Self::SteeringFrozen => ("steering-frozen", Block, Allowed),
            Self::PhaseScope => ("phase-scope", Block, Allowed),
            Self::TestsFrozen => ("tests-frozen", Block, Allowed),
            Self::OneBehaviour => ("one-behaviour", Block, Allowed),
            Self::RedFirst => ("red-first", Block, Allowed),
            Self::ClaimAfterRed => ("claim-after-red", Block, Allowed),
            Self::SameTree => ("same-tree", Block, Never),
            Self::TestAsserts => ("test-asserts", Block, Allowed),
            Self::TargetPasses => ("target-passes", Block, Allowed),
            Self::OthersKept => ("others-kept", Block, Allowed),
            Self::CheckPasses => ("check-passes", Block, Allowed),
            Self::CounterProof => ("counter-proof", Block, Allowed),
            Self::PreTestCode => ("pre-test-code", Block, Allowed),
            Self::TestTampering => ("test-tampering", Block, Allowed),
            Self::TestSensing => ("test-sensing", Block, Allowed),
            Self::EmptyTest => ("empty-test", Block, Allowed),
            Self::Yagni => ("yagni", Warn, Allowed),
            Self::OverMocking => ("over-mocking", Warn, Allowed),
            Self::TestAfterTheFact => ("test-after-the-fact", Warn, Allowed),
            Self::BroadAssertions => ("broad-assertions", Warn, Allowed),
            Self::HardCodedValue => ("hard-coded-value", Warn, Allowed),
        }
    }

    /// The rule's name.
    pub fn name(self) -> &'static str {
        self.facts().0
    }

    /// Whether the rule blocks or warns.
    pub fn severity(self) -> Severity {
        self.facts().1
    }

    /// Whether a person may make an exception.
    pub fn has_exceptions(self) -> bool {
        self.facts().2 == Exceptions::Allowed
    }

    /// The rule of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.name() == name)
    }

    /// A refusal by this rule.
    pub fn refuse(self, reason: impl Into<String>, next: impl Into<String>) -> Refusal {
        Refusal { rule: self, cause: None, test: None, place: None, reason: reason.into(), next: next.into() }
    }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A rule's no, with its reason and the next legal move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// The rule that refused.
    pub rule: Rule,
    /// The cause, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The test it is about, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<TestId>,
    /// The place in the source, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Why, for this request or change.
    pub reason: String,
    /// The next legal action.
    pub next: String,
}

impl Refusal {
    /// Adds the cause.
    #[must_use]
    pub fn because(mut self, cause: Cause) -> Self {
        self.cause = Some(cause);
        self
    }

    /// Adds the test it is about.
    #[must_use]
    pub fn about(mut self, test: &TestId) -> Self {
        self.test = Some(test.clone());
        self
    }

    /// Adds the place in the source.
    #[must_use]
    pub fn at(mut self, place: &Place) -> Self {
        self.place = Some(place.clone());
        self
    }

    /// Whose fault it is: the environment's only if something could not be found out.
    pub fn fault(&self) -> Fault {
        self.cause.map_or(Fault::Change, Cause::fault)
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}; {}", self.rule, self.reason, self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_name_of_its_own_that_leads_back_to_it() {
        for rule in Rule::ALL {
            assert_eq!(Rule::named(rule.name()), Some(rule));
            assert_eq!(serde_json::to_value(rule).unwrap(), rule.name());
        }
        assert_eq!(Rule::named("no-such-rule"), None);
        assert!(Rule::ALL.is_sorted());
    }

    #[test]
    fn the_anti_patterns_of_the_contract_block_or_warn() {
        let of = |severity| Rule::ALL.into_iter().filter(move |rule| rule.severity() == severity).map(Rule::name);
        let warn = ["yagni", "over-mocking", "test-after-the-fact", "broad-assertions", "hard-coded-value"];
        assert!(of(Severity::Warn).eq(warn));
        let block = ["pre-test-code", "test-tampering", "test-sensing", "empty-test"];
        assert!(block.into_iter().all(|name| of(Severity::Block).any(|rule| rule == name)));
    }

    #[test]
    fn nobody_makes_an_exception_for_what_guards_the_disk() {
        let fixed: Vec<_> = Rule::ALL.into_iter().filter(|rule| !rule.has_exceptions()).map(Rule::name).collect();
        assert_eq!(
            fixed,
            [
                "path-confined",
                "protected-path",
                "plain-text",
                "size-limit",
                "one-edit-per-path",
                "edit-applies",
                "ignored-path",
                "same-tree"
            ]
        );
    }
}
