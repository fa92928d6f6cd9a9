//! `program list`: lists every program with its run state.

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use tdd_exec::program::{ProgramContext, found};

use super::program_context;
use crate::context::Context;
use crate::error::CliError;
use crate::output::{BAD, DIM, GOOD, WARN, paint};

/// List all programs: due, waiting, pending, paused, blocked, done, or not ready
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tdd-cli program list --format json | jq '.[] | select(.standing == \"due\").program'"
)]
pub struct List {}

/// A program in the JSON document.
#[derive(Debug, Serialize)]
struct Row {
    program: String,
    /// `due`, `waiting`, `pending`, `paused`, `blocked`, `done` or `not-ready`.
    standing: &'static str,
    why: Option<String>,
    iterations: u32,
    best: Option<f64>,
}

pub fn run(context: &Context) -> Result<ExitCode, CliError> {
    let programs = program_context(context)?;
    let mut rows = Vec::new();
    for name in found::names(&programs.repo)?.into_keys() {
        rows.push(row(&programs, &name));
    }
    context.output.result_or(&rows, || text(&rows), || text(&rows));
    Ok(ExitCode::SUCCESS)
}

fn row(programs: &ProgramContext, name: &str) -> Row {
    let program = name.to_owned();
    let unready = |why: String| Row { program, standing: "not-ready", why: Some(why), iterations: 0, best: None };
    let found = match found::find(&programs.repo, name) {
        Ok(found) => found,
        Err(error) => return unready(error.to_string()),
    };
    let look = match programs.look(&found, &programs.memory(&found, None), /* allow_untracked */ false) {
        Ok(look) => look,
        Err(error) => return unready(error.to_string()),
    };
    let (iterations, best) = (look.state.iterations(), look.state.metric().best());
    Row { program: name.to_owned(), standing: look.standing.word(), why: super::why(&look), iterations, best }
}

fn text(rows: &[Row]) -> String {
    let line = |row: &Row| {
        let style = match row.standing {
            "due" | "done" => GOOD,
            "blocked" | "not-ready" => BAD,
            "waiting" => DIM,
            _ => WARN,
        };
        let best = row.best.map_or_else(String::new, |best| format!(", best {best}"));
        let why = row.why.as_deref().map_or_else(String::new, |why| format!(": {why}"));
        format!("{} {}: {} iterations{best}{why}\n", paint(style, row.standing), row.program, row.iterations)
    };
    if rows.is_empty() {
        "there is no program; `tdd-cli program new NAME` creates one\n".to_owned()
    } else {
        rows.iter().map(line).collect()
    }
}
