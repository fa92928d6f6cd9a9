//! Begins a run: puts right what an earlier one left undone, and refuses what it must not touch.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use tdd_agents::prompts::Prompts;
use tdd_core::commit::Trailers;
use tdd_core::digest::Digest;
use tdd_core::event::{Committed, Event, Resynced, Reverted, RunEnd, RunStart, StepEnd, StepOutcome};
use tdd_core::standing::Step;
use tdd_exec::git::Head;
use tdd_exec::text;
use tdd_exec::workspace::Workspace;

use super::{End, Machine, Mandate, Order, Voice};
use crate::context::Context;
use crate::error::CliError;
use crate::kata;
use crate::person::PersonError;
use crate::trial::{Trial, Which};

/// Largest prompt of a project's own, in bytes.
const MAX_PROMPT: u64 = 256 << 10;

impl<'a> Machine<'a> {
    /// Opens the project for a run. From here on nobody else can.
    pub fn start(context: &'a Context, order: Order, mandate: Mandate, voice: Voice) -> Result<Self, CliError> {
        let trial = Trial::open(context, &Which::default())?;
        let kata = trial.repo.root().join(trial.loaded.config.kata_description.as_str());
        let kata = if mandate.brief.is_some() { String::new() } else { kata::read(&kata)? };
        let prompts = Prompts::new(own_prompts(&trial)?).map_err(CliError::Prompts)?;
        let begun = Instant::now();
        let (conversations, log) = (Vec::new(), None);
        let mut trial = trial;
        trial.recording.echo = context.output.is_json();
        let mut machine = Self {
            context,
            trial,
            voice,
            prompts,
            kata,
            mandate,
            agenda: None,
            order,
            begun,
            steps_done: 0,
            conversations,
            cycle_over: false,
            log,
            check_fails: None,
            without_tools: BTreeSet::new(),
            complaint: None,
        };
        Workspace::open(machine.trial.repo.root())?.sweep()?;
        machine.trial.repo.check_ready_to_commit()?;
        machine.recover()?;
        machine.refuse_unclean()?;
        machine.refuse_refactor_mode()?;
        machine.resync()?;
        machine.check_baseline()?;
        let head = machine.trial.repo.head()?;
        let step = machine.position(&head)?.step;
        let kata = Digest::of(machine.brief());
        let version = env!("CARGO_PKG_VERSION").to_owned();
        machine.record(&[Event::RunStart(RunStart { version, kata, step })])?;
        Ok(machine)
    }

    /// Ends a run, on the record.
    pub fn finish(&mut self, end: &End) -> Result<(), CliError> {
        self.tidy()?;
        self.record(&[Event::RunEnd(RunEnd { reason: end.reason(), exit: end.exit_code() })])
    }

    /// Leaves nothing half done, and no ref to files that are a person's.
    pub fn tidy(&mut self) -> Result<(), CliError> {
        self.recover()?;
        if self.order.allow_untracked {
            self.trial.repo.forget_tree()?;
        }
        Ok(())
    }

    /// What a kill or Ctrl-C cut short: an attempt is undone and not spent, a commit that was made is put on
    /// the record, and refactor mode that was begun for a task is over.
    fn recover(&mut self) -> Result<(), CliError> {
        self.recover_step()?;
        self.end_mode()
    }

    fn recover_step(&mut self) -> Result<(), CliError> {
        let Some(step) = self.trial.session().standing().step().cloned() else { return Ok(()) };
        let head = self.trial.repo.head()?;
        if head.commit == step.head {
            return self.undo_unfinished(&step);
        }
        if !self.is_commit_of(&head, &step)? {
            return Ok(());
        }
        let commit = head.commit.clone().unwrap_or_else(|| tdd_core::digest::CommitId(String::new()));
        let changes = self.trial.repo.diff_trees(&step.base, &head.tree)?;
        let committed = Committed {
            commit,
            tree: head.tree.clone(),
            subject: self.trial.repo.last_message()?.unwrap_or_default().lines().next().unwrap_or_default().to_owned(),
            files: changes.into_iter().map(|change| change.path.to_string()).collect(),
        };
        let known = self.trial.session().last_commit().is_some_and(|known| known.commit == committed.commit);
        if !known {
            self.record(&[Event::Committed(committed)])?;
        }
        let end = StepEnd { step: step.step, role: step.role, outcome: StepOutcome::Kept, head: head.commit };
        self.record(&[Event::StepEnd(end)])
    }

    fn undo_unfinished(&mut self, step: &Step) -> Result<(), CliError> {
        let Some(open) = &step.open else { return Ok(()) };
        self.trial.base = step.base.clone();
        let mut paths = open.paths.clone();
        paths.extend(self.trial.lock_files());
        let kept_as = self.trial.keep_attempt((open.step, open.attempt), &paths, "it was cut short")?;
        self.trial.put_back(&paths)?;
        self.record(&[Event::Reverted(Reverted {
            step: open.step,
            attempt: open.attempt,
            spent: false,
            in_tests: false,
            others: Vec::new(),
            rule: None,
            cause: None,
            reason: "it was cut short".to_owned(),
            signature: Digest::zero(),
            kept_as,
        })])
    }

    /// Whether HEAD is the commit of this step, made just before we were killed.
    fn is_commit_of(&self, head: &Head, step: &Step) -> Result<bool, CliError> {
        let Some(commit) = &head.commit else { return Ok(false) };
        let message = self.trial.repo.last_message()?.unwrap_or_default();
        let trailers = Trailers::parse(&message);
        let is_step = trailers.get("TDD-Step") == Some(step.step.to_string().as_str())
            && trailers.get("TDD-Phase") == Some(step.phase.name());
        Ok(is_step && self.trial.repo.first_parent(commit)? == step.head)
    }

    /// A person's uncommitted work is not ours to touch.
    fn refuse_unclean(&self) -> Result<(), CliError> {
        let dirty = self.trial.repo.dirty()?;
        if let Some(path) = dirty.modified_tracked.first() {
            return Err(CliError::Modified { path: path.to_string(), more: dirty.modified_tracked.len() - 1 });
        }
        match dirty.untracked.first() {
            Some(path) if !self.order.allow_untracked => {
                Err(CliError::Untracked { path: path.to_string(), more: dirty.untracked.len() - 1 })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// What a person does in refactor mode is theirs until they end it.
    fn refuse_refactor_mode(&self) -> Result<(), CliError> {
        match self.trial.session().standing().refactor() {
            Some(on) => Err(PersonError::RefactorModeOn { reason: on.reason.clone() }.into()),
            None => Ok(()),
        }
    }

    /// Where HEAD is not where the ledger left it, the commits are right.
    fn resync(&mut self) -> Result<(), CliError> {
        let head = self.trial.repo.head()?;
        let session = self.trial.session();
        let ended = session.standing().ended().and_then(|end| end.head.as_ref());
        let known = ended.or_else(|| session.last_commit().map(|commit| &commit.commit));
        let last = session.last_commit().map(|commit| &commit.commit);
        let under_way = session.standing().step().and_then(|step| step.head.as_ref());
        if head.commit.is_none() || [known, last, under_way].contains(&head.commit.as_ref()) {
            return Ok(());
        }
        let position = self.position(&head)?;
        let reason = match known {
            None if position.step == 0 => return Ok(()),
            None => "the ledger knows nothing of these commits".to_owned(),
            Some(known) => format!("the ledger ends at {}", known.short()),
        };
        self.record(&[Event::Resynced(Resynced { head: head.commit, step: position.step, reason })])
    }

    /// A commit that we did not make may fail its check; then the refactorer mends it first.
    fn check_baseline(&mut self) -> Result<(), CliError> {
        let head = self.trial.repo.head()?;
        let ours = self.trial.session().last_commit().is_some_and(|commit| commit.tree == head.tree);
        self.trial.base = head.tree.clone();
        self.trial.take_tree(&[])?;
        if !ours && !self.trial.check()?.ok {
            self.check_fails = Some(head.tree);
        }
        Ok(())
    }
}

/// The project's own prompts, by name.
fn own_prompts(trial: &Trial<'_>) -> Result<BTreeMap<String, String>, CliError> {
    let mut prompts = BTreeMap::new();
    for file in trial.repo.files()? {
        let name = file.strip_prefix(".tdd/prompts/").and_then(|name| name.strip_suffix(".md"));
        if let Some(name) = name {
            let text = text::read(&trial.repo.root().join(&file), MAX_PROMPT).map_err(CliError::PromptFile)?;
            prompts.insert(name.to_owned(), text);
        }
    }
    Ok(prompts)
}
