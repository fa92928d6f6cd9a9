//! A program's memory on a branch of its own: loads it, records events, and syncs it with a remote.

use tdd_core::digest::CommitId;
use tdd_core::program::MEMORY;
use tdd_core::program::import;
use tdd_core::program::page;
use tdd_core::program::state::{Happened, State};
use tdd_core::seam::Clock;

use super::error::ProgramError;
use super::found::ProgramFiles;
use crate::clock::WallClock;
use crate::git::{Lineage, Repo, Signature};
use crate::process::Spawner;
use crate::remote::{Pushed, Remote};

/// The memory of one program.
pub struct Memory<'a> {
    pub(super) repo: &'a Repo,
    pub(super) found: &'a ProgramFiles,
    pub(super) author: Signature,
    pub(super) spawner: Spawner,
    /// The remote to sync with.
    pub(super) remote: Option<String>,
}

/// How often to retry when another process moves the branch.
const TRIES: u32 = 5;
/// Prefix of a commit message line that records an event.
const LINE: &str = "Happened: ";
/// Prefix of the commit message line that names the program.
const PROGRAM: &str = "Program: ";

impl Memory<'_> {
    /// The local state, including a person's edits to the page.
    pub fn load(&self) -> Result<State, ProgramError> {
        let at = self.repo.branch(MEMORY)?;
        let (mut state, news) = self.at(at.as_ref(), &self.found.name)?;
        for happened in &news {
            state.apply(happened);
        }
        state.face(self.found.definition.direction);
        Ok(state)
    }

    /// Syncs our branch with the remote's, if there is one. Both sides' events add up; nothing is overwritten.
    pub fn fetch(&self) -> Result<(), ProgramError> {
        let Some(remote) = self.remote() else { return Ok(()) };
        for _ in 0..TRIES {
            let theirs = remote.fetch(MEMORY)?;
            let Some(theirs) = theirs else { return Ok(()) };
            if self.join(&theirs)? {
                return Ok(());
            }
        }
        Err(ProgramError::Busy)
    }

    /// Records events on the branch, locally and on the remote; returns the resulting state, including what others
    /// pushed in the meantime.
    pub fn record(&self, happened: &[Happened]) -> Result<State, ProgramError> {
        self.commit(happened)?;
        self.push()?;
        self.load()
    }

    /// Pushes the branch to the remote.
    pub fn push(&self) -> Result<(), ProgramError> {
        let Some(remote) = self.remote() else { return Ok(()) };
        for _ in 0..TRIES {
            let Some(ours) = self.repo.branch(MEMORY)? else { return Ok(()) };
            match remote.push(&ours, MEMORY)? {
                Pushed::Done => return Ok(()),
                Pushed::Rejected => self.fetch()?,
            }
        }
        Err(ProgramError::Busy)
    }

    fn remote(&self) -> Option<Remote<'_>> {
        let name = self.remote.as_deref()?;
        Some(Remote { repo: self.repo, spawner: &self.spawner, name })
    }

    /// Records events on the local branch. If another process moves the branch in between, applies the events to the
    /// newer state.
    fn commit(&self, happened: &[Happened]) -> Result<(), ProgramError> {
        for _ in 0..TRIES {
            let at = self.repo.branch(MEMORY)?;
            let (mut state, mut all) = self.at(at.as_ref(), &self.found.name)?;
            all.extend_from_slice(happened);
            state.face(self.found.definition.direction);
            for happened in &all {
                state.apply(happened);
            }
            if all.is_empty() {
                return Ok(());
            }
            let commit = self.remember(at.as_ref(), &mut state, &self.found.name, &all)?;
            if self.repo.move_branch(MEMORY, at.as_ref(), &commit)? {
                return Ok(());
            }
        }
        Err(ProgramError::Busy)
    }

    /// A program's state in a commit of the branch, and a person's edits since that state was written.
    fn at(&self, commit: Option<&CommitId>, program: &str) -> Result<(State, Vec<Happened>), ProgramError> {
        let text = |ending: &str| match commit {
            Some(commit) => self.repo.text_of(commit, &format!("{program}.{ending}")),
            None => Ok(None),
        };
        let (json, page, now) = (text("json")?, text("md")?, WallClock.now_ms());
        Ok(match (json, page) {
            (Some(json), page) => {
                let state = State::parse(&json)?;
                let news = page.map_or_else(Vec::new, |page| import::edits(&page, &state, now));
                (state, news)
            }
            (None, Some(page)) => {
                let state = Box::new(import::read(&page, self.found.definition.direction, now).into_state(program));
                (State::new(program), vec![Happened::Imported { state }])
            }
            (None, None) => (State::new(program), Vec::new()),
        })
    }

    /// Makes a commit with this state on top of another; moves no branch.
    fn remember(
        &self,
        onto: Option<&CommitId>,
        state: &mut State,
        program: &str,
        happened: &[Happened],
    ) -> Result<CommitId, ProgramError> {
        let definition = &self.found.definition;
        state.fold(definition.cap);
        let target = definition.target_metric.filter(|_| program == self.found.name);
        let files =
            [(format!("{program}.json"), state.to_json()), (format!("{program}.md"), page::write(state, target))];
        let subject = happened.last().map_or("nothing", word);
        let mut message = format!("chore({program}): {subject}\n\n{PROGRAM}{program}\n");
        for happened in happened {
            // Events consist of strings and finite numbers, so serializing cannot fail.
            message += &format!("{LINE}{}\n", serde_json::to_string(happened).unwrap_or_default());
        }
        Ok(self.repo.commit_aside(onto, &files, &message, &self.author)?)
    }

    /// Moves our branch to the remote's, with our own events replayed on top; `false` if ours moved in the meantime.
    fn join(&self, theirs: &CommitId) -> Result<bool, ProgramError> {
        let Some(ours) = self.repo.branch(MEMORY)? else { return Ok(self.repo.move_branch(MEMORY, None, theirs)?) };
        let lacking = match self.repo.lineage(&ours, theirs)? {
            Lineage::Same | Lineage::Ahead => return Ok(true),
            Lineage::Behind => return Ok(self.repo.move_branch(MEMORY, Some(&ours), theirs)?),
            Lineage::Diverged { ours } => ours,
        };
        let mut tip = theirs.clone();
        for commit in lacking {
            let Some((program, happened)) = parse_message(&self.repo.message(&commit)?) else {
                let remote = self.remote.clone().unwrap_or_default();
                return Err(ProgramError::Diverged { remote, commit: commit.short().to_owned() });
            };
            let (mut state, mut all) = self.at(Some(&tip), &program)?;
            all.extend(happened);
            for happened in &all {
                state.apply(happened);
            }
            tip = self.remember(Some(&tip), &mut state, &program, &all)?;
        }
        Ok(self.repo.move_branch(MEMORY, Some(&ours), &tip)?)
    }
}

/// The program and events in a commit message of ours.
fn parse_message(message: &str) -> Option<(String, Vec<Happened>)> {
    let program = message.lines().find_map(|line| line.strip_prefix(PROGRAM))?;
    let lines = message.lines().filter_map(|line| line.strip_prefix(LINE));
    let happened: Option<Vec<Happened>> = lines.map(|line| serde_json::from_str(line).ok()).collect();
    Some((program.to_owned(), happened.filter(|all| !all.is_empty())?))
}

fn word(happened: &Happened) -> &'static str {
    match happened {
        Happened::Imported { .. } => "read from a page",
        Happened::Measured { .. } => "measured",
        Happened::Iterated { iteration, .. } => iteration.overview.outcome.word(),
        Happened::Settled { passed: true, .. } => "its checks passed",
        Happened::Settled { passed: false, .. } => "its checks failed",
        Happened::Paused { .. } => "paused",
        Happened::Resumed { .. } => "resumed",
        Happened::Completed { .. } => "completed",
        Happened::Prioritised { .. } => "steered",
    }
}
