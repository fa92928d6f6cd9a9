//! A test run of a Python project: finds the interpreter, then runs pytest with our runner. Every test that pytest
//! collects, or that is in the sources, gets exactly one result.
//!
//! A test function is one test, however many cases it has: it passes if all of them do.

mod cause;
mod coverage;
mod events;
mod members;

use std::collections::BTreeSet;

use serde::Deserialize;
use tdd_core::command::{CommandSpec, Finished};
use tdd_core::report::{Cause, Obstacle, Outcome, Report, TestResult};
use tdd_core::test_id::TestId;

use self::cause::Diagnosis;
pub use self::coverage::coverage;
use self::events::{Case, Error, Fate, Run, RunnerReport, Unloaded, Why};
pub use self::members::begin;
use super::Python;
use super::ids::{Ids, without_case};
use super::modules::Modules;
use super::project::install;
use super::test_command::TestCommand;
use crate::language::{
    Job, Language, Next, Project, Selection, Settings, Sources, Starts, Suite, UnknownCommand, join,
};
use crate::run::{
    Moment, Results, blocks, failed, last_words, no_tests_found, report_without_run, shorten, tool_obstacle,
};

/// Script that finds the interpreter.
pub(super) const FIND: &str = include_str!("find.py");
/// Script that runs pytest and reports its events.
const RUNNER: &str = include_str!("runner.py");

struct PytestSuite {
    command: TestCommand,
    project: Project,
    settings: Settings,
    selection: Selection,
    /// What our runner is to record for coverage.
    watch: Option<serde_json::Value>,
    stage: Stage,
    finished: Option<Finished>,
}

enum Stage {
    Begin,
    Finding,
    Running,
}

/// What the script [`FIND`] prints.
#[derive(Deserialize)]
struct InterpreterFacts {
    executable: String,
    pytest: Option<String>,
    user_base: String,
}

impl Suite for PytestSuite {
    fn next(&mut self, sources: &dyn Sources) -> Next {
        match (std::mem::replace(&mut self.stage, Stage::Begin), self.finished.take()) {
            (Stage::Running, Some(finished)) => Next::Done(self.read(&finished, sources)),
            (Stage::Finding, Some(finished)) => match found(&finished, install(&self.project, sources)) {
                Ok(found) => {
                    self.stage = Stage::Running;
                    Next::Run(vec![self.run(&found, sources)])
                }
                Err(obstacle) => Next::Done(report_without_run(&self.selection, obstacle)),
            },
            (Stage::Begin | Stage::Finding | Stage::Running, _) => {
                self.stage = Stage::Finding;
                let command = CommandSpec::new(self.command.find.clone(), self.settings.build_timeout);
                let command = command.in_dir(self.project.root.clone());
                Next::Run(vec![Job { command, starts: Starts::Tool, label: "finding python".to_owned() }])
            }
        }
    }

    fn feed(&mut self, finished: Vec<Finished>) {
        self.finished = finished.into_iter().next();
    }
}

impl PytestSuite {
    fn new(project: &Project, settings: &Settings, selection: Selection) -> Result<Self, UnknownCommand> {
        Ok(Self {
            command: TestCommand::parse(&Python.test_command(settings))?,
            project: project.clone(),
            settings: settings.clone(),
            selection,
            watch: None,
            stage: Stage::Begin,
            finished: None,
        })
    }

    fn run(&self, found: &InterpreterFacts, sources: &dyn Sources) -> Job {
        let seconds = self.settings.timeout.as_secs_f64();
        let options = serde_json::json!({
            "timeout": seconds, "flags": self.command.flags, "places": self.command.places, "watch": self.watch,
            "plain": self.settings.plain,
        });
        let mut argv = vec![found.executable.clone(), "-c".to_owned(), RUNNER.to_owned(), options.to_string()];
        if let Selection::Only(ids) = &self.selection {
            let known = Ids::of(&self.project, sources);
            let nodes = ids.iter().map(|id| known.node(id).unwrap_or_else(|| id.as_str().to_owned()));
            argv.extend(nodes.filter_map(|node| self.project.relative_path(&node).map(str::to_owned)));
            if argv.len() == 4 {
                argv.push("nothing::nothing".to_owned());
            }
        }
        // One test may take as long as configured; tests that hang must not cost the others their results.
        let deadline = self.settings.timeout * 6 + std::time::Duration::from_secs(30);
        let command = CommandSpec::new(argv, deadline)
            .in_dir(self.project.root.clone())
            .with_env("PYTHONHASHSEED", "0")
            .with_env("PYTHONUSERBASE", found.user_base.clone());
        Job { command, starts: Starts::Tests, label: "running pytest".to_owned() }
    }

    fn read(&self, finished: &Finished, sources: &dyn Sources) -> Report {
        if let Some(obstacle) = tool_obstacle("pytest", finished) {
            return report_without_run(&self.selection, obstacle);
        }
        let Ok(report) = serde_json::from_slice::<RunnerReport>(&finished.stdout.bytes) else {
            let obstacle = Obstacle::new("pytest", Cause::UnknownOutput, last_words(finished));
            return report_without_run(&self.selection, obstacle);
        };
        let run = Run::of(report);
        if let Some(doubt) = run.doubt {
            return report_without_run(&self.selection, Obstacle::new("pytest", Cause::UnknownOutput, doubt));
        }
        let mut reading = Reading::new(&self.project, sources, &self.selection);
        reading.cases(&run);
        reading.unloaded(&run.unloaded);
        reading.loaded_and_not_run(&run, self.may_leave_out(sources));
        reading.ended(&run, finished);
        reading.report(&self.selection)
    }

    /// Whether options make pytest run only some tests.
    fn may_leave_out(&self, sources: &dyn Sources) -> bool {
        let picks = |text: &str| ["-k", "-m", "--deselect"].iter().any(|option| text.contains(option));
        let configured = ["pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg", ".pytest.ini", "pytest.toml"];
        let texts = configured.iter().filter_map(|name| sources.read(&join(&self.project.root, name)));
        let picked = texts.filter_map(|text| text.split_once("addopts").map(|(_, after)| after.to_owned()));
        self.command.flags.iter().any(|flag| picks(flag)) || picked.into_iter().any(|after| picks(&after))
    }
}

/// The state of a run until it becomes a report.
struct Reading<'r> {
    project: &'r Project,
    ids: Ids,
    diagnosis: Diagnosis<'r>,
    /// The selected ids; one may name a single case.
    selected: Vec<String>,
    results: Results,
    is_whole: bool,
}

impl<'r> Reading<'r> {
    fn new(project: &'r Project, sources: &'r dyn Sources, selection: &Selection) -> Self {
        let ids = Ids::of(project, sources);
        let selected = selection.ids().iter().map(|id| id.as_str().to_owned()).collect();
        Self {
            project,
            results: Results::new(ids.obstacles.clone()),
            ids,
            diagnosis: Diagnosis::new(project, sources, Modules::of),
            selected,
            is_whole: *selection == Selection::All,
        }
    }

    fn cases(&mut self, run: &Run) {
        let collected: BTreeSet<String> = run.cases.keys().map(|node| join(&self.project.root, node)).collect();
        for (node, case) in &run.cases {
            let node = join(&self.project.root, node);
            let plain = without_case(&node);
            let plain =
                expanded(plain, |name| self.ids.get(name).is_some() && !collected.contains(name)).unwrap_or(plain);
            let is_selected = self.selected.contains(&node);
            let id = if is_selected { self.ids.id(&node) } else { self.ids.id(plain) };
            let mut result = self.case(id, case, node.strip_prefix(plain).unwrap_or_default());
            if self.ids.count(plain) > 1 {
                let message = format!("`{plain}` is defined twice, and only the last definition counts");
                result.outcome = Outcome::Fail { cause: Cause::LoadFailure, message };
            }
            result.digest = self.ids.get(plain).map(|test| test.item.digest);
            self.results.add_case(result);
        }
    }

    fn case(&self, id: TestId, case: &Case, name: &str) -> TestResult {
        let millis = case.millis();
        let say = |text: &str| shorten(if name.is_empty() { text.to_owned() } else { format!("{name} {text}") });
        match case.fate() {
            Fate::Passed => TestResult::new(id, Outcome::Pass, millis),
            Fate::Skipped(phase) => failed(id, Cause::Skipped, say(&reason(phase)), millis),
            Fate::Lost("timeout") => failed(id, Cause::Timeout, say("it did not finish before its timeout"), millis),
            Fate::Lost(how) => failed(id, Cause::Crash, say(&format!("its process ended with {how}")), millis),
            Fate::Silent => failed(id, Cause::Crash, say("it was collected and never ended"), millis),
            Fate::Failed(phase) => {
                let moment = if phase.when == "call" { Moment::Running } else { Moment::Around };
                let unknown = Error::default();
                let why = self.diagnosis.cause(phase.error.as_ref().unwrap_or(&unknown), moment);
                failed(id, why, say(&message(phase.error.as_ref(), &phase.text)), millis)
            }
        }
    }

    fn unloaded(&mut self, unloaded: &[Unloaded]) {
        for Unloaded { id, text, why } in unloaded {
            let path = join(&self.project.root, id.split("::").next().unwrap_or(id));
            let tests: Vec<TestId> = self.ids.in_file(&path).map(|(node, _)| self.ids.id(node)).collect();
            let (cause, message, place) = match why {
                Why::Skipped => {
                    let skipped = tests.into_iter().map(|id| failed(id, Cause::Skipped, shorten(text.clone()), 0));
                    skipped.for_each(|result| self.results.add_case(result));
                    continue;
                }
                Why::Lost(how) if how == "timeout" => {
                    (Cause::Timeout, "loading it did not finish before its timeout".to_owned(), None)
                }
                Why::Lost(how) => (Cause::Crash, format!("loading it ended its process with {how}"), None),
                Why::Failed(None) => (Cause::LoadFailure, shorten(text.clone()), None),
                Why::Failed(Some(error)) => {
                    let place = error.place().map(|(path, line)| format!("{}:{line}", join(&self.project.root, path)));
                    let message = message(Some(error), text);
                    let message =
                        self.diagnosis.way_out(error).map_or(message.clone(), |way| format!("{way}\n{message}"));
                    (self.diagnosis.cause(error, Moment::Loading), message, place)
                }
            };
            let subject = if path.is_empty() { "tests".to_owned() } else { path };
            self.results.add_obstacle(Obstacle { subject, cause, message, place, tests });
        }
    }

    /// Fails tests that are in the source but that pytest did not find: loading the file removed them.
    fn loaded_and_not_run(&mut self, run: &Run, may_leave_out: bool) {
        if !self.is_whole || may_leave_out {
            return;
        }
        for path in &run.loaded {
            if run.unloaded.iter().any(|unloaded| unloaded.id.starts_with(path.as_str())) {
                continue;
            }
            let path = join(&self.project.root, path);
            let lost: Vec<TestId> = self.ids.in_file(&path).map(|(node, _)| self.ids.id(node)).collect();
            for id in lost.into_iter().filter(|id| !self.results.has(id)).collect::<Vec<_>>() {
                let message = "it is in its file, but it does not exist any more once the file is loaded".to_owned();
                self.results.add_case(failed(id, Cause::TargetNotFound, message, 0));
            }
        }
    }

    fn ended(&mut self, run: &Run, finished: &Finished) {
        let output = last_words(finished);
        if let Some(how) = &run.broken_off {
            let message = shorten(format!("pytest ended with {how}\n{output}"));
            self.results.add_obstacle(Obstacle::new("pytest", Cause::Crash, message));
        } else if !run.was_collected && run.unloaded.is_empty() {
            let cause = if output.contains("conftest") { Cause::LoadFailure } else { Cause::UnknownOutput };
            let message = inner_error(&output).map_or(output.clone(), |error| format!("{error}\n{output}"));
            self.results.add_obstacle(Obstacle::new("pytest", cause, message));
        } else if self.is_whole && self.results.is_empty() && !self.ids.is_empty() {
            self.results.add_obstacle(no_tests_found("pytest", "pytest"));
        }
    }

    fn report(mut self, selection: &Selection) -> Report {
        if let Selection::Only(selected) = selection {
            self.results.fail_missing(selected, "pytest", |obstacle, id| blocks(obstacle, id, "pytest"));
        }
        self.results.report()
    }
}

/// The test from which `parameterized.expand` made this one for a row: `test_x` for `test_x_0_name`.
fn expanded(node: &str, is_template: impl Fn(&str) -> bool) -> Option<&str> {
    let is_row = |at: &usize| node[at + 1..].starts_with(|c: char| c.is_ascii_digit());
    let mut ends = node.match_indices('_').map(|(at, _)| at).filter(is_row);
    ends.find(|at| is_template(&node[..*at])).map(|at| &node[..at])
}

fn found(finished: &Finished, install: &str) -> Result<InterpreterFacts, Obstacle> {
    let missing = |message: String| Obstacle::new("python", Cause::RunnerMissing, message);
    if let Some(obstacle) = tool_obstacle("pytest", finished) {
        return Err(obstacle);
    }
    let text = finished.stdout.text();
    let found = text.lines().rev().find_map(|line| serde_json::from_str::<InterpreterFacts>(line).ok());
    let found = found.ok_or_else(|| missing(last_words(finished)))?;
    match found.pytest {
        Some(_) => Ok(found),
        None => Err(missing(format!("there is no pytest for `{}`; install it there: {install}", found.executable))),
    }
}

/// The exception, then pytest's text: the exception comes first because only one line may be shown.
fn message(error: Option<&Error>, text: &str) -> String {
    let line = error.map(Error::line).unwrap_or_default();
    shorten(format!("{line}\n{text}").trim().to_owned())
}

fn reason(phase: &events::Phase) -> String {
    let expected = if phase.xfail { "it is expected to fail" } else { "" };
    let message = phase.error.as_ref().map(|error| error.message.as_str()).unwrap_or_default();
    let is_unexpected = phase.outcome == events::Outcome::Failed;
    match (expected.is_empty(), is_unexpected) {
        (true, false) => message.to_owned(),
        (true, true) => "it is expected to fail, and passes".to_owned(),
        (false, _) => expected.to_owned(),
    }
}

/// The exception at the end of the traceback with which pytest reports an internal error of its own or of a plugin.
fn inner_error(output: &str) -> Option<&str> {
    let mut traced = output.lines().rev().filter_map(|line| line.strip_prefix("INTERNALERROR> "));
    traced.find(|line| !line.starts_with(' ') && line.contains(':'))
}
