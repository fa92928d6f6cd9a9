//! `doctor`: checks everything that a run needs and says how to fix each problem.

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use tdd_agents::brief::KataFit;
use tdd_agents::prompts::Prompts;
use tdd_agents::remarks::{Grade, Remark};
use tdd_agents::roster::{self, RoleConfig};
use tdd_agents::talk;
use tdd_core::command::Exit;
use tdd_core::config::{Ci, Config};
use tdd_core::plan::Severity;
use tdd_exec::error::WorkError;
use tdd_exec::git::Repo;
use tdd_exec::ledger;
use tdd_exec::process::{self, Spawner};
use tdd_exec::runner::RunError;
use tdd_exec::sources::TreeSources;
use tdd_exec::state::StateDir;
use tdd_exec::text::TextError;
use tdd_lang::discover::{self, DiscoveredProject};
use tdd_lang::language::{Demand, Tool};

use crate::commands::plan;
use crate::context::Context;
use crate::dots;
use crate::error::{CliError, Code};
use crate::kata::{self, KataError};
use crate::output::{BAD, DIM, GOOD, WARN, paint};
use crate::servers;
use tdd_exec::project;

/// Check tools, versions, configuration, repository, ledger and models
///
/// Each finding comes with its fix. Exit code 0 if nothing stops a run, 2 if the configuration does, 3 if the
/// environment does: a tool that is missing, a server that refuses the key or does not have the model.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tdd-cli doctor\n  tdd-cli doctor --offline\n  tdd-cli doctor --format json | jq '.findings[] | select(.state != \"ok\")'"
)]
pub struct Doctor {
    /// Do not probe the model servers
    #[arg(long)]
    offline: bool,
}

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    /// No problem.
    Ok,
    /// A problem that does not stop a run.
    Warn,
    /// The configuration stops a run.
    Config,
    /// The environment stops a run.
    Environment,
}

/// The result of one check.
#[derive(Debug, Serialize)]
struct Finding {
    subject: String,
    state: State,
    detail: String,
    fix: Option<String>,
}

#[derive(Debug, Serialize)]
struct Document {
    healthy: bool,
    findings: Vec<Finding>,
}

const NOTHING_IN_THE_WAY: &str = "everything is ready\n";

pub fn run(args: &Doctor, context: &Context) -> Result<ExitCode, CliError> {
    let folder = project::folder(&context.user_paths)?;
    let findings = examine(&folder, args, context);
    let worst = |state| findings.iter().any(|finding| finding.state == state);
    let code = match (worst(State::Config), worst(State::Environment)) {
        (true, _) => Code::Usage as u8,
        (false, true) => Code::Environment as u8,
        (false, false) => 0,
    };
    let document = Document { healthy: code == 0, findings };
    let shown = |wanted: fn(&&Finding) -> bool| document.findings.iter().filter(wanted).map(Finding::text).collect();
    let in_the_way = || shown(|it| matches!(it.state, State::Config | State::Environment));
    let in_short = || if document.healthy { NOTHING_IN_THE_WAY.to_owned() } else { in_the_way() };
    context.output.result_or(&document, || shown(|_| true), in_short);
    Ok(ExitCode::from(code))
}

fn examine(folder: &Path, args: &Doctor, context: &Context) -> Vec<Finding> {
    let mut findings = Vec::new();
    let repo = match Repo::discover(folder) {
        Ok(Some(repo)) => Some(repo),
        Ok(None) => {
            findings.push(failed("git", State::Config, &WorkError::NoRepository(folder.to_owned()).into()));
            None
        }
        Err(error) => {
            findings.push(failed("git", State::Environment, &error.into()));
            None
        }
    };
    let root = repo.as_ref().map_or(folder, Repo::root).to_owned();
    let config = configuration(&root, context, &mut findings);
    tools(&root, &config, context, &mut findings);
    if let Some(repo) = &repo {
        repository(repo, &mut findings);
        state(repo, &mut findings);
        source_code(repo, &config, &mut findings);
        findings.push(kata(repo, &config));
        findings.extend(plans(repo.root()));
    }
    models(&config, &mut findings);
    if !args.offline {
        findings.extend(servers::ask(&config, context).into_iter().map(Finding::from));
    }
    findings
}

fn configuration(root: &Path, context: &Context, findings: &mut Vec<Finding>) -> Config {
    match project::configuration(&context.user_paths, root) {
        Ok(project::Loaded { config, path: Some(path) }) => {
            findings.push(ok("configuration", path.display().to_string()));
            config
        }
        Ok(project::Loaded { config, path: None }) => {
            let detail = "there is no `tdd.yaml`; the defaults are used";
            findings.push(warn("configuration", detail, "`tdd-cli init` writes one; `--gates-only` leaves models out"));
            config
        }
        Err(error) => {
            findings.push(failed("configuration", State::Config, &error.into()));
            Config::default()
        }
    }
}

fn repository(repo: &Repo, findings: &mut Vec<Finding>) {
    match repo.head() {
        Ok(head) => {
            let branch = head.branch.map_or_else(|| "detached HEAD".to_owned(), |branch| format!("branch {branch}"));
            let commit = head.commit.map_or_else(|| "no commit yet".to_owned(), |commit| commit.short().to_owned());
            findings.push(ok("git", format!("{branch}, {commit}")));
        }
        Err(error) => findings.push(failed("git", State::Environment, &error.into())),
    }
    match repo.dirty() {
        Ok(dirty) if dirty.is_clean() => findings.push(ok("working tree", "clean")),
        Ok(dirty) => {
            let detail = format!("{} changed, {} untracked", dirty.modified_tracked.len(), dirty.untracked.len());
            findings.push(warn("working tree", &detail, "commit or stash it before an unattended run"));
        }
        Err(error) => findings.push(failed("working tree", State::Environment, &error.into())),
    }
}

/// Reads and checks the whole ledger.
fn state(repo: &Repo, findings: &mut Vec<Finding>) {
    let read = || -> Result<Option<usize>, CliError> {
        let Some(dir) = StateDir::find(repo.root())? else { return Ok(None) };
        let Some(records) = ledger::records(&dir)? else { return Ok(None) };
        let mut count = 0;
        for record in records {
            record?;
            count += 1;
        }
        Ok(Some(count))
    };
    findings.push(match read() {
        Ok(Some(count)) => ok("ledger", format!("{count} events, chain unbroken")),
        Ok(None) => ok("ledger", "none yet; the first check creates it"),
        Err(error) => failed("ledger", State::Environment, &error),
    });
}

fn source_code(repo: &Repo, config: &Config, findings: &mut Vec<Finding>) {
    let found = repo.files().map_err(CliError::from).and_then(|files| {
        let sources = TreeSources::new(repo.root(), files);
        let language = project::language_of(config, &sources, &sources)?;
        let project = language.detect(&sources).ok_or_else(|| project::no_project(repo.root(), &sources))?;
        let untested = language.is_untested(&project, &sources);
        let settings = project::settings(config, language.as_ref(), &project, &sources);
        let known = tdd_lang::suite(language.as_ref(), &project, &settings, tdd_lang::language::Selection::All);
        drop(known.map_err(RunError::from)?);
        let known = project::known(config, language.as_ref(), &project, &sources);
        Ok((project, untested, unknown(&known, &sources)))
    });
    match found {
        Ok((project, untested, unknown)) => {
            findings.push(ok("project", project.description));
            findings.extend(unknown);
            if untested {
                let detail = "there is production code but no test";
                let fix = "`tdd-cli refactor begin`, write tests for the existing code, then `tdd-cli refactor end`";
                findings.push(warn("tests", detail, fix));
            }
        }
        Err(error) => findings.push(failed("project", State::Config, &error)),
    }
}

/// Warns about projects with tests that are not configured.
fn unknown(known: &[DiscoveredProject], sources: &TreeSources) -> Option<Finding> {
    let unrun = discover::unrun_projects(known, sources);
    let named = |project: &DiscoveredProject| match project.root.as_str() {
        "" => format!("{} outside of all projects", project.language),
        root => format!("{} in `{root}`", project.language),
    };
    if unrun.is_empty() {
        return None;
    }
    let projects: Vec<String> = unrun.iter().map(named).collect();
    let detail = format!("there are tests that are not run: {}", projects.join(", "));
    let lines = project::lines(known.iter().chain(&unrun));
    let lines: Vec<String> = lines.lines().map(|line| format!("\n        {line}")).collect();
    Some(warn(
        "other projects",
        &detail,
        &format!("to have them run, name all projects in `tdd.yaml`:{}", lines.concat()),
    ))
}

/// Reports plans that would not run.
fn plans(root: &Path) -> Vec<Finding> {
    let folders = dots::FOLDERS.map(|folder| root.join(folder));
    folders.iter().flat_map(|folder| plan::files(folder)).flat_map(|path| examine_plan(&path, root)).collect()
}

fn examine_plan(path: &Path, root: &Path) -> Vec<Finding> {
    let name = path.strip_prefix(root).unwrap_or(path).display();
    match plan::read(path) {
        Ok(plan) => {
            let stops = plan.findings().into_iter().filter(|found| found.severity == Severity::Stop);
            stops.map(|found| warn("plan", &format!("{name}:{}: {}", found.line, found.problem), &found.fix)).collect()
        }
        // The folder may also hold notes.
        Err(error) if error.is_no_plan() => Vec::new(),
        Err(error) => {
            let detail = format!("`{name}` cannot be read: {}", CliError::from(error).causes().join(": "));
            vec![warn("plan", &detail, &format!("`tdd-cli plan check {name}` says more"))]
        }
    }
}

/// Only models need a kata, so a project without models may lack one.
fn kata(repo: &Repo, config: &Config) -> Finding {
    let path = config.kata_description.as_str();
    let is_named = config.kata_description != Config::default().kata_description;
    let text = match kata::read(&repo.root().join(path)) {
        Err(KataError::Unreadable(TextError::Missing(_))) if !is_named && roster::roster(config).is_empty() => {
            return ok("kata", "none; the gates need none");
        }
        Err(error) => return failed("kata", State::Config, &error.into()),
        Ok(text) if text == kata::PLACEHOLDER => {
            return warn("kata", &format!("`{path}` still contains its placeholder"), "say in it what to build");
        }
        Ok(text) => text,
    };
    let context_bytes = usize::try_from(config.llm.context_bytes.get()).unwrap_or(usize::MAX);
    let language = config.language.as_deref().unwrap_or_default();
    let room = talk::least_brief_bytes(&Prompts::default(), language, context_bytes);
    let too_long = |cut: &str, shown: usize| {
        let detail = format!("`{path}` has {} bytes and {cut}: prompts show {shown} of them", text.len());
        warn("kata", &detail, "raise `llm.context_bytes` if the models' context allows it, or say less in the kata")
    };
    match KataFit::of(&text, room) {
        KataFit::Whole => ok("kata", format!("`{path}`, {} lines", text.lines().count())),
        KataFit::Sometimes(shown) => too_long("may be cut where there is much else to show", shown),
        KataFit::Never(shown) => too_long("will be cut", shown),
    }
}

fn tools(root: &Path, config: &Config, context: &Context, findings: &mut Vec<Finding>) {
    let spawner = Spawner::new(root, std::env::vars_os()).with_cancel(context.cancel.clone());
    let files = Repo::discover(root).ok().flatten().and_then(|repo| repo.files().ok()).unwrap_or_default();
    let sources = TreeSources::new(root, files);
    // An unknown language is reported with the configuration.
    let Ok(language) = project::language_of(config, &sources, &sources) else { return };
    let project = language.detect(&sources);
    let mut idle = Vec::new();
    for mut tool in language.tools() {
        let demand = project.as_ref().map(|project| {
            let settings = project::settings(config, language.as_ref(), project, &sources);
            language.demand(&tool, project, &settings, &sources)
        });
        tool.required |= demand == Some(Demand::Required);
        // The tool may be installed only for this project.
        tool.version.cwd = project.as_ref().map(|project| project.root.clone()).unwrap_or_default();
        let finding = examine_tool(&tool, &spawner);
        if finding.state == State::Warn && demand == Some(Demand::Idle) {
            idle.push(tool.name);
        } else {
            findings.push(finding);
        }
    }
    if !idle.is_empty() {
        findings.push(ok("not needed", format!("{}: this project does not need them", idle.join(", "))));
    }
}

/// Fails if a required tool is missing, and says how to install it.
pub fn require_tools(language: &str, folder: &Path, context: &Context) -> Result<(), CliError> {
    let spawner = Spawner::new(folder, std::env::vars_os()).with_cancel(context.cancel.clone());
    let tools = project::language(language, &Ci::default())?.tools();
    let missing = tools.into_iter().filter(|tool| tool.required).map(|tool| examine_tool(&tool, &spawner));
    match missing.into_iter().find(|finding| finding.state != State::Ok) {
        Some(Finding { subject, detail, fix, .. }) => Err(CliError::NoTool { name: subject, detail, fix }),
        None => Ok(()),
    }
}

fn examine_tool(tool: &Tool, spawner: &Spawner) -> Finding {
    let missing = |detail: String| Finding {
        subject: tool.name.clone(),
        state: if tool.required { State::Environment } else { State::Warn },
        detail,
        fix: Some(tool.fix.clone()),
    };
    match process::run(spawner, &tool.version) {
        Ok(finished) if finished.exit == Exit::Passed => {
            ok(&tool.name, finished.stdout.text().lines().next().unwrap_or_default())
        }
        Ok(finished) => {
            let stderr = finished.stderr.text();
            let line = stderr.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            missing(format!("{} {line}", finished.exit).trim_end().to_owned())
        }
        Err(error) => missing(error.to_string()),
    }
}

fn models(config: &Config, findings: &mut Vec<Finding>) {
    let seats = roster::roster(config);
    if seats.is_empty() {
        findings.push(ok("models", "none; the gates need none, and `run` finds them under `roles` in `tdd.yaml`"));
    }
    findings.extend(seats.iter().map(examine_seat));
}

fn examine_seat(seat: &RoleConfig) -> Finding {
    let subject = seat.role.name();
    let route = match &seat.route {
        Ok(route) => route,
        Err(error) => {
            return Finding {
                subject: subject.to_owned(),
                state: State::Config,
                detail: error.to_string(),
                fix: Some("set `llm.base_url`, or a provider under `llm.providers`".to_owned()),
            };
        }
    };
    let detail = format!("`{}` at {}", route.model, route.server.base_url);
    match &route.server.api_key_env {
        Some(name) if std::env::var_os(name).is_none() => {
            warn(subject, &format!("{detail}, no key in {name}"), &format!("export {name} if it needs a key"))
        }
        Some(name) => ok(subject, format!("{detail}, key from {name}")),
        None => ok(subject, detail),
    }
}

fn ok(subject: &str, detail: impl Into<String>) -> Finding {
    Finding { subject: subject.to_owned(), state: State::Ok, detail: detail.into(), fix: None }
}

fn warn(subject: &str, detail: &str, fix: &str) -> Finding {
    Finding { subject: subject.to_owned(), state: State::Warn, detail: detail.to_owned(), fix: Some(fix.to_owned()) }
}

fn failed(subject: &str, state: State, error: &CliError) -> Finding {
    let messages = std::iter::once(error.to_string()).chain(error.causes());
    let detail = messages.collect::<Vec<_>>().join(": ");
    Finding { subject: subject.to_owned(), state, detail, fix: error.hint() }
}

impl From<Remark> for Finding {
    fn from(remark: Remark) -> Self {
        let state = match remark.grade {
            Grade::Fine => State::Ok,
            Grade::Flaw => State::Warn,
            Grade::Fault => State::Environment,
        };
        let detail = format!("{} {}", remark.subject, remark.detail);
        Self { subject: "model server".to_owned(), state, detail, fix: remark.fix }
    }
}

impl Finding {
    fn text(&self) -> String {
        let mark = match self.state {
            State::Ok => paint(GOOD, "✓"),
            State::Warn => paint(WARN, "!"),
            State::Config | State::Environment => paint(BAD, "✗"),
        };
        let fix = self.fix.as_ref().map_or_else(String::new, |fix| format!("    {} {fix}\n", paint(DIM, "fix:")));
        format!("{mark} {:<14} {}\n{fix}", self.subject, self.detail)
    }
}
