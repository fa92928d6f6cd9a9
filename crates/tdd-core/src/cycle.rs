//! The roles, phases and turns of the cycle, and the position of a commit history in it.

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

    /// The role after this one.
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

/// What a commit of `tdd-cli` did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// A test was added and seen to fail.
    Red,
    /// A red test was made to pass.
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

    /// The role whose turn follows a commit of this phase.
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

/// A test that was seen to fail for a valid cause. [`RedTest::proven`] is the only constructor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedTest {
    id: TestId,
    cause: Cause,
}

impl RedTest {
    /// A red test; `None` if the cause does not make a valid red.
    pub fn proven(id: TestId, cause: Cause) -> Option<Self> {
        cause.is_valid_red().then_some(Self { id, cause })
    }

    /// The test.
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
        /// The number of the attempt.
        attempt: u32,
    },
    /// The implementor makes all red tests pass.
    Green {
        /// The tests that must pass; at least one.
        tests: Vec<RedTest>,
        /// The number of the attempt.
        attempt: u32,
    },
    /// The tester rethinks a test that could not be made to pass.
    Rethink {
        /// The doubted test.
        test: RedTest,
        /// The tester may only fix what a check or the compiler complained about.
        mend: bool,
    },
    /// The refactorer improves the code.
    Refactor {
        /// The number of the attempt.
        attempt: u32,
    },
    /// The refactorer does a task of a plan, in refactor mode.
    Task {
        /// The number of the attempt.
        attempt: u32,
    },
}

/// What comes next, given the attempts that are spent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum NextMove {
    /// A role acts.
    Turn(Turn),
    /// A refactor whose attempts all failed is skipped.
    Skip,
    /// All attempts are spent, and a person must decide.
    Stop,
}

/// What has been tried in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tried {
    /// Attempts that are spent.
    pub spent: u32,
    /// The tester has rethought the target.
    pub rethought: bool,
    /// How often the target passed while older tests broke, since it was last rethought.
    pub clashes: u32,
    /// A complaint is about test code only, so the tester must mend it.
    pub mend: bool,
    /// The target was found vacuous since it was last rethought: it cannot fail where it should.
    pub vacuous: bool,
}

/// How often older tests may break for a target before the tester rethinks it.
const MAX_CLASHES: u32 = 2;

impl Turn {
    /// The next move of a role, if each step has at most `max` attempts.
    ///
    /// A rethink costs no attempt. It comes as soon as the target is found vacuous; and, if `max >= 3`, before attempt
    /// `max - 1` of a green or when older tests keep breaking for the target. If older tests break again after the
    /// rethink, or the target is still vacuous, the run stops for a person. An implementor without a red test stops,
    /// too.
    pub fn next_move(role: Role, reds: Vec<RedTest>, tried: Tried, max: u32) -> NextMove {
        let Tried { spent, rethought, clashes, mend, vacuous } = tried;
        let attempt = spent + 1;
        match role {
            Role::Tester if spent < max => NextMove::Turn(Self::Red { attempt }),
            Role::Tester => NextMove::Stop,
            Role::Implementor => match reds.first() {
                None => NextMove::Stop,
                Some(test) if mend => NextMove::Turn(Self::Rethink { test: test.clone(), mend }),
                // The tests contradict each other even after the rethink, or the target is still vacuous: a person must
                // decide.
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

    /// The next move of a task in refactor mode. Only a person may skip a task.
    pub fn next_task_move(spent: u32, max: u32) -> NextMove {
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

    /// The phase of this turn's commit.
    pub fn phase(&self) -> Phase {
        match self {
            Self::Red { .. } => Phase::Red,
            Self::Green { .. } => Phase::Green,
            Self::Rethink { .. } => Phase::RethinkTest,
            Self::Refactor { .. } | Self::Task { .. } => Phase::Refactor,
        }
    }

    /// The number of the attempt; always 1 for a rethink.
    pub fn attempt(&self) -> u32 {
        match self {
            Self::Red { attempt }
            | Self::Green { attempt, .. }
            | Self::Refactor { attempt }
            | Self::Task { attempt } => *attempt,
            Self::Rethink { .. } => 1,
        }
    }

    /// The red tests that the turn is about.
    pub fn targets(&self) -> Vec<TestId> {
        match self {
            Self::Red { .. } | Self::Refactor { .. } | Self::Task { .. } => Vec::new(),
            Self::Green { tests, .. } => tests.iter().map(|test| test.id().clone()).collect(),
            Self::Rethink { test, .. } => vec![test.id().clone()],
        }
    }
}

/// The position in the cycle, read from the trailers of HEAD's first-parent commits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Position {
    /// The last step that ended; 0 before the first.
    pub step: u32,
    /// Its phase.
    pub phase: Option<Phase>,
    /// The test that it was about.
    pub test: Option<TestId>,
    /// The role whose turn comes next.
    pub next_role: Role,
}

impl Position {
    /// The position before any step.
    pub fn start() -> Self {
        Self { step: 0, phase: None, test: None, next_role: Role::Tester }
    }

    /// The position after the newest commit that carries our trailers; `history` is newest first and is read no
    /// further.
    pub fn of_history(history: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        history.into_iter().find_map(|message| Self::of_message(message.as_ref())).unwrap_or_else(Self::start)
    }

    /// The position, adjusted for a step that ended without a commit on the current HEAD. A stopped step is still due,
    /// but the steps before it may have left no commit either.
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

    /// The role whose turn it is: red tests are made green first, and without one the implementor has nothing to do.
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
        // A characterization test leaves nothing for the implementor to do.
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

    /// The attempts of a role that never succeeds, `r` for a rethink, and how they end.
    fn ladder(role: Role, max: u32) -> String {
        let (mut tried, mut seen) = (Tried::default(), String::new());
        for _ in 0..20 {
            match Turn::next_move(role, vec![red()], tried, max) {
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
        let seen = (0..5).map(|spent| match Turn::next_task_move(spent, 3) {
            NextMove::Turn(turn) => turn.attempt().to_string(),
            NextMove::Skip => "skip".to_owned(),
            NextMove::Stop => "stop".to_owned(),
        });
        assert_eq!(seen.collect::<Vec<_>>(), ["1", "2", "3", "stop", "stop"]);
    }

    #[test]
    fn tests_that_contradict_each_other_are_thought_over_once_and_then_shown_to_a_person() {
        let next_move = |tried| Turn::next_move(Role::Implementor, vec![red()], tried, 5);
        let clash = |clashes, rethought| next_move(Tried { spent: clashes, rethought, clashes, ..Tried::default() });
        assert!(matches!(clash(1, false), NextMove::Turn(Turn::Green { attempt: 2, .. })));
        assert!(matches!(clash(2, false), NextMove::Turn(Turn::Rethink { .. })));
        assert!(matches!(
            next_move(Tried { spent: 2, rethought: true, ..Tried::default() }),
            NextMove::Turn(Turn::Green { .. })
        ));
        assert_eq!(clash(1, true), NextMove::Stop);
    }

    #[test]
    fn a_test_that_cannot_fail_goes_back_to_the_tester_once_and_then_to_a_person() {
        for max in 1..=5 {
            let next_move = |tried| Turn::next_move(Role::Implementor, vec![red()], tried, max);
            let vacuous = Tried { vacuous: true, ..Tried::default() };
            assert_eq!(next_move(vacuous), NextMove::Turn(Turn::Rethink { test: red(), mend: false }));
            assert_eq!(next_move(Tried { rethought: true, ..vacuous }), NextMove::Stop);
        }
    }

    #[test]
    fn what_lies_in_the_tests_alone_is_the_testers_to_mend_whatever_is_spent() {
        let tried = Tried { spent: 5, mend: true, ..Tried::default() };
        let mend = NextMove::Turn(Turn::Rethink { test: red(), mend: true });
        assert_eq!(Turn::next_move(Role::Implementor, vec![red()], tried, 5), mend);
    }

    #[test]
    fn a_refactor_that_fails_is_skipped_and_a_tester_that_fails_stops() {
        assert_eq!(ladder(Role::Refactorer, 2), "12 skip");
        assert_eq!(ladder(Role::Tester, 3), "123 stop");
    }

    #[test]
    fn an_implementor_has_no_turn_without_a_red_test() {
        assert_eq!(Turn::next_move(Role::Implementor, Vec::new(), Tried::default(), 5), NextMove::Stop);
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
