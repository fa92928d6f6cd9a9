//! The step's own record for people: `.tdd/plan/step-N-role.md` and `.tdd/logs/step-N-role.json`, never read back.

use std::fs;
use std::time::{Duration, Instant};

use serde::Serialize;
use tdd_core::cycle::{Phase, Role, Turn};
use tdd_core::digest::{CommitId, Digest};
use tdd_core::event::StepOutcome;
use tdd_core::judge::Ruling;
use tdd_core::report::{Counts, Outcome};
use tdd_core::test_id::TestId;
use tdd_exec::process;
use tdd_llm::client::{Answer, Ask};

use super::Machine;
use super::stand::Stand;
use super::verify::Verified;
use crate::error::CliError;

/// All of one step.
#[derive(Debug, Serialize)]
pub struct StepLog {
    step: u32,
    role: Role,
    phase: Phase,
    targets: Vec<TestId>,
    plan: String,
    attempts: Vec<Attempt>,
    outcome: Option<StepOutcome>,
    commit: Option<CommitId>,
    took: Took,
    #[serde(skip)]
    begun: Begun,
}

/// Where a step's time went, in milliseconds.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Took {
    all: f64,
    /// Waiting for models.
    models: f64,
    /// The project's own commands.
    commands: f64,
    /// The rest: the machine itself.
    own: f64,
}

/// When a step began, and how long commands had taken by then.
#[derive(Clone, Copy, Debug)]
struct Begun {
    at: Instant,
    commands: Duration,
}

impl Begun {
    fn now() -> Self {
        Self { at: Instant::now(), commands: process::spent() }
    }

    fn took(self, models: Duration) -> Took {
        let ms = |time: Duration| time.as_secs_f64() * 1000.0;
        let (all, commands) = (self.at.elapsed(), process::spent().saturating_sub(self.commands));
        let own = all.saturating_sub(commands).saturating_sub(models);
        Took { all: ms(all), models: ms(models), commands: ms(commands), own: ms(own) }
    }
}

/// One attempt.
#[derive(Debug, Default, Serialize)]
struct Attempt {
    number: u32,
    calls: Vec<Call>,
    answer: String,
    tests: Option<Tests>,
    check: Option<String>,
    ruling: Option<String>,
    undone: Option<String>,
}

/// One call to a model.
#[derive(Debug, Serialize)]
struct Call {
    key: String,
    prompt_digest: Digest,
    model: String,
    prompt_tokens: u64,
    cached_tokens: u64,
    completion_tokens: u64,
    duration_ms: u64,
    retries: u32,
    #[serde(skip)]
    waited: Duration,
}

/// What the tests said.
#[derive(Debug, Serialize)]
struct Tests {
    counts: Counts,
    failing: Vec<(TestId, String)>,
    obstacles: Vec<String>,
}

impl StepLog {
    /// What the model means to do.
    pub fn plan(&self) -> &str {
        &self.plan
    }

    /// What the model said last.
    pub fn answer(&self) -> &str {
        self.attempts.last().map_or("", |attempt| &attempt.answer)
    }
}

impl Machine<'_> {
    /// Begins the log of a step, or its next attempt.
    pub fn open_log(&mut self, stand: &Stand, turn: &Turn) {
        let (step, role, phase) = (stand.step, turn.role(), turn.phase());
        if self.log.as_ref().is_none_or(|log| (log.step, log.role, log.phase) != (step, role, phase)) {
            let (plan, attempts, targets) = (String::new(), Vec::new(), turn.targets());
            self.log = Some(StepLog {
                step,
                role,
                phase,
                targets,
                plan,
                attempts,
                outcome: None,
                commit: None,
                took: Took::default(),
                begun: Begun::now(),
            });
        }
        if let Some(log) = &mut self.log {
            log.attempts.push(Attempt { number: turn.attempt(), ..Attempt::default() });
        }
    }

    pub fn note_plan(&mut self, stand: &Stand, turn: &Turn, plan: &str) -> Result<(), CliError> {
        if let Some(log) = &mut self.log {
            plan.clone_into(&mut log.plan);
        }
        self.write_view("plan", &format!("step-{}-{}.md", stand.step, turn.role()), plan)
    }

    pub fn note_call(&mut self, ask: &Ask, answer: &Answer, waited: Duration) {
        let prompt = serde_json::to_vec(&ask.messages).unwrap_or_default();
        let Some(attempt) = self.attempt_log() else { return };
        answer.content.clone_into(&mut attempt.answer);
        attempt.calls.push(Call {
            key: ask.key.clone(),
            prompt_digest: Digest::of(prompt),
            model: answer.model.clone(),
            prompt_tokens: answer.usage.prompt,
            cached_tokens: answer.usage.cached,
            completion_tokens: answer.usage.completion,
            duration_ms: answer.duration_ms,
            waited,
            retries: answer.retries,
        });
    }

    pub fn note_verified(&mut self, verified: &Verified) {
        let Some(attempt) = self.attempt_log() else { return };
        let failing = verified.report.results().filter_map(|result| match &result.outcome {
            Outcome::Pass => None,
            Outcome::Fail { cause, message } => Some((result.id.clone(), format!("{cause}: {message}"))),
        });
        let obstacles = verified.report.obstacles().iter();
        let obstacles = obstacles.map(|it| format!("{} {}: {}", it.subject, it.cause, it.message));
        attempt.tests = Some(Tests {
            counts: verified.report.counts(),
            failing: failing.collect(),
            obstacles: obstacles.collect(),
        });
        attempt.check = verified.check.as_ref().map(|outcome| format!("{}{}", outcome.stdout, outcome.stderr));
        attempt.ruling = Some(match &verified.ruling {
            Ruling::Holds(holding) => format!("holds: {}", holding.reason),
            Ruling::Refused(refusal) => format!("refused: {refusal}"),
        });
    }

    pub fn note_failed(&mut self, reason: &str) {
        if let Some(attempt) = self.attempt_log() {
            attempt.undone = Some(reason.to_owned());
        }
    }

    pub fn note_commit(&mut self, commit: &CommitId) {
        if let Some(log) = &mut self.log {
            log.commit = Some(commit.clone());
        }
    }

    /// Writes the log of a step that has ended.
    pub fn close_log(&mut self, outcome: StepOutcome) -> Result<(), CliError> {
        let Some(mut log) = self.log.take() else { return Ok(()) };
        log.outcome = Some(outcome);
        let waited = log.attempts.iter().flat_map(|attempt| &attempt.calls).map(|call| call.waited).sum();
        log.took = log.begun.took(waited);
        let text = serde_json::to_string_pretty(&log).map_err(|error| CliError::Output(error.into()))?;
        self.write_view("logs", &format!("step-{}-{}.json", log.step, log.role), &text)
    }

    fn attempt_log(&mut self) -> Option<&mut Attempt> {
        self.log.as_mut()?.attempts.last_mut()
    }

    fn write_view(&self, folder: &str, name: &str, text: &str) -> Result<(), CliError> {
        let folder = self.trial.state.path().join(folder);
        let path = folder.join(name);
        let written = fs::create_dir_all(&folder).and_then(|()| fs::write(&path, text));
        written.map_err(|source| CliError::View { path, source })
    }
}
