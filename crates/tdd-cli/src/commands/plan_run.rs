//! `plan run`: runs plans wave by wave and task by task, and resumes where the history ends.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use tdd_core::config::Config;
use tdd_core::plan::{Kind, Plan, Severity, Step, TestStep};
use tdd_core::test_id::TestId;
use tdd_exec::git::Repo;
use tdd_exec::text::TextError;

use super::plan;
use super::run::{self as runs, Options};
use crate::context::Context;
use crate::error::CliError;
use crate::kata::{self, KataError};
use crate::machine;
use crate::person::PersonError;
use tdd_core::machine::{Agenda, AssignedTest, Mandate, Order};
use tdd_exec::project;

/// Carry out a plan, or all plans of a folder, wave by wave
///
/// A step with a test is one cycle: the tester writes that test, then come implementor and refactorer. Any other step,
/// and every step of a `type: execute` plan, is done in refactor mode: a change that does not pass is not kept. Only in
/// a `type: execute` plan may tests be left failing, with `gate.test_gate: false`. An interrupted run continues where
/// it stopped. At the end every artifact must exist, and every truth must name a test that passes. Exit code 0 if so, 4
/// if something is missing or a person must look.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tdd-cli plan run plans/05-01.md\n  tdd-cli plan run plans --max-minutes 90")]
pub struct Run {
    /// The plan, or a folder of plans
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Begin no attempt after this many minutes
    #[arg(long, value_name = "M", value_parser = runs::minutes)]
    max_minutes: Option<Duration>,
    #[command(flatten)]
    options: Options,
}

pub fn run(args: &Run, context: &Context) -> Result<ExitCode, CliError> {
    let plans = read(&project::folder(&context.user_paths)?.join(&args.file))?;
    let repo = project::repository(&context.user_paths)?;
    let config = project::configuration(&context.user_paths, repo.root())?.config;
    let agenda = agenda(&plans, &repo, &config)?;
    let order = Order {
        steps: None,
        until_done: false,
        max_time: args.max_minutes,
        allow_untracked: args.options.allow_untracked,
        cycle: false,
    };
    let voice = runs::voice(&args.options, &config, order.max_time, context)?;
    let steps = plans.iter().flat_map(|(path, plan)| TestStep::of_plan(&name_of(path, &repo), plan)).collect();
    let end = machine::carry_out(context, order, agenda, steps, voice)?;
    runs::show(&end, context)?;
    Ok(ExitCode::from(end.exit_code()))
}

/// A plan and its path.
type PlanFile = (PathBuf, Plan);

/// Reads a plan or a folder of plans, sorted by wave. Fails if one of them cannot run.
fn read(path: &Path) -> Result<Vec<PlanFile>, PersonError> {
    let mut plans = if path.is_dir() { in_folder(path)? } else { vec![(path.to_owned(), plan::read(path)?)] };
    for (path, plan) in &plans {
        let stop = plan.findings().into_iter().find(|found| found.severity == Severity::Stop);
        if let Some(finding) = stop {
            return Err(PersonError::PlanStops { path: path.clone(), finding });
        }
    }
    let mut marks = BTreeMap::new();
    for (path, plan) in &plans {
        if let Some(other) = marks.insert(plan.mark(0), path.clone()) {
            return Err(PersonError::SamePlan { path: path.clone(), other });
        }
    }
    plans.sort_by_key(|(path, plan)| (plan.wave, path.clone()));
    Ok(plans)
}

fn in_folder(folder: &Path) -> Result<Vec<PlanFile>, PersonError> {
    let mut plans = Vec::new();
    for path in plan::files(folder) {
        match plan::read(&path) {
            Ok(plan) => plans.push((path, plan)),
            // The folder may also hold notes.
            Err(error) if error.is_no_plan() => {}
            Err(error) => return Err(error),
        }
    }
    if plans.is_empty() { Err(PersonError::NoPlans(folder.to_owned())) } else { Ok(plans) }
}

fn agenda(plans: &[PlanFile], repo: &Repo, config: &Config) -> Result<Agenda, CliError> {
    let kata = match kata::read(&repo.root().join(config.kata_description.as_str())) {
        Ok(kata) if kata == kata::PLACEHOLDER => String::new(),
        Ok(kata) => kata,
        // A plan needs no kata.
        Err(KataError::Unreadable(TextError::Missing(_))) => String::new(),
        Err(error) => return Err(error.into()),
    };
    let inside = |path: &Path| Some(path.canonicalize().ok()?.strip_prefix(repo.root()).ok()?.to_str()?.to_owned());
    let protected: Vec<String> = plans.iter().filter_map(|(path, _)| inside(path)).collect();
    let mandate = |plan: &Plan, at: usize, step: &Step| {
        let target = target(plan, step);
        Mandate {
            brief: Some(plan.brief(&kata, step)),
            mark: Some(plan.mark(at)),
            task: plan.kind().filter(|_| target.is_none()),
            goal: Some(plan.goal()),
            target,
            protected: protected.clone(),
            ..Mandate::default()
        }
    };
    let tasks =
        plans.iter().flat_map(|(_, plan)| plan.steps.iter().enumerate().map(move |(at, step)| (plan, at, step)));
    Ok(Agenda {
        tasks: tasks.map(|(plan, at, step)| mandate(plan, at, step)).collect(),
        truths: plans.iter().flat_map(|(_, plan)| plan.truths.clone()).collect(),
        artifacts: plans.iter().flat_map(|(_, plan)| plan.artifacts.clone()).collect(),
        plans: plans.iter().map(|(path, _)| name_of(path, repo)).collect(),
    })
}

/// A plan's path relative to the repository, or absolute if it is outside.
fn name_of(path: &Path, repo: &Repo) -> String {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    path.strip_prefix(repo.root()).unwrap_or(&path).display().to_string()
}

/// The test of a step that runs under the gates; other steps run in refactor mode.
fn target(plan: &Plan, step: &Step) -> Option<AssignedTest> {
    let (id, file) = (step.test_id.as_ref()?, step.test_file_path.as_ref()?);
    let test = TestId::parse(&id.text).ok()?;
    (plan.kind() == Some(Kind::Tdd)).then(|| AssignedTest { test, file: file.text.clone() })
}
