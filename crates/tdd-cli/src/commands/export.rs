//! `export`: writes the history's triples of red, edit and green as JSON lines.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use tdd_core::triples::{self};
use tdd_exec::sources::TreeSources;
use tdd_exec::triples::Exporter;

use crate::context::Context;
use crate::error::CliError;
use crate::output::{failed, print_raw};
use crate::person::PersonError;
use tdd_exec::project;

/// Export what the history shows
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tdd-cli export triples | jq -r .test_id\n  tdd-cli export triples --output triples.jsonl"
)]
pub struct Export {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Triples(Triples),
}

/// Every red test, the edit that made it pass, and the green: JSON lines, oldest first
///
/// They come from the trailers of HEAD's first-parent history; the cause of a red is included if the ledger has it.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tdd-cli export triples --output triples.jsonl")]
struct Triples {
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn run(args: &Export, context: &Context) -> Result<ExitCode, CliError> {
    let What::Triples(Triples { output }) = &args.what;
    let repo = project::repository(&context.user_paths)?;
    let config = project::configuration(&context.user_paths, repo.root())?.config;
    let sources = TreeSources::new(repo.root(), repo.files()?);
    let language = project::language_of(&config, &sources, &sources)?;
    let history: Vec<_> = repo.first_parent_messages(usize::MAX)?.collect::<Result<_, _>>()?;
    let exporter = Exporter::new(repo, language)?;
    let folder = project::folder(&context.user_paths)?;
    let mut sink = output.as_ref().map(|file| Sink::create(folder.join(file))).transpose()?;
    let found = triples::select(&history);
    for triple in &found {
        let line = serde_json::to_string(&exporter.line(triple)?).map_err(std::io::Error::from).map_err(failed)?;
        match &mut sink {
            Some(sink) => sink.write(&line)?,
            None => print_raw(&line)?,
        }
    }
    if let Some(sink) = sink {
        sink.finish()?;
    }
    context.output.note(format_args!("{} triples", found.len()));
    Ok(ExitCode::SUCCESS)
}

/// The output file that the user named.
struct Sink {
    path: PathBuf,
    file: BufWriter<File>,
}

impl Sink {
    fn create(path: PathBuf) -> Result<Self, PersonError> {
        match File::create(&path) {
            Ok(file) => Ok(Self { path, file: BufWriter::new(file) }),
            Err(source) => Err(PersonError::Export { path, source }),
        }
    }

    fn write(&mut self, line: &str) -> Result<(), PersonError> {
        let failed = |source| PersonError::Export { path: self.path.clone(), source };
        writeln!(self.file, "{line}").map_err(failed)
    }

    fn finish(mut self) -> Result<(), PersonError> {
        self.file.flush().map_err(|source| PersonError::Export { path: self.path.clone(), source })
    }
}
