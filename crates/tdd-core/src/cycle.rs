//! Who is on turn, and where a history of commits stands in the cycle.

use serde::{Deserialize, Serialize};

use crate::commit::{Mode, Trailers};
use crate::digest::CommitId;
use crate::event::StepEnd;
use crate::report::Cause;
use crate::test_id::TestId;

/// The three roles. After the refactorer comes the tester.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Writes the next failing test.
    Tester,
    /// Makes it pass.
    Implementor,
    /// Improves the code without changing what it does.
    Refactorer,
}

impl Role {
    /// Every role, in the order of the cycle.
    pub const ALL: [Self; 3] = [Self::Tester, Self::Implementor, Self::Refactorer];

    /// Who comes after this one.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            Self::Tester => Self::Implementor,
            Self::Implementor => Self::Refactorer,
            Self::Refactorer => Self::Tester,
        }
    }

    /// The name in configuration, file names and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tester => "tester",
            Self::Implementor => "implementor",
            Self::Refactorer => "refactorer",
        }
    }

    /// The name in the Context section of a commit message.
    pub fn title(self) -> &'static str {
        match self {
            Self::Tester => "Tester",
            Self::Implementor => "Implementor",
            Self::Refactorer => "Refactorer",
        }
    }

    /// The phase that this role's ordinary step ends in.
    pub fn phase(self) -> Phase {
        match self {
            Self::Tester => Phase::Red,
            Self::Implementor => Phase::Green,
            Self::Refactorer => Phase::Refactor,
        }
    }
}

impl std::fmt::Display for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// What a commit of the machine did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// A test was added and seen to fail.
    Red,
    /// It was made to pass.
    Green,
    /// The code was improved, all tests kept.
    Refactor,
    /// A doubted test was revised and seen to fail again.
    RethinkTest,
}

impl Phase {
    /// Every phase.
    pub const ALL: [Self; 4] = [Self::Red, Self::Green, Self::Refactor, Self::RethinkTest];

    /// The name in a `TDD-Phase` trailer.
    pub fn name(self) -> &'static str {
        match self {
            Self::Red => "red",
            Self::Green => "green",
            Self::Refactor => "refactor",
            Self::RethinkTest => "rethink-test",
        }
    }

    /// Reads a trailer's value.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.name() == text)
    }

    /// Who is on turn after a commit of this phase.
    pub fn next_role(self) -> Role {
        match self {
            Self::Red | Self::RethinkTest => Role::Implementor,
            Self::Green => Role::Refactorer,
            Self::Refactor => Role::Tester,
        }
    }
}

impl std::fmt::Display for Phase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A test that the machine saw fail for a valid cause. There is no other way to have one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedTest {
    id: TestId,
    cause: Cause,
}

impl RedTest {
    /// Evidence of a red; `None` if the cause is not a valid one.
    pub fn proven(id: TestId, cause: Cause) -> Option<Self> {
        cause.is_valid_red().then_some(Self { id, cause })
    }

    /// Which test.
    pub fn id(&self) -> &TestId {
        &self.id
    }

    /// Why it failed.
    pub fn cause(&self) -> Cause {
        self.cause
    }
}

/// Whose turn it is, with the evidence that the turn needs. Attempts count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The tester writes a failing test.
    Red {
        /// Which try this is.
        attempt: u32,
    },
    /// The implementor makes red tests pass: one, or all that were inherited.
    Green {
        /// The tests that must pass; at least one.
        tests: Vec<RedTest>,
        /// Which try this is.
        attempt: u32,
    },
    /// The tester looks again at a test that could not be made to pass.
    Rethink {
        /// The doubted test.
        test: RedTest,
        /// Only what a check or a compiler complained of in it is to be mended.
        mend: bool,
    },
    /// The refactorer improves the code.
    Refactor {
        /// Which try this is.
        attempt: u32,
    },
    /// The refactorer does a task of a plan, in refactor mode.
    Task {
        /// Which try this is.
        attempt: u32,
    },
}

/// What comes next, by what is spent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum NextMove {
    /// This turn.
    Turn(Turn),
    /// A refactor that failed is skipped, never fatal.
    Skip,
    /// Nobody's turn: all attempts are spent and a person must look.
    Stop,
}

/// What has been tried in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tried {
    /// Attempts that are spent.
    pub spent: u32,
    /// The tester has looked at the target again.
    pub rethought: bool,
    /// How often, since then, the target passed and older tests did not.
    pub clashes: u32,
    /// A complaint lies in the tests alone, so it is the tester's to mend.
    pub mend: bool,
    /// Since then it was seen that the target cannot fail where it should.
    pub vacuous: bool,
}

/// So often may older tests break for the sake of a target before the tester looks at it again.
const MAX_CLASHES: u32 = 2;

impl Turn {
    /// The rung of the ladder that a role stands on, if each step has at most `max` attempts.
    ///
    /// A rethink comes before attempt `max - 1` of a green (none if `max < 3`), or when older tests keep
    /// breaking for the target's sake, or as soon as it is seen that the target cannot fail, and costs no attempt.
    /// If they break again after it, or it still cannot fail, that is for a person. An implementor without a red test
    /// has nothing to do, and stops.
    pub fn rung(role: Role, reds: Vec<RedTest>, tried: Tried, max: u32) -> NextMove {
        let Tried { spent, rethought, clashes, mend, vacuous } = tried;
        let attempt = spent + 1;
        match role {
            Role::Tester if spent < max => NextMove::Turn(Self::Red { attempt }),
            Role::Tester => NextMove::Stop,
            Role::Implementor => match reds.first() {
                None => NextMove::Stop,
                Some(test) if mend => NextMove::Turn(Self::Rethink { test: test.clone(), mend }),
                // They contradict each other even now, or it proves nothing even now: that is for a person.
                Some(_) if rethought && (clashes > 0 || vacuous) => NextMove::Stop,
                Some(test) if !rethought && (vacuous || max >= 3 && (attempt + 1 == max || clashes >= MAX_CLASHES)) => {
                    NextMove::Turn(Self::Rethink { test: test.clone(), mend })
                }
                Some(_) if spent < max => NextMove::Turn(Self::Green { tests: reds, attempt }),
                Some(_) => NextMove::Stop,
            },
            Role::Refactorer if spent < max => NextMove::Turn(Self::Refactor { attempt }),
            Role::Refactorer => NextMove::Skip,
        }
    }

    /// The rung of a task in refactor mode: nobody but a person may leave it out.
    pub fn task_rung(spent: u32, max: u32) -> NextMove {
        if spent < max { NextMove::Turn(Self::Task { attempt: spent + 1 }) } else { NextMove::Stop }
    }

    /// The role that acts in this turn.
    pub fn role(&self) -> Role {
        match self {
            Self::Red { .. } | Self::Rethink { .. } => Role::Tester,
            Self::Green { .. } => Role::Implementor,
            Self::Refactor { .. } | Self::Task { .. } => Role::Refactorer,
        }
    }

    /// What a commit of this turn would be.
    pub fn phase(&self) -> Phase {
        match self {
            Self::Red { .. } => Phase::Red,
            Self::Green { .. } => Phase::Green,
            Self::Rethink { .. } => Phase::RethinkTest,
            Self::Refactor { .. } | Self::Task { .. } => Phase::Refactor,
        }
    }

    /// Which try this is; a rethink has only one that counts.
    pub fn attempt(&self) -> u32 {
        match self {
            Self::Red { attempt }
            | Self::Green { attempt, .. }
            | Self::Refactor { attempt }
            | Self::Task { attempt } => *attempt,
            Self::Rethink { .. } => 1,
        }
    }

    /// The red tests that it is about.
    pub fn targets(&self) -> Vec<TestId> {
        match self {
            Self::Red { .. } | Self::Refactor { .. } | Self::Task { .. } => Vec::new(),
            Self::Green { tests, .. } => tests.iter().map(|test| test.id().clone()).collect(),
            Self::Rethink { test, .. } => vec![test.id().clone()],
        }
    }
}

/// Where a history stands: read from the trailers of HEAD's first-parent commits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Position {
    /// The last step that ended; 0 before the first.
    pub step: u32,
    /// Its phase.
    pub phase: Option<Phase>,
    /// The test that it was about.
    pub test: Option<TestId>,
    /// Who is on turn.
    pub next_role: Role,
}

impl Position {
    /// Before any step.
    pub fn start() -> Self {
        Self { step: 0, phase: None, test: None, next_role: Role::Tester }
    }

    /// The position after the newest commit that carries our trailers; `history` is newest first.
    /// No more of it is asked for than that commit.
    pub fn of_history(history: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        history.into_iter().find_map(|message| Self::of_message(message.as_ref())).unwrap_or_else(Self::start)
    }

    /// The position, if a step ended without a commit while HEAD stood where it stands now. One that was stopped is
    /// still to be done: those before it may have left no commit either.
    #[must_use]
    pub fn after(self, ended: Option<&StepEnd>, head: Option<&CommitId>) -> Self {
        match ended {
            Some(end) if end.head.as_ref() == head && end.step > self.step => {
                let (step, next_role) =
                    if end.outcome.rotates() { (end.step, end.role.next()) } else { (end.step - 1, end.role) };
                Self { step, next_role, ..self }
            }
            Some(_) | None => self,
        }
    }

    /// Who is on turn, if there are reds or not: a red left over is made green before anything else, and
    /// without one there is nothing to make green.
    pub fn role_on_turn(&self, any_red: bool) -> Role {
        match (self.next_role, any_red) {
            (_, true) => Role::Implementor,
            (Role::Implementor, false) => Role::Tester,
            (role, false) => role,
        }
    }

    fn of_message(message: &str) -> Option<Self> {
        let trailers = Trailers::parse(message);
        let step = trailers.get("TDD-Step")?.parse().ok()?;
        let phase = Phase::parse(trailers.get("TDD-Phase")?)?;
        let test = trailers.get("TDD-Test").and_then(|id| TestId::parse(id).ok());
        // A test of what is there already asks nothing of the implementor.
        let is_characterization = trailers.get("TDD-Mode") == Some(Mode::Characterization.name());
        let next_role = if is_characterization { Role::Tester } else { phase.next_role() };
        Some(Self { step, phase: Some(phase), test, next_role })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::StepOutcome;

    fn red() -> RedTest {
        RedTest::proven(TestId::parse("tests/a.rs::adds").unwrap(), Cause::Assertion).unwrap()
    }

    /// The attempts of a role that never succeeds, `r` for a rethink, until it is over.
    fn ladder(role: Role, max: u32) -> String {
        let (mut tried, mut seen) = (Tried::default(), String::new());
        for _ in 0..20 {
            match Turn::rung(role, vec![red()], tried, max) {
                NextMove::Turn(Turn::Rethink { .. }) => {
                    seen.push('r');
                    tried.rethought = true;
                }
                NextMove::Turn(turn) => {
                    assert_eq!(turn.role(), role);
                    seen += &turn.attempt().to_string();
                    tried.spent += 1;
                }
                NextMove::Skip => return seen + " skip",
                NextMove::Stop => return seen + " stop",
            }
        }
        panic!("it has no end: {seen}");
    }

    #[test]
    fn a_green_that_never_succeeds_climbs_the_ladder_and_stops() {
        assert_eq!(ladder(Role::Implementor, 5), "123r45 stop");
        assert_eq!(ladder(Role::Implementor, 4), "12r34 stop");
        assert_eq!(ladder(Role::Implementor, 3), "1r23 stop");
        assert_eq!(ladder(Role::Implementor, 2), "12 stop");
        assert_eq!(ladder(Role::Implementor, 1), "1 stop");
    }

    #[test]
    fn a_task_that_never_succeeds_is_left_out_by_nobody_but_a_person() {
        let seen = (0..5).map(|spent| match Turn::task_rung(spent, 3) {
            NextMove::Turn(turn) => turn.attempt().to_string(),
            NextMove::Skip => "skip".to_owned(),
            NextMove::Stop => "stop".to_owned(),
        });
        assert_eq!(seen.collect::<Vec<_>>(), ["1", "2", "3", "stop", "stop"]);
    }

    #[test]
    fn tests_that_contradict_each_other_are_thought_over_once_and_then_shown_to_a_person() {
        let rung = |tried| Turn::rung(Role::Implementor, vec![red()], tried, 5);
        let clash = |clashes, rethought| rung(Tried { spent: clashes, rethought, clashes, ..Tried::default() });
        assert!(matches!(clash(1, false), NextMove::Turn(Turn::Green { attempt: 2, .. })));
        assert!(matches!(clash(2, false), NextMove::Turn(Turn::Rethink { .. })));
        assert!(matches!(
            rung(Tried { spent: 2, rethought: true, ..Tried::default() }),
            NextMove::Turn(Turn::Green { .. })
        ));
        assert_eq!(clash(1, true), NextMove::Stop);
    }

    #[test]
    fn a_test_that_cannot_fail_goes_back_to_the_tester_once_and_then_to_a_person() {
        for max in 1..=5 {
            let rung = |tried| Turn::rung(Role::Implementor, vec![red()], tried, max);
            let vacuous = Tried { vacuous: true, ..Tried::default() };
            assert_eq!(rung(vacuous), NextMove::Turn(Turn::Rethink { test: red(), mend: false }));
            assert_eq!(rung(Tried { rethought: true, ..vacuous }), NextMove::Stop);
        }
    }

    #[test]
    fn what_lies_in_the_tests_alone_is_the_testers_to_mend_whatever_is_spent() {
        let tried = Tried { spent: 5, mend: true, ..Tried::default() };
        let mend = NextMove::Turn(Turn::Rethink { test: red(), mend: true });
        assert_eq!(Turn::rung(Role::Implementor, vec![red()], tried, 5), mend);
    }

    #[test]
    fn a_refactor_that_fails_is_skipped_and_a_tester_that_fails_stops() {
        assert_eq!(ladder(Role::Refactorer, 2), "12 skip");
        assert_eq!(ladder(Role::Tester, 3), "123 stop");
    }

    #[test]
    fn an_implementor_has_no_turn_without_a_red_test() {
        assert_eq!(Turn::rung(Role::Implementor, Vec::new(), Tried::default(), 5), NextMove::Stop);
        assert_eq!(RedTest::proven(red().id, Cause::SyntaxError), None);
    }

    #[test]
    fn a_red_left_over_comes_first_and_without_one_there_is_nothing_to_make_green() {
        let at = |next_role| Position { next_role, ..Position::start() };
        assert_eq!(at(Role::Tester).role_on_turn(true), Role::Implementor);
        assert_eq!(at(Role::Refactorer).role_on_turn(true), Role::Implementor);
        assert_eq!(at(Role::Implementor).role_on_turn(false), Role::Tester);
        assert_eq!(at(Role::Refactorer).role_on_turn(false), Role::Refactorer);
    }

    #[test]
    fn a_step_without_a_commit_counts_while_head_is_the_same() {
        let here = CommitId("a".into());
        let end = |outcome| StepEnd { step: 3, role: Role::Refactorer, outcome, head: Some(here.clone()) };
        let before = || Position { step: 2, next_role: Role::Refactorer, ..Position::start() };
        let after = before().after(Some(&end(StepOutcome::Nothing)), Some(&here));
        assert_eq!((after.step, after.next_role), (3, Role::Tester));
        assert_eq!(before().after(Some(&end(StepOutcome::Nothing)), Some(&CommitId("b".into()))), before());
        assert_eq!(before().after(Some(&end(StepOutcome::Stopped)), Some(&here)), before());
        let stopped = StepEnd { step: 4, role: Role::Tester, ..end(StepOutcome::Stopped) };
        let after = before().after(Some(&stopped), Some(&here));
        assert_eq!((after.step, after.next_role), (3, Role::Tester));
        let there_already = || Position { step: 3, ..before() };
        assert_eq!(there_already().after(Some(&end(StepOutcome::Nothing)), Some(&here)), there_already());
    }

    #[test]
    fn a_turn_names_the_red_tests_that_it_is_about() {
        let tests = vec![red()];
        assert_eq!(Turn::Green { tests, attempt: 1 }.targets(), [red().id]);
        assert_eq!(Turn::Rethink { test: red(), mend: false }.targets(), [red().id]);
        assert_eq!(Turn::Red { attempt: 1 }.targets(), []);
    }

    #[test]
    fn the_position_is_that_of_the_newest_commit_with_trailers() {
        let ours = "test: x\n\nTDD-Step: 4\nTDD-Phase: red\nTDD-Test: tests/a.rs::adds\n";
        let older = "feat: y\n\nTDD-Step: 2\nTDD-Phase: green\n";
        let position = Position::of_history(["docs: a person's commit\n", ours, older]);
        assert_eq!((position.step, position.phase, position.next_role), (4, Some(Phase::Red), Role::Implementor));
        assert_eq!(position.test.unwrap().as_str(), "tests/a.rs::adds");
    }

    #[test]
    fn a_history_without_trailers_is_at_the_start() {
        assert_eq!(Position::of_history(["chore: init", "TDD-Step: 3"]), Position::start());
    }
}
