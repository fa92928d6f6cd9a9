//! `export`: the labelled corpus of a project's history, one JSON line a triple.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde::Serialize;
use tdd_core::digest::{CommitId, Digest, TreeId};
use tdd_core::report::Cause;
use tdd_core::test_id::TestId;
use tdd_core::triples::{self, Reds, Triple};
use tdd_exec::git::{ChangeKind, GitPath, Repo};
use tdd_exec::ledger;
use tdd_exec::sources::{StoredSources, TreeSources};
use tdd_exec::state::StateDir;
use tdd_lang::language::Language;

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
/// They come from the trailers of HEAD's first-parent history; the cause of a red is known where the ledger
/// saw it.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tdd-cli export triples --output triples.jsonl")]
struct Triples {
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Longest diff of one edit, in bytes.
const MAX_DIFF: usize = 1 << 20;

/// One line.
#[derive(Debug, Serialize)]
struct Line {
    test_id: TestId,
    red: RedLine,
    edit: EditLine,
    green: GreenLine,
}

#[derive(Debug, Serialize)]
struct RedLine {
    commit: CommitId,
    tree: TreeId,
    test_digest: Option<Digest>,
    cause: Option<Cause>,
}

#[derive(Debug, Serialize)]
struct EditLine {
    commit: CommitId,
    /// What the commit changed against its parent, as a unified diff.
    diff: String,
    files: Vec<FileLine>,
}

/// One file of an edit, with digests of its content.
#[derive(Debug, Serialize)]
struct FileLine {
    path: String,
    before: Option<Digest>,
    after: Option<Digest>,
}

#[derive(Debug, Serialize)]
struct GreenLine {
    commit: CommitId,
    tree: TreeId,
}

pub fn run(args: &Export, context: &Context) -> Result<ExitCode, CliError> {
    let What::Triples(Triples { output }) = &args.what;
    let repo = project::repository(&context.place)?;
    let config = project::configuration(&context.place, repo.root())?.config;
    let sources = TreeSources::new(repo.root(), repo.files()?);
    let language = project::language_of(&config, &sources, &sources)?;
    let history: Vec<_> = repo.first_parent_messages(usize::MAX)?.collect::<Result<_, _>>()?;
    let exporter = Exporter { reds: reds(&repo)?, repo, language };
    let folder = project::folder(&context.place)?;
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

/// What the ledger saw, if there is one.
fn reds(repo: &Repo) -> Result<Reds, CliError> {
    let mut reds = Reds::default();
    let Some(dir) = StateDir::find(repo.root())? else { return Ok(reds) };
    for record in ledger::records(&dir)?.into_iter().flatten() {
        reds.apply(&record?.event);
    }
    Ok(reds)
}

/// Looks up what a line needs.
struct Exporter {
    repo: Repo,
    language: Box<dyn Language>,
    reds: Reds,
}

impl Exporter {
    fn line(&self, triple: &Triple) -> Result<Line, CliError> {
        let red = self.repo.commit_tree(Some(&triple.red))?;
        let before = self.repo.commit_tree(self.repo.first_parent(&triple.green)?.as_ref())?;
        let green = self.repo.commit_tree(Some(&triple.green))?;
        let seen = self.reds.get(&triple.test, &red);
        let found = self.language.find_test(&triple.test, &StoredSources::new(&self.repo, &red)?);
        let test_digest = found.map(|(_, test)| test.digest).or(seen.and_then(|seen| seen.digest));
        Ok(Line {
            test_id: triple.test.clone(),
            red: RedLine { commit: triple.red.clone(), tree: red, test_digest, cause: seen.map(|seen| seen.cause) },
            edit: EditLine {
                commit: triple.green.clone(),
                diff: self.repo.diff(&before, &green, MAX_DIFF)?,
                files: self.files(&before, &green)?,
            },
            green: GreenLine { commit: triple.green.clone(), tree: green },
        })
    }

    fn files(&self, before: &TreeId, after: &TreeId) -> Result<Vec<FileLine>, CliError> {
        let digest = |tree: &TreeId, path: &GitPath| -> Result<Option<Digest>, CliError> {
            Ok(self.repo.blob(tree, path)?.map(Digest::of))
        };
        let mut files = Vec::new();
        for change in self.repo.diff_trees(before, after)? {
            let paths = match change.kind {
                ChangeKind::Renamed { from } => vec![from, change.path],
                ChangeKind::Added | ChangeKind::Modified | ChangeKind::Deleted => vec![change.path],
            };
            for path in paths {
                let (before, after) = (digest(before, &path)?, digest(after, &path)?);
                files.push(FileLine { path: path.to_string(), before, after });
            }
        }
        Ok(files)
    }
}

/// A file that a person named.
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
