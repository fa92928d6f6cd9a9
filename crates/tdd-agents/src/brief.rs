//! The brief: everything a model is shown about the project before it acts, in a fixed order and within a byte budget.
//!
//! The same facts give the same bytes. Parts that rarely change (kata, file list) come first and parts that change
//! every step (last commit, open requirements, target, failure) come last, so that the server's prefix cache hits.

use std::collections::BTreeSet;
use std::sync::Arc;

use tdd_core::change::Sort;
use tdd_core::cycle::{Role, Turn};
use tdd_core::report::Cause;
use tdd_core::seam::{File, KataCut, StepContext, Target};

use crate::checklist;
use crate::cut;
use crate::prompts::AnswerFormat;

/// The facts that a brief is written from.
#[derive(Clone, Debug)]
pub struct Brief<'a> {
    /// Kata, last commit and file list. Only files in this list are shown, which excludes git-ignored files.
    pub context: &'a StepContext,
    /// Files that may be shown, in any order.
    pub files: &'a [File],
    /// The test that the step is about.
    pub target: Option<&'a Target>,
    /// The order of its parts.
    pub order: Order,
}

/// The order of a brief's parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// What changes most comes last, so that the server's prefix cache hits.
    #[default]
    Stable,
    /// The files come last, and the code behind the tests: a small model copies what it read last.
    CodeLast,
}

/// A finished brief.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The text for the model.
    pub text: String,
    /// Paths of files that could be shown but did not fit, sorted.
    pub omitted: Vec<String>,
    /// Size in bytes of the longest file that could be shown.
    pub longest: usize,
    /// Set if the kata was shortened.
    pub kata_cut: Option<KataCut>,
}

/// What a model that answers in fenced files is shown instead, when it writes tests or code: those files and no others,
/// and no last commit. Small models follow a short prompt better.
pub(crate) fn short(context: &StepContext, files: &mut Vec<File>, format: AnswerFormat) -> Option<StepContext> {
    if format != AnswerFormat::Files || !matches!(context.turn, Turn::Red { .. } | Turn::Green { .. }) {
        return None;
    }
    // A small model that sees a test sends it back as its answer. Code that runs needs only the failed assertion; code that
    // is missing gets its names from the test.
    let runs = matches!(context.turn, Turn::Green { .. })
        && context.target.as_ref().is_some_and(|target| target.cause == Cause::Assertion)
        && files.iter().any(|file| file.sort == Sort::Production && !is_hidden(&file.path));
    let is_shown = |sort: Sort| sort == Sort::Production || sort == Sort::Test && !runs;
    files.retain(|file| is_shown(file.sort) && !is_hidden(&file.path));
    let paths = files.iter().map(|file| file.path.clone()).collect();
    Some(StepContext { git_last_commit_msg: String::new(), repo_snapshot_paths: Arc::new(paths), ..context.clone() })
}

/// Whether a file's name begins with a dot, as that of `.gitkeep`: such a file holds no code.
pub(crate) fn is_hidden(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.starts_with('.'))
}

/// Whether a kata fits into the brief.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KataFit {
    /// It always fits.
    Whole,
    /// It fits only if file names, last commit and failing test leave room; otherwise it is cut to this many bytes.
    Sometimes(usize),
    /// It never fits and is cut to this many bytes.
    Never(usize),
}

impl KataFit {
    /// Says how a kata fits into a brief of at most `budget` bytes.
    pub fn of(kata: &str, budget: usize) -> Self {
        let (bytes, share) = (kata.trim_end().len(), Shares::of(budget).kata);
        match bytes {
            bytes if bytes <= share => Self::Whole,
            bytes if bytes < budget => Self::Sometimes(share),
            _ => Self::Never(share),
        }
    }
}

/// Most bytes of a target's output, for any budget.
const MAX_OUTPUT: usize = 8_000;
/// Most bytes of the list of all file names.
const MAX_TREE: usize = 16_000;
/// Most bytes of the list of files whose text did not fit.
const MAX_OMISSION: usize = 2_000;
/// Most bytes of the section about requirements.
const MAX_REQUIREMENTS: usize = 1_500;
/// Bytes reserved for the line that counts the names left out.
const MORE: usize = 48;
const NO_FILES: &str = "\nNo file is shown, because there is no room. Ask for the files that you need.\n";

impl Brief<'_> {
    /// Writes the brief in at most `budget` bytes. Drops whole files first; cuts other parts only when no file fits.
    pub fn write(&self, budget: usize) -> Written {
        let tree = self.paths();
        let files = self.by_relevance(&tree);
        let whole = self.parts(&tree, &files, &Shares::unbounded(budget));
        if let Some(written) = with_files(&files, &whole, budget) {
            return written;
        }
        let fits = whole.len() + NO_FILES.len() <= budget;
        let parts = if fits { whole } else { self.parts(&tree, &files, &Shares::of(budget)) };
        let text = cut::head(&parts.joined("", NO_FILES), budget);
        let omitted = left_out(&files, &BTreeSet::new());
        Written { text, omitted, longest: longest(&files), kata_cut: if fits { None } else { self.kata_cut(budget) } }
    }

    fn kata_cut(&self, budget: usize) -> Option<KataCut> {
        let (shown, of) = (Shares::of(budget).kata, self.context.kata_description.trim_end().len());
        (of > shown).then_some(KataCut { shown, of })
    }

    /// Orders files: the target's, those of the last commit, tests, production, runner configuration, documents; then
    /// by path.
    fn by_relevance(&self, tree: &[&str]) -> Vec<&File> {
        let is_in_tree = |file: &&File| tree.binary_search(&file.path.as_str()).is_ok();
        let mut files: Vec<&File> = self.files.iter().filter(is_in_tree).collect();
        files.sort_by_key(|file| (self.rank(file), file.path.as_str()));
        files.dedup_by_key(|file| file.path.as_str());
        files
    }

    fn rank(&self, file: &File) -> u8 {
        let of_target = self.target.is_some_and(|target| target.path == file.path);
        match file.sort {
            _ if of_target => 0,
            _ if file.changed => 1,
            Sort::Test => 2,
            Sort::Production => 3,
            Sort::Steering => 4,
            Sort::Document => 5,
        }
    }

    /// The paths of the file list, sorted and without duplicates.
    fn paths(&self) -> Vec<&str> {
        let mut paths: Vec<&str> = self.context.repo_snapshot_paths.iter().map(String::as_str).collect();
        paths.sort_unstable();
        paths.dedup();
        paths
    }

    fn parts(&self, tree: &[&str], files: &[&File], shares: &Shares) -> Parts {
        Parts {
            kata: format!("# Kata\n\n{}\n", cut::head(self.context.kata_description.trim_end(), shares.kata)),
            tree: match self.order {
                Order::Stable => format!("\n# Files\n\n{}\n", names(tree, files, shares.tree)),
                Order::CodeLast => "\n# Files\n".to_owned(),
            },
            order: self.order,
            commit: self.last_commit(shares),
            requirements: checklist::section(self.context.progress.as_ref(), shares.requirements),
            target: self.target.map_or_else(
                || measured(&self.context.refactor_hints, shares.output),
                |target| on_target(self.context.role, target, &production(files), shares.output),
            ),
        }
    }

    fn last_commit(&self, shares: &Shares) -> String {
        let (message, diff) = (self.context.git_last_commit_msg.trim(), self.context.git_last_diff.trim_end());
        if message.is_empty() {
            return String::new();
        }
        let mut text = format!("\n# Last commit\n\n{}\n", fenced("text", &cut::head(message, shares.message)));
        if !diff.is_empty() {
            text += &format!("\n{}\n", fenced("diff", &cut::head(diff, shares.diff)));
        }
        text
    }
}

/// Lists file names in at most `max` bytes. If they do not all fit, names of documents and data are dropped first.
fn names(paths: &[&str], files: &[&File], max: usize) -> String {
    if paths.is_empty() {
        return "There are none yet.".to_owned();
    }
    let line = |path: &&str| format!("- {}", path.escape_debug());
    // A cheap estimate first, to avoid formatting thousands of names for nothing.
    if paths.iter().map(|path| path.len()).sum::<usize>() <= max {
        let whole = paths.iter().map(line).collect::<Vec<_>>().join("\n");
        if whole.len() <= max {
            return whole;
        }
    }
    let sources: BTreeSet<&str> =
        files.iter().filter(|file| file.sort != Sort::Document).map(|file| file.path.as_str()).collect();
    let others = paths.iter().filter(|path| !sources.contains(**path)).map(|path| &**path);
    let (mut text, mut named) = (String::new(), 0);
    for path in sources.iter().copied().chain(others) {
        let next = line(&path);
        if text.len() + next.len() + MORE > max {
            break;
        }
        text += &next;
        text.push('\n');
        named += 1;
    }
    cut::head(&format!("{text}[… {} files more …]", paths.len() - named), max)
}

/// Adds files in order of relevance while they fit; `None` if the list of omitted files does not fit.
fn with_files(files: &[&File], parts: &Parts, budget: usize) -> Option<Written> {
    let mut room = budget.checked_sub(parts.len())?;
    let mut shown = BTreeSet::new();
    let mut text = String::new();
    // The list of omitted files needs room as well: at most this much.
    let reserve = omission(&left_out(files, &BTreeSet::new())).len();
    let all: usize = files.iter().map(|file| section(file).len()).sum();
    if all > room {
        room = room.saturating_sub(reserve);
    }
    for file in files {
        let section = section(file);
        if section.len() <= room {
            room -= section.len();
            text += &section;
            shown.insert(file.path.as_str());
        }
    }
    let omitted = left_out(files, &shown);
    let text = parts.joined(&text, &omission(&omitted));
    (text.len() <= budget).then(|| Written { text, omitted, longest: longest(files), kata_cut: None })
}

fn longest(files: &[&File]) -> usize {
    files.iter().map(|file| file.text.len()).max().unwrap_or(0)
}

/// Files that could be shown but are not. Excludes tree entries without text (binary or huge files).
fn left_out(files: &[&File], shown: &BTreeSet<&str>) -> Vec<String> {
    let mut paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    paths.sort_unstable();
    paths.into_iter().filter(|path| !shown.contains(path)).map(str::to_owned).collect()
}

fn production<'a>(files: &[&'a File]) -> Vec<&'a str> {
    let production = files.iter().filter(|file| file.sort == Sort::Production);
    production.map(|file| file.path.as_str()).collect()
}

/// Byte limit of each part.
struct Shares {
    kata: usize,
    tree: usize,
    message: usize,
    diff: usize,
    requirements: usize,
    output: usize,
}

impl Shares {
    /// Only the parts that help little when they are long have a limit. The requirements shrink with the budget, because
    /// they only repeat the kata.
    fn unbounded(budget: usize) -> Self {
        let (all, requirements) = (usize::MAX, MAX_REQUIREMENTS.min(budget / 10));
        Self { kata: all, tree: MAX_TREE, message: all, diff: all, requirements, output: MAX_OUTPUT }
    }

    /// The kata gets the largest share, because every role needs it.
    fn of(budget: usize) -> Self {
        let of = |tenths: usize| budget / 20 * tenths;
        let Self { requirements, .. } = Self::unbounded(budget);
        let (tree, output) = (of(3).min(MAX_TREE), of(4).min(MAX_OUTPUT));
        Self { kata: of(8), tree, message: of(1), diff: of(2), requirements, output }
    }
}

/// All parts of a brief except the files.
struct Parts {
    kata: String,
    tree: String,
    commit: String,
    requirements: String,
    target: String,
    order: Order,
}

impl Parts {
    fn len(&self) -> usize {
        self.joined("", "").len()
    }

    fn joined(&self, files: &str, omission: &str) -> String {
        let Self { kata, tree, commit, requirements, target, order } = self;
        match order {
            Order::Stable => [kata, tree, files, omission, commit, requirements, target].concat(),
            Order::CodeLast => [kata, commit, requirements, target, tree, files, omission].concat(),
        }
    }
}

/// A file's text under its path.
pub(crate) fn section(file: &File) -> String {
    shown(&file.path, &file.text)
}

/// A text under the path of its file.
pub(crate) fn shown(path: &str, text: &str) -> String {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let tag: String = ending.chars().filter(char::is_ascii_alphanumeric).take(10).collect();
    let note = if text.is_empty() { "(empty)".to_owned() } else { fenced(&tag, text.trim_end_matches('\n')) };
    format!("\n## {}\n\n{note}\n", path.escape_debug())
}

/// Fences a text with more backticks than any run inside it.
pub(crate) fn fenced(tag: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{tag}\n{text}\n{fence}")
}

fn omission(paths: &[String]) -> String {
    if paths.is_empty() {
        return String::new();
    }
    let names: Vec<String> = paths.iter().map(|path| format!("`{}`", path.escape_debug())).collect();
    let names = cut::head(&names.join(", "), MAX_OMISSION);
    format!("\nNot shown, because there is no room; ask for the files that you need: {names}\n")
}

/// What a refactorer may find worth it, by measure.
fn measured(hints: &[String], room: usize) -> String {
    if hints.is_empty() {
        return String::new();
    }
    let hints = hints.iter().map(|hint| format!("- {hint}\n")).collect::<Vec<_>>().concat();
    format!("\n# What may be worth improving\n\nThe machine measured the last commit:\n\n{}", cut::head(&hints, room))
}

fn on_target(role: Role, target: &Target, production: &[&str], room: usize) -> String {
    let output = target.output.trim_end();
    let block = if output.is_empty() {
        String::new()
    } else {
        format!("\n{}\n", fenced("text", &cut::head_and_tail(output, room)))
    };
    let missing = if target.cause == Cause::MissingSymbol { not_there_yet(role, production) } else { String::new() };
    format!("\n# The failing test\n\n`{}` fails ({}).{missing}\n{block}", target.id, target.cause)
}

/// Small models mistake a missing symbol for an error in the test, so the brief says that it is expected.
fn not_there_yet(role: Role, production: &[&str]) -> String {
    let place = match production {
        [only] => format!(" (`{only}`)"),
        _ => String::new(),
    };
    let advice = match (role, production) {
        (Role::Implementor, []) => " There is no production code yet: write the first file of it.",
        (Role::Implementor, _) => " Define it there.",
        (Role::Tester | Role::Refactorer, _) => "",
    };
    format!(" What it names is not in the production code{place} yet.{advice}")
}

#[cfg(test)]
#[path = "brief_tests.rs"]
mod tests;
