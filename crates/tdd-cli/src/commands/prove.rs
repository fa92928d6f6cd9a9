//! `prove`: judges a range of commits as one change, like a pull request.

use std::fs;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use tdd_core::audit::Claim;
use tdd_core::digest::CommitId;
use tdd_core::evidence::{ProbeName, Probed};
use tdd_core::law::{Kind, Overridden};
use tdd_core::pipeline::Judged;
use tdd_core::report::{Cause, Outcome};
use tdd_core::test_id::TestId;
use tdd_exec::git::Repo;
use tdd_exec::project;
use tdd_exec::state::{StateDir, StateError};
use tdd_exec::workshop::{ProjectWorkshop, ReportCache};

use crate::args::Format;
use crate::commands::check;
use crate::context::Context;
use crate::error::CliError;
use crate::output::{BAD, BOLD, DIM, GOOD, Output, paint};
use crate::verdict::{Answer, Verdicts};

/// Prove a pull request, judged as one change
///
/// The range is judged as one change, squashed or not, from where it parted from `A`: every new test was red on the old
/// production code and is green on the new, no test is loosened or lost, and production code came with tests that
/// failed without it. Exceptions and refactor mode count where the trailers of its commits name them. Exit code 0 if it
/// holds, 1 if the change is at fault, 3 if there is no verdict.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tdd-cli prove main..HEAD\n  tdd-cli prove main..feature --format markdown    for a comment on the pull request\n  tdd-cli prove HEAD~3.. --format json"
)]
pub struct Prove {
    /// `A..B` or `A..`, which ends at HEAD
    #[arg(value_name = "RANGE")]
    range: String,
}

/// The JSON document.
#[derive(Debug, Serialize)]
struct Document {
    range: String,
    base: Option<CommitId>,
    head: CommitId,
    commits: usize,
    phase: Option<tdd_core::cycle::Phase>,
    tests: Vec<Proven>,
    /// Exceptions from the commits' trailers that were needed.
    overridden: Vec<Overridden>,
    #[serde(flatten)]
    verdicts: Verdicts,
}

/// The evidence for one test of the range.
#[derive(Debug, Serialize)]
struct Proven {
    test_id: TestId,
    /// Why it failed on the old production code; `None` if it passed or the cause is unknown.
    red: Option<Cause>,
    /// Whether it passes on the new code.
    green: bool,
    /// What its probes showed.
    evidence: Vec<Probed>,
}

/// The commits of a range.
struct Range {
    base: Option<CommitId>,
    head: CommitId,
    commits: Vec<CommitId>,
}

pub fn run(args: &Prove, context: &Context) -> Result<ExitCode, CliError> {
    let repo = project::repository(&context.user_paths)?;
    let range = range(&repo, &args.range)?;
    let state = StateDir::ensure(repo.root())?;
    // The lock keeps a second `prove` out of the scratch copy.
    let _lock = context.recording(&state)?;
    let folder = state.path().join("prove");
    let failed = |source| StateError::Io { action: "create", path: folder.clone(), source };
    fs::create_dir_all(&folder).map_err(failed)?;
    let change = (range.base.clone(), &range.head);
    let control = context.run_control();
    let workshop = ProjectWorkshop::of_history(
        &context.user_paths,
        &control,
        change,
        StateDir::ensure(&folder)?,
        ReportCache::default(),
    )?;
    let mut workshop = workshop.ok_or_else(|| tdd_exec::error::WorkError::NoProject(repo.root().to_owned()))?;
    for commit in &range.commits {
        workshop.granted.extend(Claim::exceptions(&repo.message(commit)?));
    }
    let examined = check::examine(&mut workshop, None, &[], &Claim::default())?;
    let document = Document {
        range: args.range.clone(),
        commits: range.commits.len(),
        base: range.base,
        head: range.head,
        phase: examined.kind.and_then(Kind::phase),
        tests: proven(&examined.targets, &examined.judged),
        overridden: examined.judged.overridden.clone(),
        verdicts: Verdicts::of(&workshop, &examined.judged),
    };
    let is_markdown = context.global.format == Format::Markdown;
    let text = || if is_markdown { document.markdown() } else { document.text(context.output) };
    context.output.result_or(&document, text, text);
    Ok(document.verdicts.exit_code())
}

/// The first-parent commits of a range, from its merge base.
fn range(repo: &Repo, text: &str) -> Result<Range, CliError> {
    let (from, to) = text.split_once("..").unwrap_or((text, ""));
    let head = project::commit(repo, if to.is_empty() { "HEAD" } else { to.trim_start_matches('.') })?;
    let from = project::commit(repo, from)?;
    let base = repo.merge_base(&from, &head)?;
    let mut commits = Vec::new();
    let mut next = Some(head.clone());
    while let Some(commit) = next.filter(|commit| Some(commit) != base.as_ref()) {
        next = repo.first_parent(&commit)?;
        commits.push(commit);
    }
    Ok(Range { base, head, commits })
}

fn proven(targets: &[TestId], judged: &Judged) -> Vec<Proven> {
    let proven = |test: &TestId| Proven {
        test_id: test.clone(),
        red: judged.before.get(test).copied().flatten(),
        green: judged.report.get(test).is_some_and(|result| result.outcome == Outcome::Pass),
        evidence: judged.evidence.iter().filter(|probed| probed.test_id == *test).cloned().collect(),
    };
    targets.iter().map(proven).collect()
}

impl Proven {
    fn cells(&self) -> [String; 3] {
        let red = self.red.map_or_else(|| "not red".to_owned(), |cause| format!("red ({cause})"));
        let green = if self.green { "green" } else { "not green" };
        let details = self.evidence.iter().filter(|probed| probed.probe != ProbeName::Base);
        let details: Vec<&str> = details.map(|probed| probed.detail.as_str()).collect();
        let probes = if details.is_empty() { "-".to_owned() } else { details.join("; ") };
        [red, green.to_owned(), probes]
    }
}

impl Document {
    fn text(&self, output: Output) -> String {
        if output.is_quiet() {
            return self.verdicts.text(output);
        }
        let phase = self.phase.map_or("no code or tests", tdd_core::cycle::Phase::name);
        let head = format!("{} {} commits, judged as one: {phase}\n", paint(BOLD, &self.range), self.commits);
        let tests: String = self.tests.iter().map(Self::test_line).collect();
        format!("{head}{tests}{}", self.verdicts.text(output))
    }

    fn test_line(test: &Proven) -> String {
        let [red, green, twins] = test.cells();
        let mark = if test.red.is_some() && test.green { paint(GOOD, "✓") } else { paint(BAD, "✗") };
        format!("{mark} {} {}\n", test.test_id, paint(DIM, format_args!("{red} before, {green} now, {twins}")))
    }

    fn markdown(&self) -> String {
        let verdict = self.verdicts.worst();
        let (word, reason, next) = match verdict {
            Some(verdict) if verdict.answer == Answer::Holds => ("holds ✅", verdict.reason.as_str(), None),
            Some(verdict) => ("refused ❌", verdict.reason.as_str(), verdict.next.as_deref()),
            None => ("holds ✅", "there was nothing to judge", None),
        };
        let mut text =
            format!("## Test-driven: {word}\n\n{}, {} commits as one change.\n\n", code(&self.range), self.commits);
        if let Some(rule) = verdict.and_then(|verdict| verdict.rule) {
            text += &format!("**{rule}**: ");
        }
        text += &format!("{}\n", code(reason));
        if let Some(next) = next {
            text += &format!("\nNext: {}\n", code(next));
        }
        if !self.tests.is_empty() {
            text += "\n| test | on the old code | on the new code | evidence |\n| --- | --- | --- | --- |\n";
            for test in &self.tests {
                let [red, green, twins] = test.cells();
                // In a table, `|` ends a cell even inside of code.
                let id = code(test.test_id.as_str()).replace('|', "\\|");
                text += &format!("| {id} | {red} | {green} | {twins} |\n");
            }
        }
        for exception in &self.overridden {
            text += &format!("\nException from `{}`: {}\n", exception.rule, code(&exception.reason));
        }
        text
    }
}

/// Formats foreign text as inline code on one line, where nothing becomes a link, HTML, a mention or a heading. The
/// fence has more backticks in a row than the text.
fn code(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    // Code that begins or ends with a backtick needs a space there, which Markdown hides.
    let gap = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    if text.is_empty() { String::new() } else { format!("{fence}{gap}{text}{gap}{fence}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_from_outside_ends_no_code() {
        assert_eq!(code("a|b <img> @all\n# x"), "`a|b <img> @all # x`");
        assert_eq!(code("`adds` fails"), "`` `adds` fails ``");
        assert_eq!(code("a ``` b"), "````a ``` b````");
        assert_eq!(code(" \n"), "");
    }
}
