//! `status`: shows the project's position and test results, from its commits and its ledger.

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use tdd_agents::roster;
use tdd_core::cycle::{Phase, Role};
use tdd_core::digest::CommitId;
use tdd_core::event::{InTheWay, Override, RefactorBegin, Status as TestStatus};
use tdd_core::machine_state;
use tdd_core::plan::Dotted;
use tdd_core::report::Cause;
use tdd_core::seam::Clock;
use tdd_core::session::Session;
use tdd_core::test_id::TestId;
use tdd_exec::clock::WallClock;
use tdd_exec::git::Repo;
use tdd_exec::ledger;
use tdd_exec::sources::TreeSources;
use tdd_exec::state::StateDir;

use crate::commands::log;
use crate::context::Context;
use crate::dots;
use crate::error::CliError;
use crate::output::{BAD, BOLD, DIM, GOOD, WARN, paint};
use crate::tally;
use tdd_exec::project;
use tdd_exec::tally::Tally;

/// Show where the project stands: step, role, last commit, red and green tests
///
/// Each plan step that names a test has a dot: red, green or not yet.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tdd-cli status\n  tdd-cli status --format json | jq -r '.red[]'    the red tests, one a line"
)]
pub struct Status {}

/// The JSON document.
#[derive(Debug, Serialize)]
struct StatusDocument {
    /// The last completed step.
    step: u32,
    next_role: Role,
    phase: Option<Phase>,
    last_commit: Option<CommitId>,
    last_commit_subject: Option<String>,
    branch: Option<String>,
    /// Tests that failed for a valid cause when they last ran.
    red: Vec<TestId>,
    /// How many tests passed when they last ran.
    green: usize,
    /// All tests that did not pass, with their messages.
    failing: Vec<Failing>,
    /// What kept tests from running at all in the last run.
    obstacles: Vec<InTheWay>,
    /// Whether the tests last ran on the current working tree; null if unknown.
    tests_current: Option<bool>,
    /// Why the machine is paused.
    paused: Option<String>,
    /// What the user can do about the pause.
    next: Option<String>,
    refactor_mode: Option<RefactorBegin>,
    /// Exceptions from rules, with their expiry.
    exceptions: Vec<Override>,
    /// Blocked tests, which need not pass, each with its reason.
    blocked: BTreeMap<TestId, String>,
    /// The plan steps that name a test, each with its test's state.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    plan_steps: Vec<Dotted>,
    usage: Usage,
    events: u64,
    /// Per project, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    projects: Vec<Tally>,
    /// No model has a role, and none ever had one.
    #[serde(skip)]
    gates_only: bool,
}

/// A test that did not pass.
#[derive(Debug, Serialize)]
struct Failing {
    test_id: TestId,
    cause: Option<Cause>,
    message: Option<String>,
}

/// The cost of all model calls so far.
#[derive(Debug, Serialize)]
struct Usage {
    calls: u64,
    prompt_tokens: u64,
    cached_tokens: u64,
    completion_tokens: u64,
    usd: f64,
}

impl From<machine_state::Usage> for Usage {
    fn from(usage: machine_state::Usage) -> Self {
        Self {
            calls: usage.calls,
            prompt_tokens: usage.prompt_tokens,
            cached_tokens: usage.cached_tokens,
            completion_tokens: usage.completion_tokens,
            usd: dollars(usage.micro_usd),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "more than 2^53 millionths of a dollar are nine billion dollars")]
fn dollars(micro_usd: u64) -> f64 {
    micro_usd as f64 / 1e6
}

pub fn run(_: &Status, context: &Context) -> Result<ExitCode, CliError> {
    let repo = project::repository(&context.user_paths)?;
    let config = project::configuration(&context.user_paths, repo.root())?.config;
    let session = session(&repo)?;
    let mut state = StatusDocument::of(&repo, &session)?;
    let ended = session.tests().iter().map(|(id, known)| (id, known.status == TestStatus::Pass));
    state.projects = tdd_exec::tally::tally(&config, &TreeSources::new(repo.root(), repo.files()?), ended);
    state.gates_only = state.phase.is_none() && roster::roster(&config).is_empty();
    context.output.result_or(&state, || state.text(), || state.line());
    Ok(ExitCode::SUCCESS)
}

fn session(repo: &Repo) -> Result<Session, CliError> {
    let Some(dir) = StateDir::find(repo.root())? else { return Ok(Session::default()) };
    Ok(ledger::read_session(&dir)?.unwrap_or_default())
}

impl StatusDocument {
    fn of(repo: &Repo, session: &Session) -> Result<Self, CliError> {
        let head = repo.head()?;
        let position = project::position(repo, session, &head)?;
        let subject = repo.last_message()?.and_then(|message| message.lines().next().map(str::to_owned));
        let failing = session.tests().iter().filter(|(_, known)| known.status == TestStatus::Fail);
        let failing = failing.map(|(id, known)| Failing {
            test_id: id.clone(),
            cause: known.cause,
            message: known.message.clone(),
        });
        let by_ledger = session.machine_state();
        Ok(Self {
            step: position.step,
            next_role: session.role_on_turn(&position, &head.tree),
            phase: position.phase,
            last_commit: head.commit,
            last_commit_subject: subject,
            branch: head.branch,
            red: session.red().cloned().collect(),
            green: session.green(),
            failing: failing.collect(),
            obstacles: session.suite().map(|suite| suite.obstacles.clone()).unwrap_or_default(),
            tests_current: session.suite().and_then(|suite| repo.tree_id().ok().map(|tree| tree == suite.tree)),
            paused: by_ledger.pause().map(|pause| pause.reason.clone()),
            next: by_ledger.pause().map(|pause| pause.next.clone()),
            refactor_mode: by_ledger.refactor().cloned(),
            exceptions: by_ledger.overrides(WallClock.now_ms()).cloned().collect(),
            blocked: by_ledger.blocked().clone(),
            plan_steps: dots::of_project(repo.root(), session),
            usage: by_ledger.usage().into(),
            events: session.events(),
            projects: Vec::new(),
            gates_only: false,
        })
    }

    fn text(&self) -> String {
        let mut text = String::new();
        if !self.gates_only {
            text += &format!("{} {}\n", paint(BOLD, "step     "), self.step_text());
            text += &format!("{} {}\n", paint(BOLD, "next     "), self.next_role);
        }
        text += &format!("{} {}\n", paint(BOLD, "commit   "), self.commit_text());
        text += &format!("{} {}\n", paint(BOLD, "tests    "), self.tests_text());
        text.extend(self.projects.iter().filter(|_| self.tests_current.is_some()).map(tally::text));
        for failing in &self.failing {
            text += &failing.text();
        }
        for obstacle in &self.obstacles {
            text += &format!("  {} {} {}\n", paint(BAD, "!"), obstacle.subject, paint(DIM, obstacle.cause));
        }
        let mut plan = "";
        for step in &self.plan_steps {
            if step.step.plan != plan {
                plan = &step.step.plan;
                text += &format!("{} {plan}\n", paint(BOLD, "plan     "));
            }
            text += &dots::text(step);
        }
        text + &self.person_text()
    }

    /// The status in one line.
    fn line(&self) -> String {
        match &self.paused {
            Some(reason) => format!("{} {reason}\n", paint(BAD, "paused")),
            None if self.gates_only => format!("tests {}\n", self.tests_text()),
            None => format!("step {}, next {}, tests {}\n", self.step_text(), self.next_role, self.tests_text()),
        }
    }

    /// The lines about a person's decisions, made or pending.
    fn person_text(&self) -> String {
        let mut text = String::new();
        for (test, reason) in &self.blocked {
            text += &format!("{} {test} {}\n", paint(BOLD, "blocked  "), paint(DIM, reason));
        }
        if let Some(begun) = &self.refactor_mode {
            let reason = begun.reason.as_deref().or(begun.mark.as_deref()).unwrap_or("on");
            text += &format!("{} {reason} {}\n", paint(BOLD, "refactor "), paint(DIM, "(`tdd-cli refactor end`)"));
        }
        for made in &self.exceptions {
            let until = paint(DIM, format_args!("(until {})", log::time(made.expires)));
            text += &format!("{} {}: {} {until}\n", paint(BOLD, "exception"), made.rule, made.reason);
        }
        if self.usage.calls > 0 {
            text += &format!("{} {}\n", paint(BOLD, "usage    "), self.usage.text());
        }
        if let Some(reason) = &self.paused {
            text += &format!("{} {}\n", paint(BOLD, "paused   "), paint(BAD, reason));
        }
        if let Some(next) = &self.next {
            text += &format!("  next: {next}\n");
        }
        text
    }

    fn step_text(&self) -> String {
        match self.phase {
            Some(phase) => format!("{} ({phase})", self.step),
            None => "none yet".to_owned(),
        }
    }

    fn commit_text(&self) -> String {
        let Some(commit) = &self.last_commit else { return "none yet".to_owned() };
        let subject = self.last_commit_subject.as_deref().unwrap_or_default();
        let place = self.branch.as_ref().map_or_else(|| "detached HEAD".to_owned(), |branch| format!("on {branch}"));
        format!("{} {subject} {}", commit.short(), paint(DIM, format_args!("({place})")))
    }

    fn tests_text(&self) -> String {
        let mut counts = format!("{}, {}", paint(GOOD, format_args!("{} green", self.green)), self.red_text());
        if !self.obstacles.is_empty() {
            counts += &paint(BAD, format_args!(", {} could not be run", self.obstacles.len()));
        }
        match self.tests_current {
            Some(true) => counts,
            Some(false) => {
                format!("{counts} {}", paint(WARN, "(the files have changed since: run `tdd-cli auto-test`)"))
            }
            None => "not run yet: `tdd-cli auto-test`".to_owned(),
        }
    }

    fn red_text(&self) -> String {
        let text = format!("{} red", self.red.len());
        if self.red.is_empty() { text } else { paint(BAD, text) }
    }
}

impl Usage {
    fn text(&self) -> String {
        let tokens = format!("{} + {} tokens", self.prompt_tokens, self.completion_tokens);
        let cost = if self.usd > 0.0 { format!(", {:.2} USD", self.usd) } else { String::new() };
        format!("{} calls, {tokens} ({} cached){cost}", self.calls, self.cached_tokens)
    }
}

impl Failing {
    fn text(&self) -> String {
        let cause = self.cause.map_or_else(String::new, |cause| cause.to_string());
        let mut text = format!("  {} {} {}\n", paint(BAD, "✗"), self.test_id, paint(DIM, cause));
        for line in self.message.iter().flat_map(|message| message.lines()).take(3) {
            text += &format!("      {line}\n");
        }
        text
    }
}
