//! A run's mandate: what it is to build, the test that it must come to, and the mark that its commits carry.

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

/// What a run is asked to build. The default is the project's kata, whatever comes of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mandate {
    /// What the models are told in the place of the kata.
    pub brief: Option<String>,
    /// The test that the tester is to write, and no other.
    pub target: Option<Fixed>,
    /// A line of its own in the body of every commit, such as `[phase-05/plan-01/task-01]`.
    pub mark: Option<String>,
    /// It is a task that is done in refactor mode, outside of the cycle, of a plan of this type; then it must have a mark.
    pub task: Option<plan::Kind>,
    /// What it is for, in one sentence; if there is none, the first sentence of the brief.
    pub goal: Option<String>,
    /// Files that say what to do, and that nobody may change while it is done.
    pub protected: Vec<String>,
    /// What each role is told besides, behind the brief.
    pub framing: BTreeMap<Role, String>,
    /// The files that may be touched; all of them if there is no fence.
    pub fence: Option<Fence>,
    /// Who alone is on turn while no test is red.
    pub only: Option<Role>,
    /// A role that uses up its attempts ends the run without a pause: whoever gave the mandate goes on by itself.
    pub goes_on: bool,
}

/// A test that is not the tester's to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// Its id.
    pub test: TestId,
    /// The file that it is to stand in.
    pub file: String,
}

impl<B: StepWorkshop, A: Agent, R: Reporter> Machine<B, A, R> {
    /// What the models are told to build.
    pub(super) fn brief(&self) -> &str {
        self.mandate.brief.as_deref().unwrap_or(&self.kata)
    }

    /// All that a role is told to do.
    pub(super) fn told(&self, role: Role) -> String {
        match self.mandate.framing.get(&role) {
            Some(framing) => format!("{}\n\n{framing}", self.brief().trim_end()),
            None => self.brief().to_owned(),
        }
    }

    /// What kind of change a turn makes under the mandate.
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

    /// The test that a tester's turn must bring.
    pub(super) fn fixed(&self, turn: &Turn) -> Option<&Fixed> {
        self.mandate.target.as_ref().filter(|_| matches!(turn, Turn::Red { .. }))
    }

    /// The mark of a task that is done in refactor mode.
    pub(super) fn task_mark(&self) -> Option<&str> {
        self.mandate.mark.as_deref().filter(|_| self.mandate.task.is_some())
    }

    /// What a rethink rests on: a sentence of what is to be done, or a file that is to be followed.
    pub(super) fn source(&self, turn: &Turn, result: &StepResult) -> Fallible<Source, B, A> {
        let Turn::Rethink { test, mend: false } = turn else { return Ok(Source::Proven) };
        let source = result.spec_source.trim();
        if quote::is_from(source, &self.told(turn.role())) || self.names_another_file(source, test.id())? {
            return Ok(Source::Proven);
        }
        Ok(if source.is_empty() { Source::Empty } else { Source::Unfounded })
    }

    /// Programs follow references: a file that is neither the kata nor the test itself.
    fn names_another_file(&self, source: &str, test: &TestId) -> Fallible<bool, B, A> {
        let kata = self.bench.config().kata_description.as_str();
        let names = source.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
        for name in names.filter(|name| *name != kata && Some(*name) != test.path()) {
            if self.bench.read(name).map_err(MachineError::Work)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
