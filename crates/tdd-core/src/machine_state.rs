//! The state that the ledger's events add up to, apart from test runs: current step, spent attempts, pauses, modes,
//! exceptions.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::cycle::{Phase, RedTest, Role, Tried};
use crate::digest::{CommitId, Digest, TreeId};
use crate::event::{
    EditApplied, Event, IterationJudged, IterationStart, LlmCall, Override, Paused, PersonEdit, PlannedStep,
    RefactorBegin, Reverted, StepEnd, StepOutcome, StepStart,
};
use crate::report::Cause;
use crate::rule::Rule;
use crate::test_id::TestId;

/// The state after all events except test runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineState {
    step: Option<Step>,
    ended: Option<StepEnd>,
    refactor: Option<RefactorBegin>,
    overrides: Vec<Override>,
    pause: Option<Paused>,
    blocked: BTreeMap<TestId, String>,
    claims: BTreeMap<TestId, u64>,
    /// Attempts spent, by subject. `failures` counts the failures of a subject by signature.
    spent: BTreeMap<String, u32>,
    failures: BTreeMap<String, BTreeMap<Digest, u32>>,
    rethought: BTreeSet<TestId>,
    clashes: BTreeMap<TestId, u32>,
    vacuous: BTreeSet<TestId>,
    /// Older tests that broke in attempts at a test, since that test was last rethought.
    clashed: BTreeMap<TestId, BTreeSet<TestId>>,
    /// Tests that the tester is to mend, and whether the mend is still due. Each test gets one.
    mends: BTreeMap<TestId, bool>,
    last_failure: Option<String>,
    invalid_reds: u32,
    usage: Usage,
    arrivals: u32,
    /// Marks of plan tasks that ended because there was nothing to do.
    idle: BTreeSet<String>,
    /// Marks of plan tasks with a failed attempt and nothing kept since.
    #[serde(default)]
    failed: BTreeSet<String>,
    #[serde(default)]
    person_edit: Option<PersonEdit>,
    #[serde(default)]
    iteration: Option<Iterating>,
    /// The verified tree that refactor mode left, while it is not committed.
    #[serde(default)]
    refactored: Option<TreeId>,
    /// Roles whose last edit call asked the model for fenced files.
    #[serde(default)]
    in_files: BTreeSet<Role>,
    /// The plan files of the last run that had any.
    #[serde(default)]
    plans: Vec<String>,
    /// The steps that a model planned last, with the number of the step it planned in.
    #[serde(default)]
    planned: Option<(u32, Vec<PlannedStep>)>,
}

/// An iteration of a program in progress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Iterating {
    /// The event that began it.
    pub start: IterationStart,
    /// How its work ended, if it has.
    pub ended: Option<StepOutcome>,
    /// The last phase that it reached.
    pub phase: Phase,
    /// It reached a green, so there is something to refactor.
    pub greened: bool,
    /// The tests that were blocked in it, with reasons.
    pub blocked: BTreeMap<TestId, String>,
    /// An attempt broke older tests.
    pub regressed: bool,
    /// The decision about it, once it is made.
    pub judged: Option<IterationJudged>,
}

/// A step in progress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The number of the step.
    pub step: u32,
    /// The role whose step it is.
    pub role: Role,
    /// The phase of its commit; a rethink within a green has its own.
    pub phase: Phase,
    /// HEAD when it began.
    pub head: Option<CommitId>,
    /// The tree when it began.
    pub base: TreeId,
    /// The red tests that it is about.
    pub targets: Vec<TestId>,
    /// The mark of the plan task that it is for.
    pub mark: Option<String>,
    /// Refactor mode was begun for it, so the limits of an ordinary step are lifted.
    pub free: bool,
    /// Edits on disk that are neither kept nor undone.
    pub open: Option<EditApplied>,
    /// The new test of these edits passed at once.
    #[serde(default)]
    pub arrived: bool,
}

/// What models have cost so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// How many calls.
    pub calls: u64,
    /// Tokens of all prompts.
    pub prompt_tokens: u64,
    /// Prompt tokens that servers had cached.
    pub cached_tokens: u64,
    /// Tokens of all answers.
    pub completion_tokens: u64,
    /// Millionths of a US dollar.
    pub micro_usd: u64,
}

impl MachineState {
    /// Applies an event, the `at`-th of the ledger.
    pub(crate) fn apply(&mut self, event: &Event, at: u64) {
        match event {
            Event::StepStart(start) => self.begin(start),
            Event::StepEnd(end) => self.end(end),
            Event::EditClaim(claim) => drop(self.claims.insert(claim.test_id.clone(), at)),
            Event::EditApplied(edit) => {
                self.open(Some(edit.clone()));
                self.step.iter_mut().for_each(|step| step.arrived = false);
            }
            // Undoing a person's interrupted change to a test is not a failed attempt.
            Event::Reverted(reverted) => match self.person_edit.take() {
                Some(_) => {}
                None => self.revert(reverted),
            },
            Event::Committed(_) => {
                self.refactored = None;
                self.person_edit = None;
                self.open(None);
                self.claims.clear();
            }
            // Ledgers of version 0.1 use this event for a test that stays as it is, too.
            Event::TestRevised(revised) => self.thought_over(&revised.test_id, revised.before != revised.after),
            Event::TestUpheld(upheld) => self.thought_over(&upheld.test_id, false),
            Event::TestRenamed(renamed) => {
                let new = |id: &mut TestId| {
                    if *id == renamed.from {
                        *id = renamed.test_id.clone();
                    }
                };
                self.step.iter_mut().flat_map(|step| &mut step.targets).for_each(new);
            }
            Event::GreenOnArrival(_) => {
                self.arrivals += 1;
                self.step.iter_mut().for_each(|step| step.arrived = true);
            }
            Event::Blocked(blocked) => {
                if let Some(iteration) = &mut self.iteration {
                    iteration.blocked.insert(blocked.test_id.clone(), blocked.reason.clone());
                }
                self.blocked.insert(blocked.test_id.clone(), blocked.reason.clone());
            }
            Event::Paused(paused) => self.pause = Some(paused.clone()),
            Event::Resumed(resumed) => {
                self.pause = None;
                self.forget_failures();
                match (&resumed.skipped, &resumed.unblocked) {
                    (None, None) => self.blocked.clear(),
                    (_, Some(test)) => drop(self.blocked.remove(test)),
                    (Some(_), None) => {}
                }
            }
            Event::Resynced(_) => {
                self.step = None;
                self.ended = None;
                self.claims.clear();
            }
            Event::LlmCall(call) => {
                self.usage.add(call);
                match call.purpose.as_str() {
                    LlmCall::FILES => drop(self.in_files.insert(call.role)),
                    LlmCall::EDIT => drop(self.in_files.remove(&call.role)),
                    _ => {}
                }
            }
            Event::Override(made) => self.overrides.push(made.clone()),
            Event::RefactorBegin(begin) => self.refactor = Some(begin.clone()),
            Event::RefactorEnd(end) => {
                self.refactor = None;
                self.refactored = end.kept.then(|| end.tree.clone());
            }
            Event::PersonEdit(edit) => self.person_edit = Some(edit.clone()),
            Event::Retired(retired) => drop(self.blocked.remove(&retired.test_id)),
            Event::IterationStart(start) => {
                self.forget_failures();
                self.iteration = Some(Iterating::new(start));
            }
            Event::IterationJudged(judged) => {
                if let Some(iteration) = &mut self.iteration {
                    iteration.judged = Some(judged.clone());
                }
            }
            Event::IterationEnd(_) => self.iteration = None,
            Event::RunStart(start) if !start.plans.is_empty() => self.plans.clone_from(&start.plans),
            Event::PlanSubmitted(plan) if !plan.steps.is_empty() => {
                self.planned = Some((plan.step, plan.steps.clone()));
            }
            Event::TestRun(_)
            | Event::SuiteRun(_)
            | Event::RunStart(_)
            | Event::RunEnd(_)
            | Event::PlanSubmitted(_)
            | Event::EditRefused(_)
            | Event::Repair(_)
            | Event::Stuck(_)
            | Event::LedgerRepaired(_) => {}
        }
    }

    /// The plan files of the last run that had any.
    pub fn plans(&self) -> &[String] {
        &self.plans
    }

    /// The steps that a model planned for the step in progress.
    pub fn planned(&self) -> &[PlannedStep] {
        let under_way = self.step.as_ref().map(|step| step.step);
        self.planned.as_ref().filter(|(step, _)| Some(*step) == under_way).map_or(&[], |(_, steps)| steps)
    }

    /// A person's change to one test (retire, skip, unblock) that is neither committed nor undone.
    pub fn person_edit(&self) -> Option<&PersonEdit> {
        self.person_edit.as_ref()
    }

    /// The step in progress.
    pub fn step(&self) -> Option<&Step> {
        self.step.as_ref()
    }

    /// The last step that ended.
    pub fn ended(&self) -> Option<&StepEnd> {
        self.ended.as_ref()
    }

    /// Refactor mode, if it is on.
    pub fn refactor(&self) -> Option<&RefactorBegin> {
        self.refactor.as_ref()
    }

    /// Whether a tree is a person's work in refactor mode: still in progress, or verified and not committed.
    pub fn is_of_refactor_mode(&self, tree: &TreeId) -> bool {
        let on = self.refactor.as_ref().is_some_and(|mode| mode.mark.is_none());
        on || self.refactored.as_ref() == Some(tree)
    }

    /// The pause, if the run is paused.
    pub fn pause(&self) -> Option<&Paused> {
        self.pause.as_ref()
    }

    /// Tests that need not be made green until a person unblocks them, with reasons.
    pub fn blocked(&self) -> &BTreeMap<TestId, String> {
        &self.blocked
    }

    /// The exceptions that have not expired at this time, oldest first.
    pub fn overrides(&self, now_ms: u64) -> impl DoubleEndedIterator<Item = &Override> {
        self.overrides.iter().filter(move |made| made.expires > now_ms)
    }

    /// The rules that have an exception at this time.
    pub fn exceptions(&self, now_ms: u64) -> Vec<Rule> {
        let mut rules: Vec<Rule> =
            self.overrides(now_ms).map(|made| made.rule).filter(|rule| rule.has_exceptions()).collect();
        rules.sort_unstable();
        rules.dedup();
        rules
    }

    /// Why a person made an exception from this rule, if one is in force at this time.
    pub fn exception(&self, rule: Rule, now_ms: u64) -> Option<String> {
        let mut made = self.overrides(now_ms).filter(|made| made.rule == rule && rule.has_exceptions());
        made.next_back().map(|made| made.reason.clone())
    }

    /// The event number at which a test was claimed, since the last attempt.
    pub fn claimed_at(&self, test: &TestId) -> Option<u64> {
        self.claims.get(test).copied()
    }

    /// How often this failure occurred on this subject: a task, a target, or a role without one.
    pub fn times_failed(&self, subject: &str, signature: Digest) -> u32 {
        self.failures.get(subject).and_then(|seen| seen.get(&signature)).copied().unwrap_or_default()
    }

    /// Whether the role's last edit call asked for fenced files.
    pub fn answers_in_files(&self, role: Role) -> bool {
        self.in_files.contains(&role)
    }

    /// What models have cost.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// How many attempts are spent on a subject.
    pub fn spent(&self, subject: &str) -> u32 {
        self.spent.get(subject).copied().unwrap_or_default()
    }

    /// How many attempts at a subject failed, spent or not.
    pub fn tries(&self, subject: &str) -> u32 {
        self.failures.get(subject).map_or(0, |seen| seen.values().sum())
    }

    /// What has been tried in the step of a role that has these red tests.
    pub fn tried(&self, role: Role, reds: &[RedTest]) -> Tried {
        let target = reds.first().filter(|_| role == Role::Implementor).map(RedTest::id);
        let subject = target.map_or_else(|| role.name().to_owned(), ToString::to_string);
        Tried {
            spent: self.spent(&subject),
            rethought: target.is_some_and(|test| self.is_rethought(test)),
            clashes: target.map_or(0, |test| self.clashes(test)),
            mend: target.is_some_and(|test| self.is_to_be_mended(test)),
            vacuous: target.is_some_and(|test| self.is_vacuous(test)),
        }
    }

    /// Whether the tester has rethought this test.
    pub fn is_rethought(&self, test: &TestId) -> bool {
        self.rethought.contains(test)
    }

    /// Whether this test was found vacuous since it was last rethought: it cannot fail where it should.
    pub fn is_vacuous(&self, test: &TestId) -> bool {
        self.vacuous.contains(test)
    }

    /// Whether the tester is to mend this test.
    pub fn is_to_be_mended(&self, test: &TestId) -> bool {
        self.mends.get(test) == Some(&true)
    }

    /// Whether this test's one mend is due or done.
    pub fn had_its_mend(&self, test: &TestId) -> bool {
        self.mends.contains_key(test)
    }

    /// How often this test passed while older tests broke, since it was last rethought.
    pub fn clashes(&self, test: &TestId) -> u32 {
        self.clashes.get(test).copied().unwrap_or_default()
    }

    /// The older tests that broke in attempts at this test, since it was last rethought.
    pub fn clashed_with(&self, test: &TestId) -> impl Iterator<Item = &TestId> {
        self.clashed.get(test).into_iter().flatten()
    }

    /// Why the last attempt was undone.
    pub fn last_failure(&self) -> Option<&str> {
        self.last_failure.as_deref()
    }

    /// How many consecutive reds were invalid.
    pub fn invalid_reds(&self) -> u32 {
        self.invalid_reds
    }

    /// Whether a plan task ended because there was nothing to do.
    pub fn is_idle(&self, mark: &str) -> bool {
        self.idle.contains(mark)
    }

    /// Whether an attempt at a plan task failed and nothing was kept for it since. A resume does not reset this.
    pub fn has_failed(&self, mark: &str) -> bool {
        self.failed.contains(mark)
    }

    /// The iteration of a program in progress.
    pub fn iteration(&self) -> Option<&Iterating> {
        self.iteration.as_ref()
    }

    /// How many new tests passed at once since the last valid red.
    pub fn arrivals(&self) -> u32 {
        self.arrivals
    }

    fn begin(&mut self, start: &StepStart) {
        self.claims.clear();
        if let Some(iteration) = &mut self.iteration {
            iteration.phase = start.phase;
            iteration.greened |= start.phase == Phase::Green;
        }
        let mode = self.refactor.as_ref().and_then(|mode| mode.mark.as_ref());
        let free = mode.is_some() && mode == start.mark.as_ref();
        self.step = Some(Step::new(start, free));
    }

    fn end(&mut self, end: &StepEnd) {
        self.claims.clear();
        if let Some(iteration) = &mut self.iteration {
            iteration.end_of(end);
        }
        if let Some(step) = self.step.take() {
            if step.free && end.outcome == StepOutcome::Nothing {
                self.idle.extend(step.mark.clone());
            }
            if let Some(mark) = step.mark.as_ref().filter(|_| end.outcome == StepOutcome::Kept) {
                self.failed.remove(mark);
            }
            match end.outcome {
                StepOutcome::Kept | StepOutcome::Nothing | StepOutcome::Skipped => self.settle(&step),
                StepOutcome::Done | StepOutcome::Stopped => {}
            }
        }
        self.ended = Some(end.clone());
    }

    /// Notes that the tester mended or rethought a test. A revised test starts with no failures.
    fn thought_over(&mut self, test: &TestId, revised: bool) {
        if self.is_to_be_mended(test) {
            self.mends.insert(test.clone(), false);
            self.failures.remove(&rethink_of(test.as_str()));
            return;
        }
        self.rethought.insert(test.clone());
        self.clashes.remove(test);
        self.vacuous.remove(test);
        self.clashed.remove(test);
        if revised {
            self.failures.remove(test.as_str());
        }
    }

    fn open(&mut self, edit: Option<EditApplied>) {
        if let Some(step) = &mut self.step {
            step.open = edit;
        }
    }

    fn revert(&mut self, reverted: &Reverted) {
        self.claims.clear();
        let Some(step) = &mut self.step else { return };
        step.open = None;
        self.last_failure = Some(reverted.reason.clone());
        let subject = step.subject();
        if let (Some(iteration), Some(Rule::OthersKept)) = (&mut self.iteration, reverted.rule) {
            iteration.regressed = true;
        }
        // The target is judged before the other tests, so a refusal because of those means that the target passed.
        if step.phase == Phase::Green && reverted.rule == Some(Rule::OthersKept) {
            for target in &step.targets {
                *self.clashes.entry(target.clone()).or_default() += 1;
                self.clashed.entry(target.clone()).or_default().extend(reverted.others.clone());
            }
        }
        let target = step.targets.first().filter(|_| step.phase == Phase::Green);
        if let Some(target) = target.filter(|_| reverted.cause == Some(Cause::VacuousTest)) {
            self.vacuous.insert(target.clone());
        }
        if let Some(target) = target.filter(|_| reverted.in_tests) {
            self.mends.entry(target.clone()).or_insert(true);
        }
        if step.phase == Phase::Red && reverted.cause.is_some_and(|cause| cause != Cause::UnexpectedGreen) {
            self.invalid_reds += 1;
        }
        if reverted.spent {
            self.failed.extend(step.mark.clone().filter(|_| step.free));
            *self.spent.entry(subject.clone()).or_default() += 1;
        }
        *self.failures.entry(subject).or_default().entry(reverted.signature).or_default() += 1;
    }

    /// Resets the counts of a step that ended. A rethink counts under its own subject, so attempts spent on its test
    /// remain.
    fn settle(&mut self, step: &Step) {
        let subject = step.subject();
        self.failures.remove(&subject);
        self.spent.remove(&subject);
        match step.phase {
            Phase::Red if step.arrived => self.invalid_reds = 0,
            Phase::Red => (self.arrivals, self.invalid_reds) = (0, 0),
            Phase::Green => {
                self.rethought.clear();
                self.clashes.clear();
                self.vacuous.clear();
                self.clashed.clear();
                self.mends.clear();
            }
            Phase::Refactor | Phase::RethinkTest => {}
        }
    }

    fn forget_failures(&mut self) {
        self.failures.clear();
        self.spent.clear();
        self.rethought.clear();
        self.clashes.clear();
        self.vacuous.clear();
        self.clashed.clear();
        self.mends.clear();
        (self.arrivals, self.invalid_reds) = (0, 0);
    }
}

impl Iterating {
    fn new(start: &IterationStart) -> Self {
        Self {
            start: start.clone(),
            ended: None,
            phase: Phase::Red,
            greened: false,
            blocked: BTreeMap::new(),
            regressed: false,
            judged: None,
        }
    }

    /// Notes the end of its work: the refactorer's step is over, or the run cannot go on.
    fn end_of(&mut self, end: &StepEnd) {
        if end.role == Role::Refactorer || !end.outcome.rotates() {
            self.ended = Some(end.outcome);
        }
    }
}

impl Step {
    fn new(start: &StepStart, free: bool) -> Self {
        Self {
            step: start.step,
            role: start.role,
            phase: start.phase,
            head: start.head.clone(),
            base: start.base.clone(),
            targets: start.targets.clone(),
            mark: start.mark.clone(),
            free,
            open: None,
            arrived: false,
        }
    }

    /// The key that failures are counted under: the mark of a free step, else the target, else the role.
    pub fn subject(&self) -> String {
        if let (true, Some(mark)) = (self.free, &self.mark) {
            return mark.clone();
        }
        let target = self.targets.first().map_or_else(|| self.role.name().to_owned(), ToString::to_string);
        match self.phase {
            Phase::RethinkTest => rethink_of(&target),
            Phase::Red | Phase::Green | Phase::Refactor => target,
        }
    }
}

/// The key that failed rethinks of a target are counted under.
fn rethink_of(target: &str) -> String {
    format!("rethink {target}")
}

impl Usage {
    fn add(&mut self, call: &LlmCall) {
        self.calls += 1;
        self.prompt_tokens = self.prompt_tokens.saturating_add(call.prompt_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(call.cached_tokens);
        self.completion_tokens = self.completion_tokens.saturating_add(call.completion_tokens);
        self.micro_usd = self.micro_usd.saturating_add(call.micro_usd);
    }

    /// Tokens of prompts and answers together.
    pub fn tokens(&self) -> u64 {
        self.prompt_tokens.saturating_add(self.completion_tokens)
    }
}
