//! Errors for requests of a person that are refused: message and hint.

use std::io;
use std::path::{Path, PathBuf};

use tdd_core::config::ConfigError;
use tdd_core::digest::CommitId;
use tdd_core::plan::Finding;
use tdd_core::rule::Rule;
use tdd_core::test_id::TestId;
use tdd_exec::project;
use tdd_exec::text::TextError;

use crate::context::Context;
use crate::error::MEANT;

/// A request that is refused before anything happens.
#[derive(Debug, thiserror::Error)]
pub enum PersonError {
    #[error("`{word}` is not a rule")]
    UnknownRule { word: String, nearest: Option<&'static str> },
    #[error("`{rule}` allows no exception: {}", why_fixed(*rule))]
    NoException { rule: Rule },
    #[error("the reason is blank")]
    NoReason,
    #[error("`{0}` is not a valid duration for an exception")]
    BadTtl(String),
    #[error("refactor mode is on already{}", because(reason.as_deref()))]
    RefactorModeOn { reason: Option<String> },
    #[error("`{0}` is not a test id")]
    BadTest(String),
    #[error("the machine cannot remove or skip `{0}` without changing other code")]
    Inseparable(TestId),
    #[error("`{0}` is not blocked, and the machine did not skip it")]
    NotBlocked(TestId),
    #[error("there is no blocked test to skip; the machine is paused for another reason: {0}")]
    NothingBlocked(String),
    #[error("cannot read the plan")]
    PlanFile(#[source] TextError),
    #[error("`{}` is not a valid plan", path.display())]
    Plan { path: PathBuf, source: ConfigError },
    #[error("`{}` cannot run: line {}: {}", path.display(), finding.line, finding.problem)]
    PlanStops { path: PathBuf, finding: Finding },
    #[error("`{}` and `{}` have the same `phase` and `plan`", path.display(), other.display())]
    SamePlan { path: PathBuf, other: PathBuf },
    #[error("there is no plan in `{}`", .0.display())]
    NoPlans(PathBuf),
    #[error("cannot write `{}`", path.display())]
    Export { path: PathBuf, source: io::Error },
    #[error("the commit message is blank")]
    NoMessage,
    #[error("there is nothing to commit")]
    NothingToCommit,
    #[error("the message contains `{0}`, which only `tdd-cli commit` itself may write")]
    OwnTrailer(&'static str),
    #[error("refactor mode is not on")]
    RefactorModeOff,
    #[error("the project is gone, so nothing can be verified")]
    ProjectGone,
    #[error("step {0} was interrupted, and its edits are still in the working tree")]
    StepCutShort(u32),
    #[error("HEAD was {then} when refactor mode began and is {now} now, so `--discard` would undo commits")]
    HeadMoved { then: String, now: String },
}

impl PersonError {
    /// HEAD changed since refactor mode began.
    pub fn head_moved(then: Option<&CommitId>, now: Option<&CommitId>) -> Self {
        let show = |commit: Option<&CommitId>| commit.map_or("no commit yet", CommitId::short).to_owned();
        Self::HeadMoved { then: show(then), now: show(now) }
    }

    /// An unknown rule, with the most similar rule that allows exceptions.
    pub fn unknown_rule(word: &str) -> Self {
        let near = |rule: &&str| strsim::jaro_winkler(word, rule);
        let nearest = with_exceptions().max_by(|a, b| near(a).total_cmp(&near(b)));
        Self::UnknownRule { word: word.to_owned(), nearest: nearest.filter(|rule| near(rule) > MEANT) }
    }

    /// Whether a file is not a plan, because it has no front matter.
    pub fn is_no_plan(&self) -> bool {
        matches!(self, Self::Plan { source, .. } if source.problem == "there is no front matter")
    }

    /// What the user can do.
    pub fn hint(&self) -> String {
        match self {
            Self::UnknownRule { nearest, .. } => {
                let meant = nearest.map(|nearest| format!("did you mean `{nearest}`? ")).unwrap_or_default();
                format!("{meant}rules that allow an exception: {}", with_exceptions().collect::<Vec<_>>().join(", "))
            }
            Self::NoException { rule: Rule::SameTree } => {
                "make the tests leave the project's files alone, or let git ignore what they write".to_owned()
            }
            Self::NoException { .. } => "edit that file yourself and commit it".to_owned(),
            Self::NoReason => "give a reason for readers of the ledger: `--reason \"…\"`".to_owned(),
            Self::RefactorModeOn { .. } => {
                "`tdd-cli refactor end` verifies your work and ends it; `tdd-cli refactor end --discard` undoes your \
                 work"
                    .to_owned()
            }
            Self::BadTest(_) => "write `path::name`, or the slug of a `@tdd-test-id:` comment".to_owned(),
            Self::Inseparable(_) => "edit it yourself in refactor mode: `tdd-cli refactor begin`".to_owned(),
            Self::NotBlocked(_) => "`tdd-cli status` lists the blocked tests".to_owned(),
            Self::NothingBlocked(_) => "`tdd-cli resume` tries again".to_owned(),
            Self::PlanFile(_) => "name a Markdown file with front matter".to_owned(),
            Self::Plan { source, .. } => source.hint.clone().unwrap_or_else(|| "`docs/plans.md` shows one".to_owned()),
            Self::PlanStops { finding, .. } => format!("{}; `tdd-cli plan check` lists all problems", finding.fix),
            Self::SamePlan { .. } => "give one of them another `plan:`, because their commits must differ".to_owned(),
            Self::NoPlans(_) => "name a Markdown file with front matter; `docs/plans.md` shows one".to_owned(),
            Self::Export { .. } => "name a file in an existing folder that you may write to".to_owned(),
            Self::NoMessage => "say what changed: `-m \"test: pin the empty list\"`, or leave `-m` out".to_owned(),
            Self::NothingToCommit => "change something first; `tdd-cli check` can judge the last commit".to_owned(),
            Self::OwnTrailer(_) => "leave it out; `tdd-cli commit` adds the trailers of what it saw".to_owned(),
            Self::RefactorModeOff => "`tdd-cli refactor begin` begins it".to_owned(),
            Self::ProjectGone => {
                "restore it, or undo everything since refactor mode began: `tdd-cli refactor end --discard`".to_owned()
            }
            Self::StepCutShort(_) => "run `tdd-cli run` first; it cleans up the interrupted step".to_owned(),
            Self::HeadMoved { then, .. } => format!(
                "`tdd-cli refactor end` keeps your work; to undo it anyway, save the commits with `git branch kept`, \
                 run `git reset --keep {then}`, then `--discard` again"
            ),
            Self::BadTtl(_) => "write `15m`, `2h` or `1d`; at most seven days".to_owned(),
        }
    }
}

fn with_exceptions() -> impl Iterator<Item = &'static str> {
    Rule::ALL.into_iter().filter(|rule| rule.has_exceptions()).map(Rule::name)
}

/// A reason on one line; fails if blank.
pub fn reason(text: &str) -> Result<String, PersonError> {
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.is_empty() { Err(PersonError::NoReason) } else { Ok(words.join(" ")) }
}

/// The test that a person names, relative to the current folder.
pub fn test(context: &Context, root: &Path, argument: &str) -> Result<TestId, PersonError> {
    project::test(&context.user_paths, root, argument).ok_or_else(|| PersonError::BadTest(argument.to_owned()))
}

fn because(reason: Option<&str>) -> String {
    reason.map(|reason| format!(": {reason}")).unwrap_or_default()
}

fn why_fixed(rule: Rule) -> &'static str {
    if rule == Rule::SameTree {
        "a test run that changed the project's files proves nothing"
    } else {
        "it restricts only what models write, not your own edits"
    }
}
