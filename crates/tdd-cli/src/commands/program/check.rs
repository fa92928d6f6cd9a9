//! `program check`: shows a program's definition and the problems that keep it from running.

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use tdd_core::program::definition::Problem;
use tdd_exec::program::found::{self, ProgramFiles};

use crate::context::Context;
use crate::error::CliError;
use crate::output::{BAD, DIM, GOOD, paint};
use tdd_exec::project;

/// Say what keeps a program from running, with file and line
///
/// Exit code 0 if nothing does, 1 if something does, 2 if it cannot be read.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tdd-cli program check port")]
pub struct Check {
    /// Which program
    #[arg(value_name = "NAME")]
    name: String,
}

/// The JSON document about a program.
#[derive(Debug, Serialize)]
struct Document {
    program: String,
    file: String,
    strategy: Option<&'static str>,
    target: Vec<String>,
    evaluation: String,
    held_out: usize,
    direction: &'static str,
    target_metric: Option<f64>,
    problems: Vec<Problem>,
    runs: bool,
}

pub fn run(args: &Check, context: &Context) -> Result<ExitCode, CliError> {
    let repo = project::repository(&context.user_paths)?;
    let document = Document::of(found::find(&repo, &args.name)?);
    context.output.result_or(&document, || document.head() + &document.text(), || document.text());
    Ok(ExitCode::from(u8::from(!document.runs)))
}

impl Document {
    fn of(found: ProgramFiles) -> Self {
        let ProgramFiles { name, file, definition, problems, .. } = found;
        Self {
            program: name,
            file,
            strategy: definition.strategy.as_ref().ok().map(|strategy| strategy.name()),
            target: definition.fence.patterns().to_vec(),
            evaluation: definition.evaluation.clone(),
            held_out: definition.held_out.len(),
            direction: definition.direction.word(),
            target_metric: definition.target_metric,
            runs: problems.is_empty(),
            problems,
        }
    }

    fn head(&self) -> String {
        let strategy = self.strategy.unwrap_or("unknown");
        format!("{} ({strategy}), target {}\n", self.file, self.target.join(", "))
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for problem in &self.problems {
            text += &format!("{} {}:{}: {}\n", paint(BAD, "✗"), problem.file, problem.line, problem.problem);
            text += &format!("    {} {}\n", paint(DIM, "fix:"), problem.fix);
        }
        if self.runs { text + &format!("{}\n", paint(GOOD, "ready to run")) } else { text }
    }
}
