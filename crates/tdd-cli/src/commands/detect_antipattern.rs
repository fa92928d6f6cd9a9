//! `detect-antipattern`: finds problems in files or in a change that no failing test would show.

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use tdd_core::antipattern;
use tdd_core::change::Unreadable;
use tdd_core::law::Kind;
use tdd_core::pipeline;
use tdd_core::rule::{Refusal, Rule, Severity};
use tdd_core::test_id::TestId;
use tdd_exec::git::Repo;
use tdd_exec::project::{self, Workbench};
use tdd_exec::sources::TreeSources;
use tdd_lang::language::Sources;

use crate::context::Context;
use crate::error::CliError;
use crate::output::{BAD, BOLD, DIM, GOOD, WARN, paint, remark};
use crate::which::Which;

/// Look for the anti-patterns of test-driven development
///
/// Without a file, checks the current change: the working tree against HEAD, or a commit against its parent. With
/// files, checks only the rules that need no change, and names the others. If a rule must know whether a test was ever
/// red and the ledger does not say, the tests are run. Which new lines they execute is measured in a scratch copy, if
/// the language supports it. Exit code 0 if nothing blocks, 1 if something does, 3 if there is no verdict.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tdd-cli detect-antipattern                     the current change, all nine rules\n  tdd-cli detect-antipattern --at HEAD           a commit, in a clean copy\n  tdd-cli detect-antipattern tests/game.rs       a file as it is\n  tdd-cli detect-antipattern --format json | jq '.findings[] | select(.severity == \"block\")'"
)]
pub struct DetectAntipattern {
    /// Files to look at, instead of a change
    #[arg(value_name = "FILE", conflicts_with_all = ["at", "base"])]
    files: Vec<String>,
    #[command(flatten)]
    which: Which,
}

/// One finding in the JSON document.
#[derive(Debug, Serialize)]
struct Finding {
    rule: &'static str,
    severity: Severity,
    file: String,
    line: usize,
    why: String,
    what_to_do: String,
}

impl From<Refusal> for Finding {
    fn from(found: Refusal) -> Self {
        let (file, line) = found.place.map_or((String::new(), 1), |place| (place.path, place.line));
        let (rule, severity) = (found.rule.name(), found.rule.severity());
        Self { rule, severity, file, line, why: found.reason, what_to_do: found.next }
    }
}

/// The JSON document.
#[derive(Debug, Serialize)]
struct Document {
    findings: Vec<Finding>,
    /// Number of blocking findings.
    blocking: usize,
    /// Rules that were skipped because they need a change and only files were given.
    not_looked_at: Vec<&'static str>,
    coverage: CoverageUse,
}

/// Whether line coverage was measured.
#[derive(Debug, Serialize)]
struct CoverageUse {
    used: bool,
    /// Why coverage was not measured.
    why_not: Option<String>,
}

pub fn run(args: &DetectAntipattern, context: &Context) -> Result<ExitCode, CliError> {
    let (findings, unknown, unmeasured) = if args.files.is_empty() {
        let mut workshop = context.gate_workshop(&args.which.change())?;
        let declared = declared(&workshop.site.repo, &args.which)?;
        let detected = pipeline::detect(&mut workshop, declared)?;
        (detected.findings, detected.unknown, detected.unmeasured)
    } else {
        (in_files(args, context)?, None, Some("coverage is measured only for a change".to_owned()))
    };
    let findings: Vec<Finding> = findings.into_iter().map(Finding::from).collect();
    let blocking = findings.iter().filter(|finding| finding.severity == Severity::Block).count();
    let coverage = CoverageUse { used: unmeasured.is_none(), why_not: unmeasured };
    let not_looked_at =
        if args.files.is_empty() { Vec::new() } else { antipattern::of_changes().map(Rule::name).collect() };
    let document = Document { findings, blocking, not_looked_at, coverage };
    let shown = || document.findings.iter().map(finding_text).collect::<String>() + &summary(&document);
    context.output.result_or(&document, shown, || summary(&document));
    if let Some(unknown) = unknown {
        remark(format_args!("the tests could not be run: {unknown}"));
        return Ok(ExitCode::from(3));
    }
    Ok(ExitCode::from(u8::from(blocking > 0)))
}

/// The kind and test that the judged commit's trailers declare; `None` for uncommitted work.
fn declared(repo: &Repo, which: &Which) -> Result<Option<(Kind, Option<TestId>)>, CliError> {
    let commit = if let Some(rev) = &which.at {
        repo.resolve(rev)?
    } else {
        let (head, tree) = (repo.head()?, repo.tree_id()?);
        head.commit.filter(|_| head.tree == tree)
    };
    let message = commit.map(|commit| repo.message(&commit)).transpose()?;
    Ok(message.as_deref().and_then(antipattern::declared))
}

fn in_files(args: &DetectAntipattern, context: &Context) -> Result<Vec<Refusal>, CliError> {
    let bench = Workbench::open(&context.user_paths)?;
    let paths: Result<Vec<String>, CliError> =
        args.files.iter().map(|file| path_of(file, &bench, &bench.sources, context)).collect();
    let paths = paths?;
    if let Some(path) = paths.iter().find(|path| bench.sources.read(path).is_none()) {
        return Err(CliError::Unparsed(Unreadable::not_text(path)));
    }
    let mut signs = bench.language.signs(&bench.project, &bench.sources, &paths);
    match signs.unreadable.pop() {
        Some(unreadable) => Err(CliError::Unparsed(unreadable)),
        None => Ok(antipattern::in_files(&signs)),
    }
}

/// A file's path relative to the repository's root. The argument may be relative to the current folder.
fn path_of(file: &str, bench: &Workbench, sources: &TreeSources, context: &Context) -> Result<String, CliError> {
    let is_there = |path: &String| bench.language.owns(path) && sources.files().binary_search(path).is_ok();
    let from_folder = || {
        let full = project::folder(&context.user_paths).ok()?.join(file).canonicalize().ok()?;
        let root = bench.repo.root().canonicalize().ok()?;
        full.strip_prefix(root).ok()?.to_str().map(str::to_owned)
    };
    let found = from_folder().filter(is_there).or_else(|| Some(file.to_owned()).filter(is_there));
    found.ok_or_else(|| CliError::NoSuchFile(file.to_owned()))
}

fn summary(document: &Document) -> String {
    let warning = document.findings.len() - document.blocking;
    let unlooked = unlooked_text(&document.not_looked_at);
    if document.findings.is_empty() {
        return format!("{} no anti-pattern found\n{unlooked}", paint(GOOD, "✓"));
    }
    let count = |style, count: usize, word| {
        let text = format!("{count} {word}");
        if count == 0 { text } else { paint(style, text) }
    };
    let (block, warn) = (count(BAD, document.blocking, "blocking"), count(WARN, warning, "to think about"));
    format!("{} {block}, {warn}\n{unlooked}", paint(BOLD, "anti-patterns:"))
}

/// Names the rules that were skipped because only files were given.
fn unlooked_text(rules: &[&str]) -> String {
    if rules.is_empty() {
        return String::new();
    }
    let rules = rules.join(", ");
    let text =
        format!("not checked, because these rules need a change: {rules} (name no file to check the current change)");
    paint(DIM, text) + "\n"
}

fn finding_text(finding: &Finding) -> String {
    let severity = match finding.severity {
        Severity::Block => paint(BAD, "block"),
        Severity::Warn => paint(WARN, "warn "),
    };
    let place = paint(DIM, format_args!("{}:{}", finding.file, finding.line));
    let rule = paint(BOLD, finding.rule);
    format!("{severity} {rule} {place}\n  {}\n  do: {}\n", finding.why, finding.what_to_do)
}
