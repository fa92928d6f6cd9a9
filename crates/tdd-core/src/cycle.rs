//! Who is on turn, and where a history of commits stands in the cycle.

use serde::{Deserialize, Serialize};

use crate::commit::Trailers;
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
    /// The implementor makes a red test pass.
    Green {
        /// The test that must pass.
        test: RedTest,
        /// Which try this is.
        attempt: u32,
    },
    /// The tester looks again at a test that could not be made to pass.
    Rethink {
        /// The doubted test.
        test: RedTest,
        /// The implementor's attempts that are already spent.
        spent: u32,
    },
    /// The refactorer improves the code.
    Refactor {
        /// Which try this is.
        attempt: u32,
    },
}

/// How an attempt of a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// It was kept; a red or a rethink hands on its test.
    Kept(Option<RedTest>),
    /// It was undone.
    Undone,
}

/// What comes after an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum After {
    /// This turn.
    Turn(Turn),
    /// Nobody's: all attempts are spent and a person must look.
    Stop,
}

impl Turn {
    /// The turn in which a role begins; an implementor without a red test has none.
    pub fn begin(role: Role, red: Option<RedTest>) -> Option<Self> {
        match (role, red) {
            (Role::Tester, _) => Some(Self::Red { attempt: 1 }),
            (Role::Implementor, Some(test)) => Some(Self::Green { test, attempt: 1 }),
            (Role::Implementor, None) => None,
            (Role::Refactorer, _) => Some(Self::Refactor { attempt: 1 }),
        }
    }

    /// The role that acts in this turn.
    pub fn role(&self) -> Role {
        match self {
            Self::Red { .. } | Self::Rethink { .. } => Role::Tester,
            Self::Green { .. } => Role::Implementor,
            Self::Refactor { .. } => Role::Refactorer,
        }
    }

    /// What follows this turn, if each step has at most `max` attempts.
    ///
    /// A rethink comes before attempt `max - 1` of a green (none if `max < 3`) and costs no attempt;
    /// a failed refactor is skipped, never fatal, after its attempts.
    pub fn after(self, end: TurnEnd, max: u32) -> After {
        match (self, end) {
            (Self::Red { .. }, TurnEnd::Kept(Some(test))) => After::Turn(Self::Green { test, attempt: 1 }),
            (Self::Red { attempt }, TurnEnd::Kept(None) | TurnEnd::Undone) if attempt < max => {
                After::Turn(Self::Red { attempt: attempt + 1 })
            }
            (Self::Red { .. }, TurnEnd::Kept(None) | TurnEnd::Undone) => After::Stop,
            (Self::Green { .. }, TurnEnd::Kept(_)) => After::Turn(Self::Refactor { attempt: 1 }),
            (Self::Green { test, attempt }, TurnEnd::Undone) if max >= 3 && attempt + 2 == max => {
                After::Turn(Self::Rethink { test, spent: attempt })
            }
            (Self::Green { test, attempt }, TurnEnd::Undone) if attempt < max => {
                After::Turn(Self::Green { test, attempt: attempt + 1 })
            }
            (Self::Green { .. }, TurnEnd::Undone) => After::Stop,
            (Self::Rethink { spent, .. }, TurnEnd::Kept(Some(test)))
            | (Self::Rethink { test, spent }, TurnEnd::Undone) => After::Turn(Self::Green { test, attempt: spent + 1 }),
            // The doubted test was withdrawn: a new one is due.
            (Self::Rethink { .. }, TurnEnd::Kept(None)) => After::Turn(Self::Red { attempt: 1 }),
            (Self::Refactor { .. }, TurnEnd::Kept(_)) => After::Turn(Self::Red { attempt: 1 }),
            (Self::Refactor { attempt }, TurnEnd::Undone) if attempt < max => {
                After::Turn(Self::Refactor { attempt: attempt + 1 })
            }
            (Self::Refactor { .. }, TurnEnd::Undone) => After::Turn(Self::Red { attempt: 1 }),
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
    pub fn of_history<'a>(history: impl IntoIterator<Item = &'a str>) -> Self {
        history.into_iter().find_map(Self::of_message).unwrap_or_else(Self::start)
    }

    fn of_message(message: &str) -> Option<Self> {
        let trailers = Trailers::parse(message);
        let step = trailers.get("TDD-Step")?.parse().ok()?;
        let phase = Phase::parse(trailers.get("TDD-Phase")?)?;
        let test = trailers.get("TDD-Test").and_then(|id| TestId::parse(id).ok());
        Some(Self { step, phase: Some(phase), test, next_role: phase.next_role() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn red() -> RedTest {
        RedTest::proven(TestId::parse("tests/a.rs::adds").unwrap(), Cause::Assertion).unwrap()
    }

    /// The attempts of a green that never succeeds, `r` for a rethink, until the stop.
    fn ladder(max: u32) -> String {
        let mut turn = Turn::begin(Role::Implementor, Some(red())).unwrap();
        let mut seen = String::new();
        loop {
            seen += &match &turn {
                Turn::Green { attempt, .. } => attempt.to_string(),
                Turn::Rethink { .. } => "r".to_owned(),
                other => format!("{other:?}"),
            };
            match turn.after(TurnEnd::Undone, max) {
                After::Turn(next) => turn = next,
                After::Stop => return seen,
            }
        }
    }

    #[test]
    fn a_green_that_never_succeeds_climbs_the_ladder_and_stops() {
        assert_eq!(ladder(5), "123r45");
        assert_eq!(ladder(4), "12r34");
        assert_eq!(ladder(3), "1r23");
        assert_eq!(ladder(2), "12");
        assert_eq!(ladder(1), "1");
    }

    #[test]
    fn a_kept_cycle_goes_round() {
        let mut turn = Turn::begin(Role::Tester, None).unwrap();
        let mut roles = Vec::new();
        for kept in [Some(red()), None, None, Some(red())] {
            roles.push(turn.role());
            turn = match turn.after(TurnEnd::Kept(kept), 5) {
                After::Turn(next) => next,
                After::Stop => panic!("stopped after {roles:?}"),
            };
        }
        assert_eq!(roles, [Role::Tester, Role::Implementor, Role::Refactorer, Role::Tester]);
    }

    #[test]
    fn a_refactor_that_fails_is_skipped_and_a_tester_that_fails_stops() {
        assert_eq!(Turn::Refactor { attempt: 5 }.after(TurnEnd::Undone, 5), After::Turn(Turn::Red { attempt: 1 }));
        assert_eq!(Turn::Red { attempt: 5 }.after(TurnEnd::Undone, 5), After::Stop);
        assert_eq!(Turn::Red { attempt: 4 }.after(TurnEnd::Undone, 5), After::Turn(Turn::Red { attempt: 5 }));
    }

    #[test]
    fn a_rethought_test_costs_no_attempt_and_a_withdrawn_one_asks_for_another() {
        let rethink = || Turn::Rethink { test: red(), spent: 3 };
        assert_eq!(
            rethink().after(TurnEnd::Kept(Some(red())), 5),
            After::Turn(Turn::Green { test: red(), attempt: 4 })
        );
        assert_eq!(rethink().after(TurnEnd::Kept(None), 5), After::Turn(Turn::Red { attempt: 1 }));
    }

    #[test]
    fn an_implementor_has_no_turn_without_a_red_test() {
        assert_eq!(Turn::begin(Role::Implementor, None), None);
        assert_eq!(RedTest::proven(red().id, Cause::SyntaxError), None);
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
