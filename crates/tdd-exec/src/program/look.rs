//! Decides whether a program can run: the shared answer of `program status`, `list`, `run`, `pause` and `resume`.

use tdd_core::program::schedule::RunState;
use tdd_core::program::state::State;
use tdd_core::seam::Clock as _;
use tdd_core::session::Session;

use super::ProgramContext;
use super::error::ProgramError;
use super::found::ProgramFiles;
use super::memory::Memory;
use crate::clock::WallClock;
use crate::ledger::{self, LedgerError};
use crate::state::StateDir;

/// A program's state, and whether a run would refuse it.
pub struct Look {
    /// What the program remembers.
    pub state: State,
    /// Whether it is due, waiting, paused or done.
    pub standing: RunState,
    /// Why a run would refuse, if it would.
    pub refusal: Option<ProgramError>,
}

impl ProgramContext {
    /// Looks at a program; `allow_untracked` means the same as for a run.
    pub fn look(&self, found: &ProgramFiles, memory: &Memory<'_>, allow_untracked: bool) -> Result<Look, ProgramError> {
        let state = memory.load()?;
        let standing = RunState::of(found.definition.schedule, &state, WallClock.now_ms());
        let refusal = match (found.not_ready(), &standing) {
            (Some(not_ready), _) => Some(not_ready),
            (None, RunState::Paused { reason } | RunState::Blocked { reason }) => Some(ProgramError::Stopped {
                program: found.name.clone(),
                word: standing.word(),
                reason: reason.clone(),
            }),
            (None, RunState::Due | RunState::Waiting { .. }) => self.in_the_way(found, allow_untracked)?,
            (None, RunState::Pending | RunState::Done { .. } | RunState::NotReady { .. }) => None,
        };
        let standing = match (&refusal, standing) {
            (Some(refusal), RunState::Due) => RunState::NotReady { reason: refusal.why() },
            (Some(refusal @ ProgramError::NotReady { .. }), _) => RunState::NotReady { reason: refusal.why() },
            (_, standing) => standing,
        };
        Ok(Look { state, standing, refusal })
    }

    /// What keeps a program that is otherwise ready from beginning an iteration.
    fn in_the_way(&self, found: &ProgramFiles, allow_untracked: bool) -> Result<Option<ProgramError>, ProgramError> {
        let Some(dir) = StateDir::find(self.repo.root())? else {
            return self.obstacle(&found.name, &Session::default(), allow_untracked);
        };
        match ledger::check_free(&dir) {
            Ok(()) => {}
            Err(locked @ LedgerError::Locked { .. }) => return Ok(Some(locked.into())),
            Err(error) => return Err(error.into()),
        }
        let session = ledger::read_session(&dir)?.unwrap_or_default();
        self.obstacle(&found.name, &session, allow_untracked)
    }

    /// What in the ledger or the repository keeps a program from beginning an iteration. An iteration under way always
    /// continues.
    pub(super) fn obstacle(
        &self,
        program: &str,
        session: &Session,
        allow_untracked: bool,
    ) -> Result<Option<ProgramError>, ProgramError> {
        let standing = session.machine_state();
        if let Some(iteration) = standing.iteration() {
            let other = &iteration.start.program;
            return Ok((other != program).then(|| ProgramError::Other(other.clone())));
        }
        if let Some(pause) = standing.pause() {
            let (reason, next) = (pause.reason.clone(), pause.next.clone());
            return Ok(Some(ProgramError::MachinePaused { reason, next }));
        }
        if standing.refactor().is_some_and(|mode| mode.mark.is_none()) {
            return Ok(Some(ProgramError::RefactorMode));
        }
        let head = self.repo.head()?;
        if head.commit.is_none() || head.branch.is_none() {
            return Ok(Some(ProgramError::NoBranch));
        }
        // The machine itself repairs a step that was interrupted.
        let is_cut_short = standing.step().is_some_and(|step| step.open.is_some());
        if is_cut_short { Ok(None) } else { self.unclean(allow_untracked) }
    }

    /// Refuses if a person has uncommitted work.
    fn unclean(&self, allow_untracked: bool) -> Result<Option<ProgramError>, ProgramError> {
        let dirty = self.repo.dirty()?;
        if let Some(path) = dirty.modified_tracked.first() {
            let more = dirty.modified_tracked.len() - 1;
            return Ok(Some(ProgramError::Modified { path: path.to_string(), more }));
        }
        let untracked = dirty.untracked.first().filter(|_| !allow_untracked);
        let more = dirty.untracked.len().saturating_sub(1);
        Ok(untracked.map(|path| ProgramError::Untracked { path: path.to_string(), more }))
    }
}
