//! `program new`: creates a program's files and lists what the user must fill in.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde::Serialize;
use tdd_core::gate::{self, Decision};
use tdd_core::program::definition::Problem;
use tdd_core::program::{FOLDER, is_name};
use tdd_core::seam::Workspace as _;
use tdd_exec::git::Repo;
use tdd_exec::program::{ProgramError, found};
use tdd_exec::text;
use tdd_exec::workspace::{Workspace, Written};

use crate::context::Context;
use crate::error::CliError;
use crate::output::{BOLD, DIM, GOOD, paint};
use tdd_exec::project;

/// Create a program, and list everything to fill in
///
/// The strategy's template is taken from `.autoloop/strategies/` if the project has its own; otherwise the built-in one
/// is written there first. Nothing is committed.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tdd-cli program new port --strategy test-driven\n  tdd-cli program new faster --strategy default"
)]
pub struct New {
    /// Name of the program
    #[arg(value_name = "NAME")]
    name: String,
    /// How the program works
    #[arg(long, value_enum, default_value_t)]
    strategy: Template,
}

/// The strategies that are shipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Template {
    /// Red, green, refactor, evaluate
    #[default]
    TestDriven,
    /// Propose, evaluate, keep what improves
    Default,
}

/// The shipped files: path below `.autoloop/strategies/`, text, and path inside a program.
const TEST_DRIVEN: [(&str, &str, Option<&str>); 5] = [
    ("strategy.md", include_str!("../../../strategies/test-driven/strategy.md"), Some("test-driven.md")),
    ("CUSTOMIZE.md", include_str!("../../../strategies/test-driven/CUSTOMIZE.md"), None),
    (
        "prompts/write-test.md",
        include_str!("../../../strategies/test-driven/prompts/write-test.md"),
        Some("prompts/write-test.md"),
    ),
    (
        "prompts/make-green.md",
        include_str!("../../../strategies/test-driven/prompts/make-green.md"),
        Some("prompts/make-green.md"),
    ),
    (
        "prompts/refactor.md",
        include_str!("../../../strategies/test-driven/prompts/refactor.md"),
        Some("prompts/refactor.md"),
    ),
];
const PROGRAM: &str = include_str!("../../../strategies/test-driven/program.md");
const PROGRAM_DEFAULT: &str = include_str!("../../../strategies/default/program.md");
/// Largest template file, in bytes.
const MAX_TEMPLATE: u64 = 1 << 20;

/// The JSON document.
#[derive(Debug, Serialize)]
struct Document {
    program: String,
    created: Vec<String>,
    /// Places to fill in.
    markers: Vec<Problem>,
}

pub fn run(args: &New, context: &Context) -> Result<ExitCode, CliError> {
    let repo = project::repository(&context.user_paths)?;
    if !is_name(&args.name) {
        return Err(ProgramError::Name(args.name.clone()).into());
    }
    if found::names(&repo)?.contains_key(&args.name) {
        return Err(ProgramError::Exists(args.name.clone()).into());
    }
    let files = laid_out(args, &repo)?;
    let created = write(&repo, &files)?;
    let markers = found::find(&repo, &args.name)?.problems;
    let document = Document { program: args.name.clone(), created, markers };
    context.output.result(&document, || document.text());
    Ok(ExitCode::SUCCESS)
}

fn laid_out(args: &New, repo: &Repo) -> Result<Vec<(String, String)>, CliError> {
    let folder = format!("{FOLDER}/programs/{}", args.name);
    let program = match args.strategy {
        Template::TestDriven => PROGRAM,
        Template::Default => PROGRAM_DEFAULT,
    };
    let mut files = vec![(format!("{folder}/program.md"), program.replace("{{name}}", &args.name))];
    if args.strategy == Template::Default {
        return Ok(files);
    }
    for (name, ours, place) in TEST_DRIVEN {
        let template = format!("{FOLDER}/strategies/test-driven/{name}");
        let known = repo.root().join(&template);
        let text = if known.is_file() {
            text::read(&known, MAX_TEMPLATE).map_err(ProgramError::File)?
        } else {
            files.push((template, ours.to_owned()));
            ours.to_owned()
        };
        files.extend(place.map(|place| (format!("{folder}/strategy/{place}"), text)));
    }
    Ok(files)
}

fn write(repo: &Repo, files: &[(String, String)]) -> Result<Vec<String>, CliError> {
    let pairs = files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
    let permit = match gate::permit_scaffold(pairs) {
        Decision::Permit(permit) => permit,
        Decision::Refuse(refusal) => return Err(CliError::InTheWay(refusal.reason)),
    };
    match Workspace::open(repo.root())?.write(permit)? {
        Written::Done(_) => Ok(files.iter().map(|(path, _)| path.clone()).collect()),
        Written::PersonChanged { paths } => Err(CliError::person_changed(&paths)),
        Written::Refused(refusal) => Err(CliError::InTheWay(refusal.reason)),
    }
}

impl Document {
    fn text(&self) -> String {
        let mut text = format!("{}\n", paint(GOOD, format_args!("the program `{}` is created", self.program)));
        for path in &self.created {
            text += &format!("  {path}\n");
        }
        text += &format!("\n{}\n", paint(BOLD, "to be filled in:"));
        for marker in &self.markers {
            let place = format!("{}:{}", marker.file, marker.line);
            text += &format!("  {} {}\n", paint(DIM, place), marker.problem);
        }
        text + &format!("\nthen `tdd-cli program check {}`, and commit it\n", self.program)
    }
}
