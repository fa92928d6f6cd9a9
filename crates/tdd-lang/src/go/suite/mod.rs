//! A test run of a Go module: asks Go for the packages, then runs `go test`. Every test in the sources gets exactly one
//! result, even if a test crashes its process.
//!
//! A test function is one test, however many subtests it has: it passes if all of them do.

mod cause;
mod coverage;
mod environment;
mod events;
mod run_state;
#[cfg(test)]
mod tests;

use tdd_core::command::{CommandSpec, Finished};

use self::cause::Diagnosis;
use self::coverage::AND_PROFILE;
pub use self::coverage::coverage;
use self::environment::GoEnvironment;
use self::run_state::RunState;
use super::Go;
use super::ids::Ids;
use super::test_command::TestCommand;
use crate::language::{Job, Language, Next, Project, Selection, Settings, Sources, Starts, Suite, UnknownCommand};
use crate::run::report_without_run;

/// Adds a canary test to each package while `go test` runs.
const RUNNER: &str = include_str!("run.sh");

/// How often the rest of a package is rerun after a test crashed its process.
const MAX_ROUNDS: usize = 40;

/// Begins a test run.
pub fn begin(project: &Project, settings: &Settings, selection: Selection) -> Result<Box<dyn Suite>, UnknownCommand> {
    Ok(Box::new(GoSuite::new(project, settings, selection)?))
}

struct GoSuite {
    command: TestCommand,
    project: Project,
    settings: Settings,
    selection: Selection,
    /// Whether `go test` also writes a coverage profile.
    measures: bool,
    finished: Vec<Finished>,
    stage: Stage,
}

enum Stage {
    Begin,
    Finding,
    Running(Box<RunState>),
}

/// One call of `go test`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum GoTestCall {
    /// All tests of all packages.
    All,
    /// These tests of one package, given by its index in [`GoEnvironment::packages`].
    Tests(usize, Vec<String>),
    /// One subtest of a test.
    Part(usize, String, String),
}

impl Suite for GoSuite {
    fn next(&mut self, sources: &dyn Sources) -> Next {
        let finished = std::mem::take(&mut self.finished);
        match std::mem::replace(&mut self.stage, Stage::Begin) {
            Stage::Begin => {
                self.stage = Stage::Finding;
                Next::Run(environment::questions(&self.command, &self.project, &self.settings))
            }
            Stage::Finding => match GoEnvironment::read(&finished, &self.project) {
                Ok(environment) => {
                    let mut state = RunState::new(environment, Ids::of(&self.project, sources));
                    state.plan(&self.selection);
                    self.go_on(state, sources)
                }
                Err(obstacle) => Next::Done(report_without_run(&self.selection, obstacle)),
            },
            Stage::Running(mut state) => {
                let diagnosis = Diagnosis::new(&self.project, sources);
                let calls = std::mem::take(&mut state.calls);
                for (call, finished) in calls.iter().zip(&finished) {
                    if let Err(obstacle) = state.read(call, finished, &diagnosis, &self.project) {
                        return Next::Done(report_without_run(&self.selection, obstacle));
                    }
                }
                self.go_on(*state, sources)
            }
        }
    }

    fn feed(&mut self, finished: Vec<Finished>) {
        self.finished = finished;
    }
}

impl GoSuite {
    fn new(project: &Project, settings: &Settings, selection: Selection) -> Result<Self, UnknownCommand> {
        Ok(Self {
            command: TestCommand::parse(&Go.test_command(settings))?,
            project: project.clone(),
            settings: settings.clone(),
            selection,
            measures: false,
            finished: Vec::new(),
            stage: Stage::Begin,
        })
    }

    fn go_on(&mut self, mut state: RunState, sources: &dyn Sources) -> Next {
        state.rounds += 1;
        if state.calls.is_empty() || state.rounds > MAX_ROUNDS {
            return Next::Done(state.report(&self.selection, self.command.picks));
        }
        let jobs = state.calls.iter().map(|call| self.job(call, &state.environment, sources)).collect();
        self.stage = Stage::Running(Box::new(state));
        Next::Run(jobs)
    }

    fn job(&self, call: &GoTestCall, environment: &GoEnvironment, sources: &dyn Sources) -> Job {
        let seconds = self.settings.timeout.as_secs().max(1);
        let ours = ["test", "-json", "-count=1", "-vet=off", "-gcflags=-e"].map(str::to_owned);
        let mut argv: Vec<String> = Vec::new();
        // A command that selects tests by name would leave the canary out.
        if !(self.command.picks && *call == GoTestCall::All) {
            let script = ["sh", "-c", RUNNER, "sh"].map(str::to_owned);
            argv.extend(script.into_iter().chain([environment.overlay(), environment.package_names()]));
        }
        if self.measures {
            argv.extend(["sh", "-c", AND_PROFILE, "@DIR@/profile"].map(str::to_owned));
        }
        argv.push(environment.go.clone());
        argv.extend(ours);
        argv.extend((argv[0] == "sh").then(|| "-overlay=@DIR@/overlay.json".to_owned()));
        argv.push(format!("-timeout={seconds}s"));
        argv.extend(self.command.flags.iter().cloned());
        if self.measures {
            argv.extend(["-coverpkg=./...", "-coverprofile=@DIR@/profile"].map(str::to_owned));
        }
        let place = |at: &usize| environment.packages[*at].pattern.clone();
        match call {
            GoTestCall::All => argv.extend(self.command.packages.iter().cloned()),
            GoTestCall::Tests(at, names) => argv.extend([format!("-run=^({}|@NAME@)$", names.join("|")), place(at)]),
            GoTestCall::Part(at, name, part) => {
                let parts: Vec<String> = part.split('/').map(|part| format!("^{}$", escaped(part))).collect();
                argv.extend([format!("-run=^({name}|@NAME@)$/{}", parts.join("/")), place(at)]);
            }
        }
        // One package may take as long as configured; packages that hang must not cost the others their results.
        let deadline = self.settings.build_timeout + self.settings.timeout * 6;
        let mut command = CommandSpec::new(argv, deadline).in_dir(self.project.root.clone());
        command.env.extend(environment.env.iter().cloned());
        let has_workspace = sources.files().iter().any(|file| file.ends_with("go.work"));
        if !has_workspace {
            // A `go.work` in a folder above the repository must not take effect.
            command = command.with_env("GOWORK", "off");
        }
        Job { command, starts: Starts::Tests, label: "running go test".to_owned() }
    }
}

/// A name as a regular expression that matches only that name.
fn escaped(name: &str) -> String {
    let special = |c: char| r"\.+*?()|[]{}^$".contains(c);
    name.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
}
