//! A test run of a JavaScript project: our runner script starts node's runner, vitest or jest. Every test that was run,
//! or that its file contains, gets exactly one result.
//!
//! A test with a table or subtests is one test: it passes if all rows and subtests do.

mod cause;
mod complaint;
mod coverage;
mod events;
mod packages;
mod reading;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tdd_core::command::{CommandSpec, Finished};
use tdd_core::report::{Cause, Obstacle, Report};
use tdd_core::test_id::TestId;

pub use self::coverage::coverage;
use self::events::RunnerReport;
pub use self::packages::begin;
use self::reading::Reading;
use super::JavaScript;
use super::ids::{Ids, Located};
use super::items::is_test_name;
use super::places::is_within;
use super::runner::chosen;
use super::test_command::{Program, Run, TestCommand};
use super::title::JOINT;
use crate::language::{Job, Language, Next, Project, Selection, Settings, Sources, Starts, Suite, UnknownCommand};
use crate::run::{last_lines, last_words, report_without_run, tool_obstacle};

/// Starts the tests in child processes and reports on them.
const RUNNER: &str = include_str!("runner.mjs");
/// How a child process talks to its parent.
const CHANNEL: &str = include_str!("channel.mjs");
/// Reporters that run inside each runner.
const NODE: &str = include_str!("node.mjs");
const VITEST: &str = include_str!("vitest.mjs");
const JEST: &str = include_str!("jest.cjs");

struct JavaScriptSuite {
    command: TestCommand,
    project: Project,
    settings: Settings,
    selection: Selection,
    /// The files to measure coverage of, relative to the project's folder.
    watch: Vec<String>,
    running: Option<Run>,
    finished: Option<Finished>,
}

impl Suite for JavaScriptSuite {
    fn next(&mut self, sources: &dyn Sources) -> Next {
        if let (Some(run), Some(finished)) = (&self.running, self.finished.take()) {
            return Next::Done(self.read(run, &finished, sources));
        }
        match chosen(&self.command, &self.project, sources) {
            Ok(run) => {
                let job = self.job(&run, sources);
                self.running = Some(run);
                Next::Run(vec![job])
            }
            Err(why) => {
                let obstacle = Obstacle::new("the test command", Cause::RunnerMissing, why);
                Next::Done(report_without_run(&self.selection, obstacle))
            }
        }
    }

    fn feed(&mut self, finished: Vec<Finished>) {
        self.finished = finished.into_iter().next();
    }
}

impl JavaScriptSuite {
    fn new(project: &Project, settings: &Settings, selection: Selection) -> Result<Self, UnknownCommand> {
        Ok(Self {
            command: TestCommand::parse(&JavaScript::Plain.test_command(settings))?,
            project: project.clone(),
            settings: settings.clone(),
            selection,
            watch: Vec::new(),
            running: None,
            finished: None,
        })
    }

    fn job(&self, run: &Run, sources: &dyn Sources) -> Job {
        let reporter = match run.program {
            Program::Node => NODE,
            Program::Vitest => VITEST,
            Program::Jest => JEST,
        };
        let ids = Ids::of(&self.project, sources);
        let wanted = match &self.selection {
            Selection::All => Value::Null,
            Selection::Only(asked) => self.wanted(asked, &ids),
        };
        let options = json!({
            "runner": run.program.name(),
            "flags": run.flags,
            "places": run.places,
            "timeout": self.settings.timeout.as_secs_f64(),
            "reporter": reporter.replace("CHANNEL\n", CHANNEL),
            "files": self.files(run, &ids),
            "wanted": wanted,
            "watch": self.watch,
            "typed": sources.files().iter().any(|path| is_typed(path) && self.project.relative_path(path).is_some()),
        });
        let argv = ["node", "--input-type=module", "-e", RUNNER, "--", &options.to_string()].map(str::to_owned);
        // The configured timeout is for one test; a few hanging tests must not cost the results of the others.
        let deadline = self.settings.timeout * 6 + std::time::Duration::from_mins(2);
        let command = CommandSpec::new(argv, deadline).in_dir(self.project.root.clone());
        Job { command, starts: Starts::Tests, label: format!("running {}", run.program.name()) }
    }

    /// The files that may be run, with their tests' patterns.
    fn files(&self, run: &Run, ids: &Ids) -> Value {
        let mut found = serde_json::Map::new();
        for (path, tests) in ids.files() {
            let Some(below) = self.project.relative_path(path) else { continue };
            let name = below.rsplit('/').next().unwrap_or(below);
            let is_meant = run.places.is_empty() || is_within(&run.places, below);
            if is_meant && (!tests.is_empty() || is_test_name(name)) {
                found.insert(below.to_owned(), tests.iter().map(told).collect::<Vec<_>>().into());
            }
        }
        found.into()
    }

    fn wanted(&self, asked: &[TestId], ids: &Ids) -> Value {
        let mut found: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for (path, test) in asked.iter().flat_map(|id| ids.wanted(id)) {
            if let Some(below) = self.project.relative_path(path) {
                found.entry(below.to_owned()).or_default().push(told(test));
            }
        }
        json!(found)
    }

    fn read(&self, run: &Run, finished: &Finished, sources: &dyn Sources) -> Report {
        let name = run.program.name();
        let stopped = |obstacle: Obstacle| report_without_run(&self.selection, obstacle);
        if let Some(obstacle) = tool_obstacle(name, finished) {
            return stopped(obstacle);
        }
        let Ok(told) = serde_json::from_slice::<RunnerReport>(&finished.stdout.bytes) else {
            return stopped(Obstacle::new(name, Cause::UnknownOutput, last_words(finished)));
        };
        if let Some(missing) = &told.missing {
            return stopped(Obstacle::new(name, Cause::RunnerMissing, missing.clone()));
        }
        if told.forged || !told.complete {
            let message = "something other than the runner wrote into the report";
            return stopped(Obstacle::new(name, Cause::Crash, message));
        }
        if let Some(broken) = &told.broken {
            let message = format!("{name} ended with {}\n{}", broken.how, last_lines(&broken.said, &finished.exit));
            return stopped(Obstacle::new(name, Cause::UnknownOutput, message));
        }
        let mut reading = Reading::new(&self.project, sources, &self.selection);
        reading.tests(told.tests);
        reading.files(&told.files, run);
        reading.errors(name, &told.errors);
        reading.report(name, &self.selection)
    }
}

/// Whether node needs TypeScript support for a file.
pub(super) fn is_typed(path: &str) -> bool {
    [".ts", ".mts", ".cts", ".tsx"].iter().any(|ending| path.ends_with(ending))
}

/// A test as our runner script expects it.
fn told(test: &Located) -> Value {
    json!({"name": test.item.name.split(JOINT).collect::<Vec<_>>(), "pattern": test.patterns()})
}
