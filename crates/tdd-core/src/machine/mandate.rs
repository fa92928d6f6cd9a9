//! A run's mandate: what to build, which test the tester must write, and the mark that its commits carry.

use std::collections::BTreeMap;

use super::{Fallible, Machine, MachineError};
use crate::cycle::{Role, Turn};
use crate::gate::Source;
use crate::law::Kind;
use crate::plan;
use crate::program::fence::Fence;
use crate::quote;
use crate::seam::{Agent, Reporter, StepResult, StepWorkshop};
use crate::test_id::TestId;

/// What a run is to build. The default is the project's kata.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mandate {
    /// Text that the models get instead of the kata.
    pub brief: Option<String>,
    /// The only test that the tester may write.
    pub target: Option<AssignedTest>,
    /// A line in the body of every commit, such as `[phase-05/plan-01/task-01]`.
    pub mark: Option<String>,
    /// The type of the plan, if this is a task that is done in refactor mode, outside the cycle. Such a task needs a
    /// mark.
    pub task: Option<plan::Kind>,
    /// The goal in one sentence; the default is the first sentence of the brief.
    pub goal: Option<String>,
    /// Spec files that no edit may change.
    pub protected: Vec<String>,
    /// Extra text for each role, appended to the brief.
    pub framing: BTreeMap<Role, String>,
    /// The files that may be edited; `None` allows all files.
    pub fence: Option<Fence>,
    /// The only role that acts while no test is red.
    pub only: Option<Role>,
    /// A role that uses up its attempts ends the run without a pause, because the caller continues by itself.
    pub caller_continues: bool,
}

/// A test that the plan chose instead of the tester.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssignedTest {
    /// Its id.
    pub test: TestId,
    /// The file it belongs in.
    pub file: String,
}

impl<B: StepWorkshop, A: Agent, R: Reporter> Machine<B, A, R> {
    /// The mandate's brief, or the kata.
    pub(super) fn brief(&self) -> &str {
        self.mandate.brief.as_deref().unwrap_or(&self.kata)
    }

    /// The brief with the role's framing.
    pub(super) fn framed_brief(&self, role: Role) -> String {
        match self.mandate.framing.get(&role) {
            Some(framing) => format!("{}\n\n{framing}", self.brief().trim_end()),
            None => self.brief().to_owned(),
        }
    }

    /// The kind of change that a turn makes under the mandate.
    pub(super) fn kind(&self, turn: &Turn) -> Kind {
        match turn {
            Turn::Red { .. } => Kind::Red,
            Turn::Green { .. } => Kind::Green,
            Turn::Rethink { mend: true, .. } => Kind::Mend,
            Turn::Rethink { mend: false, .. } => Kind::Rethink,
            Turn::Refactor { .. } => Kind::Refactor,
            Turn::Task { .. } => match self.mandate.task {
                Some(plan::Kind::Execute) => Kind::Execute,
                Some(plan::Kind::Tdd) | None => Kind::Task,
            },
        }
    }

    /// The test that this turn must write, if the mandate fixes it.
    pub(super) fn fixed(&self, turn: &Turn) -> Option<&AssignedTest> {
        self.mandate.target.as_ref().filter(|_| matches!(turn, Turn::Red { .. }))
    }

    /// The mark of the mandate, if it is a task that is done in refactor mode.
    pub(super) fn task_mark(&self) -> Option<&str> {
        self.mandate.mark.as_deref().filter(|_| self.mandate.task.is_some())
    }

    /// Whether a rethink cites its source: a sentence of the brief, or another file of the project.
    pub(super) fn source(&self, turn: &Turn, result: &StepResult) -> Fallible<Source, B, A> {
        let Turn::Rethink { test, mend: false } = turn else { return Ok(Source::Proven) };
        let source = result.spec_source.trim();
        if quote::is_from(source, &self.framed_brief(turn.role())) || self.names_another_file(source, test.id())? {
            return Ok(Source::Proven);
        }
        Ok(if source.is_empty() { Source::Empty } else { Source::Unfounded })
    }

    /// Whether the source names a file other than the kata and the test's own file: programs refer to such files.
    fn names_another_file(&self, source: &str, test: &TestId) -> Fallible<bool, B, A> {
        let kata = self.workshop.config().kata_description.as_str();
        let names = source.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
        for name in names.filter(|name| *name != kata && Some(*name) != test.path()) {
            if self.workshop.read(name).map_err(MachineError::Work)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
