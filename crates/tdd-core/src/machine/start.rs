//! Starts a run: cleans up after an interrupted one, and refuses to start on a person's unfinished work.

use std::collections::BTreeMap;

use super::{Agenda, End, Fallible, Machine, MachineError, Mandate, Order, workshop_error};
use crate::commit::Trailers;
use crate::cycle::Role;
use crate::digest::{CommitId, Digest};
use crate::event::{Committed, Event, Resynced, Reverted, RunEnd, RunStart, StepEnd, StepOutcome};
use crate::law::Kind;
use crate::machine_state::Step;
use crate::requirements::Requirements;
use crate::seam::{Agent, Head, Reporter, StepWorkshop, Vcs};

/// The parameters of a run.
pub struct Start {
    /// When to stop.
    pub order: Order,
    /// The kata's text; empty if the mandate has its own brief.
    pub kata: String,
    /// What it is to build.
    pub mandate: Mandate,
    /// Several mandates in order, if a plan is carried out; each replaces `mandate` when it is due.
    pub agenda: Option<Agenda>,
    /// The version of this program, for the ledger.
    pub version: String,
}

impl<B: StepWorkshop, A: Agent, R: Reporter> Machine<B, A, R> {
    /// Cleans up, refuses a project that is not ready for a run, and records the start.
    pub fn start(workshop: B, agents: impl IntoIterator<Item = A>, reporter: R, start: Start) -> Fallible<Self, B, A> {
        let Start { order, kata, mandate, agenda, version } = start;
        let agents: BTreeMap<Role, A> = agents.into_iter().map(|agent| (agent.role(), agent)).collect();
        if let Some(role) = Role::ALL.into_iter().find(|role| !agents.contains_key(role)) {
            return Err(MachineError::NoAgent(role));
        }
        let begun = workshop.elapsed();
        let mut machine = Self {
            workshop,
            agents,
            reporter,
            requirements: Requirements::of(&kata),
            named: Vec::new(),
            kata,
            mandate,
            agenda,
            order,
            begun,
            steps_done: 0,
            cycle_over: false,
            log: None,
            check_fails: None,
            complaint: None,
            kata_cut: false,
        };
        machine.workshop.prepare().map_err(MachineError::Work)?;
        machine.recover()?;
        machine.refuse_unclean()?;
        machine.refuse_refactor_mode()?;
        machine.resync()?;
        machine.check_baseline()?;
        let head = machine.workshop.vcs().head().map_err(workshop_error)?;
        let step = machine.position(&head)?.step;
        let kata = Digest::of(machine.brief());
        let plans = machine.agenda.as_ref().map(|agenda| agenda.plans.clone()).unwrap_or_default();
        machine.record(&[Event::RunStart(RunStart { version, kata, step, plans })])?;
        Ok(machine)
    }

    /// Cleans up, and records the end of the run.
    pub(super) fn finish(&mut self, end: &End) -> Fallible<(), B, A> {
        self.tidy()?;
        self.record(&[Event::RunEnd(RunEnd { reason: end.reason(), exit: end.exit_code() })])
    }

    /// Undoes unfinished work, and deletes the ref that holds a snapshot of a person's untracked files.
    pub(super) fn tidy(&mut self) -> Fallible<(), B, A> {
        self.recover()?;
        if self.order.allow_untracked {
            self.workshop.forget().map_err(MachineError::Work)?;
        }
        Ok(())
    }

    /// Cleans up after a kill or Ctrl-C: undoes an open attempt without counting it, records a commit that the ledger
    /// lacks, and ends refactor mode that was begun for a task.
    fn recover(&mut self) -> Fallible<(), B, A> {
        self.recover_step()?;
        self.end_mode()
    }

    fn recover_step(&mut self) -> Fallible<(), B, A> {
        let Some(step) = self.session().machine_state().step().cloned() else { return Ok(()) };
        let head = self.workshop.vcs().head().map_err(workshop_error)?;
        if head.commit == step.head || !self.is_commit_of(&head, &step)? {
            return self.undo_unfinished(&step);
        }
        let commit = head.commit.clone().unwrap_or_else(|| CommitId(String::new()));
        let message = self.workshop.vcs().messages().map_err(workshop_error)?.into_iter().next().unwrap_or_default();
        let committed = Committed {
            commit,
            tree: head.tree.clone(),
            subject: message.lines().next().unwrap_or_default().to_owned(),
            files: self.workshop.vcs().changed(&step.base, &head.tree).map_err(workshop_error)?,
        };
        let known = self.session().last_commit().is_some_and(|known| known.commit == committed.commit);
        if !known {
            self.record(&[Event::Committed(committed)])?;
        }
        let end = StepEnd { step: step.step, role: step.role, outcome: StepOutcome::Kept, head: head.commit };
        self.record(&[Event::StepEnd(end)])
    }

    fn undo_unfinished(&mut self, step: &Step) -> Fallible<(), B, A> {
        let Some(open) = &step.open else { return Ok(()) };
        self.workshop.start_from(&step.base);
        let mut paths = open.paths.clone();
        paths.extend(self.workshop.lock_files());
        let why = "it was cut short";
        let kept_as = self.workshop.keep_attempt((open.step, open.attempt), &paths, why).map_err(MachineError::Work)?;
        let rescued = self.workshop.put_back(&paths).map_err(MachineError::Work)?;
        self.reporter.rescued(&rescued);
        self.record(&[Event::Reverted(Reverted {
            step: open.step,
            attempt: open.attempt,
            spent: false,
            in_tests: false,
            others: Vec::new(),
            rule: None,
            cause: None,
            reason: why.to_owned(),
            signature: Digest::zero(),
            kept_as,
        })])
    }

    /// Whether HEAD is this step's commit, made just before the process was killed.
    fn is_commit_of(&self, head: &Head, step: &Step) -> Fallible<bool, B, A> {
        let Some(commit) = &head.commit else { return Ok(false) };
        let message = self.workshop.vcs().messages().map_err(workshop_error)?.into_iter().next().unwrap_or_default();
        let trailers = Trailers::parse(&message);
        let is_step = trailers.get("TDD-Step") == Some(step.step.to_string().as_str())
            && trailers.get("TDD-Phase") == Some(step.phase.name());
        Ok(is_step && self.workshop.vcs().parent(commit).map_err(workshop_error)? == step.head)
    }

    /// Refuses to start on a person's uncommitted work.
    fn refuse_unclean(&self) -> Fallible<(), B, A> {
        let unclean = self.workshop.vcs().unclean().map_err(workshop_error)?;
        if let Some(path) = unclean.modified.first() {
            return Err(MachineError::Modified { path: path.clone(), more: unclean.modified.len() - 1 });
        }
        match unclean.untracked.first() {
            Some(path) if !self.order.allow_untracked => {
                Err(MachineError::Untracked { path: path.clone(), more: unclean.untracked.len() - 1 })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Refuses to start while a person is in refactor mode.
    fn refuse_refactor_mode(&self) -> Fallible<(), B, A> {
        match self.session().machine_state().refactor() {
            Some(on) => Err(MachineError::RefactorMode { reason: on.reason.clone() }),
            None => Ok(()),
        }
    }

    /// Records a resync if HEAD is not where the ledger ended: the commits win over the ledger.
    fn resync(&mut self) -> Fallible<(), B, A> {
        let head = self.workshop.vcs().head().map_err(workshop_error)?;
        let session = self.session();
        let ended = session.machine_state().ended().and_then(|end| end.head.as_ref());
        let known = ended.or_else(|| session.last_commit().map(|commit| &commit.commit));
        let last = session.last_commit().map(|commit| &commit.commit);
        let under_way = session.machine_state().step().and_then(|step| step.head.as_ref());
        if head.commit.is_none() || [known, last, under_way].contains(&head.commit.as_ref()) {
            return Ok(());
        }
        let position = self.position(&head)?;
        let reason = match known {
            None if position.step == 0 => return Ok(()),
            None => "the ledger has no record of these commits".to_owned(),
            Some(known) => format!("the ledger ends at {}", known.short()),
        };
        self.record(&[Event::Resynced(Resynced { head: head.commit, step: position.step, reason })])
    }

    /// Runs the check command on a HEAD that is not our commit; if it fails, the refactorer mends it first.
    fn check_baseline(&mut self) -> Fallible<(), B, A> {
        let head = self.workshop.vcs().head().map_err(workshop_error)?;
        let ours = self.session().last_commit().is_some_and(|commit| commit.tree == head.tree);
        if ours {
            return Ok(());
        }
        self.workshop.start_from(&head.tree);
        self.workshop.take(&[]).map_err(MachineError::Work)?;
        if !self.workshop.check(Kind::Refactor).map_err(MachineError::Work)?.outcome.ok {
            self.check_fails = Some(head.tree);
        }
        Ok(())
    }
}
