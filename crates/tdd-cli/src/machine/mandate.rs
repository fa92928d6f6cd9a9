//! A run's mandate: what it is to build, the test that it must come to, and the mark that its commits carry.

use std::collections::BTreeMap;

use tdd_agents::plan::EditPlan;
use tdd_core::cycle::{Role, Turn};
use tdd_core::gate::Files;
use tdd_core::program::fence::Fence;
use tdd_core::quote;
use tdd_core::rule::{Refusal, Rule};
use tdd_core::scope;
use tdd_core::test_id::TestId;

use tdd_exec::sources::StoredSources;
use tdd_lang::language::Sources as _;

use super::Machine;
use crate::error::CliError;

/// What a run is asked to build. The default is the project's kata, whatever comes of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mandate {
    /// What the models are told in the place of the kata.
    pub brief: Option<String>,
    /// The test that the tester is to write, and no other.
    pub target: Option<Fixed>,
    /// A line of its own in the body of every commit, such as `[phase-05/plan-01/task-01]`.
    pub mark: Option<String>,
    /// It is done in refactor mode, outside of the cycle; then it must have a mark.
    pub free: bool,
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

impl Machine<'_> {
    /// What the models are told to build.
    pub fn brief(&self) -> &str {
        self.mandate.brief.as_deref().unwrap_or(&self.kata)
    }

    /// All that a role is told to do.
    pub fn told(&self, role: Role) -> String {
        match self.mandate.framing.get(&role) {
            Some(framing) => format!("{}\n\n{framing}", self.brief().trim_end()),
            None => self.brief().to_owned(),
        }
    }

    /// The test that a tester's turn must bring.
    pub fn fixed(&self, turn: &Turn) -> Option<&Fixed> {
        self.mandate.target.as_ref().filter(|_| matches!(turn, Turn::Red { .. }))
    }

    /// The mark of a task that is done in refactor mode.
    pub fn task_mark(&self) -> Option<&str> {
        self.mandate.mark.as_deref().filter(|_| self.mandate.free)
    }

    /// What says what to do stays as it is, and a red brings the test that it was asked for.
    pub fn judge_mandate(&self, turn: &Turn, files: &Files) -> Result<Result<(), Refusal>, CliError> {
        if let Some(path) = files.keys().find(|path| self.mandate.protected.contains(path)) {
            let reason = format!("`{path}` says what is to be done, and is a person's");
            return Ok(Err(Rule::ProtectedPath.refuse(reason, "leave it as it is")));
        }
        let Some(fixed) = self.fixed(turn) else { return Ok(Ok(())) };
        let change = self.trial.change_to(files, false)?;
        Ok(scope::asked_for(&change, &fixed.test, &fixed.file))
    }

    /// Who changes a doubted test says what proves it wrong: a sentence of what is to be done, or a file that is to be
    /// followed.
    pub fn judge_source(&self, turn: &Turn, plan: &EditPlan) -> Result<Result<(), Refusal>, CliError> {
        let Turn::Rethink { test, mend: false } = turn else { return Ok(Ok(())) };
        let source = plan.spec_source.trim();
        if quote::is_from(source, &self.told(turn.role())) || self.names_another_file(source, test.id())? {
            return Ok(Ok(()));
        }
        let reason = match source {
            "" => "a test is changed only where the kata proves it wrong, and `spec_source` is empty",
            _ => {
                "a test is changed only where the kata proves it wrong, and what `spec_source` says is not in the kata"
            }
        };
        let next = "quote the sentence of the kata that the test contradicts in `spec_source`, word for word; or send no \
                    edits, and the test stays as it is";
        Ok(Err(Rule::TestsFrozen.refuse(reason, next).about(test.id())))
    }

    /// Programs follow references: a file that is neither the kata nor the test itself.
    fn names_another_file(&self, source: &str, test: &TestId) -> Result<bool, CliError> {
        let base = StoredSources::new(&self.trial.repo, &self.trial.base)?;
        let kata = self.trial.loaded.config.kata_description.as_str();
        let mut names = source.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
        Ok(names.any(|name| name != kata && Some(name) != test.path() && base.read(name).is_some()))
    }
}
