//! Runs a project's tools and lets its language interpret their output.

use std::path::Path;

use tdd_core::command::{CommandSpec, Exit, Finished};
use tdd_core::report::Report;
use tdd_core::seam::{Runner, RunnerOutcome};
use tdd_core::shortage::{Nature, Shortage, is_killed_itself, shortage};
use tdd_core::test_id::TestId;
use tdd_lang::language::{
    Job, Language, Measured, Next, Project, Selection, Settings, Sources, Starts, Suite, UnknownCommand,
};

use crate::disk_space::least_free_space;
use crate::process::{self, Isolation, ProcessError, Spawner};

/// Why a tool could not be run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The configured command is not one that we understand.
    #[error(transparent)]
    UnknownCommand(#[from] UnknownCommand),
    /// The process could not be started or watched.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// Memory or disk ran out, so nothing is known about the project.
    #[error("{}", match what {
        Shortage::Memory => format!("`{command}` was killed, most likely because memory ran out"),
        Shortage::Disk => format!("the disk is full: `{command}` cannot write"),
    })]
    Exhausted {
        /// The command.
        command: String,
        /// What ran out.
        what: Shortage,
    },
    /// A stop was requested.
    #[error("interrupted")]
    Interrupted,
}

/// Runs the tools of one project.
pub struct ProjectRunner<'a> {
    /// Interprets their output.
    pub language: &'a dyn Language,
    /// The project's location.
    pub project: &'a Project,
    /// The configured commands.
    pub settings: &'a Settings,
    /// The project's files.
    pub sources: &'a dyn Sources,
    /// Starts them.
    pub spawner: &'a Spawner,
    /// Called with what is being done, for a progress line.
    pub progress: &'a dyn Fn(&str),
}

impl ProjectRunner<'_> {
    fn run(&self, command: &CommandSpec, starts: Starts) -> Result<Finished, RunError> {
        let (isolation, nature) = match starts {
            Starts::Tool => (Isolation::Shared, Nature::Tool),
            Starts::Tests => (Isolation::Fresh, Nature::Tests),
            Starts::ToolAndTests => (Isolation::Shared, Nature::Tests),
        };
        let finished = process::run(&self.spawner.clone().with_isolation(isolation), command)?;
        if finished.exit == Exit::Interrupted {
            return Err(RunError::Interrupted);
        }
        match shortage(&finished, nature, || least_free_space(Path::new(&finished.folder))) {
            Some(what) => Err(RunError::Exhausted { command: command.line(), what }),
            None => Ok(finished),
        }
    }

    fn run_job(&self, job: &Job) -> Result<Finished, RunError> {
        (self.progress)(&job.label);
        self.run(&job.command, job.starts)
    }

    /// Runs all tests and measures which lines of these files they execute.
    pub fn coverage(&self, paths: &[String]) -> Result<Measured, RunError> {
        match self.language.coverage(self.project, self.settings, paths) {
            Some(mut suite) => Ok(self.converse(suite.as_mut())?.0),
            None => Ok(Err("it cannot be measured for this project's tests".to_owned())),
        }
    }

    /// Runs the commands that a suite asks for until it is done; also returns the first command that was killed.
    fn converse<T>(&self, suite: &mut dyn Suite<T>) -> Result<(T, Option<CommandSpec>), RunError> {
        let mut killed = None;
        loop {
            match suite.next(self.sources) {
                Next::Run(jobs) => {
                    let finished = jobs.iter().map(|job| self.run_job(job)).collect::<Result<Vec<_>, _>>()?;
                    let mut pairs = jobs.into_iter().zip(&finished);
                    killed =
                        killed.or_else(|| pairs.find(|(_, done)| is_killed_itself(done)).map(|(job, _)| job.command));
                    suite.feed(finished);
                }
                Next::Done(known) => return Ok((known, killed)),
            }
        }
    }

    /// Runs these commands in order until one fails.
    fn run_tools(&self, label: &str, commands: &[CommandSpec]) -> Result<RunnerOutcome, RunError> {
        let mut outcome = RunnerOutcome { ok: true, stdout: String::new(), stderr: String::new(), exit: Exit::Passed };
        for command in commands {
            (self.progress)(label);
            let finished = self.run(command, Starts::Tool)?;
            outcome.stdout += &finished.stdout.text();
            outcome.stderr += &finished.stderr.text();
            outcome.ok = finished.exit == Exit::Passed;
            outcome.exit = finished.exit;
            if !outcome.ok {
                break;
            }
        }
        Ok(outcome)
    }
}

impl Runner for ProjectRunner<'_> {
    type Error = RunError;

    fn fmt(&self, files: &[String]) -> Result<RunnerOutcome, RunError> {
        self.run_tools("formatting", &self.language.fmt(self.project, self.settings, files, self.sources))
    }

    fn check(&self) -> Result<RunnerOutcome, RunError> {
        self.run_tools("checking", &self.language.check(self.project, self.settings))
    }

    fn test(&self, only: &[TestId]) -> Result<Report, RunError> {
        let selection = if only.is_empty() { Selection::All } else { Selection::Only(only.to_vec()) };
        let mut suite = tdd_lang::suite(self.language, self.project, self.settings, selection)?;
        self.report(suite.as_mut())
    }
}

impl ProjectRunner<'_> {
    /// Runs the commands that a suite asks for until it has a report.
    pub fn report(&self, suite: &mut dyn Suite) -> Result<Report, RunError> {
        match self.converse(suite)? {
            // The runner itself was killed: if a test could have caused it, the language would blame the test.
            (report, Some(command)) if report.environment_failure().is_some() => {
                Err(RunError::Exhausted { command: command.line(), what: Shortage::Memory })
            }
            (report, _) => Ok(report),
        }
    }
}
