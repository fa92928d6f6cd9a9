//! `check`: infers the phase of a change and judges it.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde::Serialize;
use tdd_core::audit::Claim;
use tdd_core::change::Change;
use tdd_core::judge::{Holding, Verdict};
use tdd_core::law::Kind;
use tdd_core::pipeline::{self, Judged};
use tdd_core::seam::Workshop;
use tdd_core::test_id::TestId;
use tdd_exec::workshop::{ProjectWorkshop, Targets};

use crate::context::Context;
use crate::error::CliError;
use crate::output::{BOLD, DIM, paint};
use crate::verdict::Verdicts;
use crate::which::Which;

/// Find out what the change is, and judge it
///
/// The phase and the tests are found from the change itself: new tests alone are a red, production code with new or
/// red tests is a green, anything else a refactor. `--phase` decides otherwise. In a clean tree, the last commit is
/// judged. Exit code 0 if it holds, 1 if the change is at fault, 3 if there is no verdict.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tdd-cli check                          the current change\n  tdd-cli check adds                     for this test\n  tdd-cli check --phase refactor         as a refactor\n  tdd-cli check --at HEAD~1 --format json"
)]
pub struct Check {
    /// Tests: ids, files or unique names; by default those that the change is for
    #[arg(value_name = "TEST")]
    tests: Vec<String>,
    #[command(flatten)]
    what: What,
    #[command(flatten)]
    which: Which,
}

/// What the change is, where that is said.
#[derive(Clone, Debug, Args)]
pub struct What {
    /// Judge the change as this phase instead of inferring one
    #[arg(long, value_name = "PHASE", value_enum)]
    pub phase: Option<Phase>,
}

/// The phases that a person's change may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Phase {
    Red,
    Green,
    Refactor,
}

impl Phase {
    fn kind(self) -> Kind {
        match self {
            Self::Red => Kind::Red,
            Self::Green => Kind::Green,
            Self::Refactor => Kind::Refactor,
        }
    }
}

/// A change and its verdict.
pub struct Examined {
    /// The kind of the change; `None` if it changes neither code nor tests.
    pub kind: Option<Kind>,
    pub targets: Vec<TestId>,
    pub judged: Judged,
}

/// The JSON document: a verdict and the phase.
#[derive(Debug, Serialize)]
struct Document {
    phase: Option<tdd_core::cycle::Phase>,
    tests: Vec<TestId>,
    #[serde(flatten)]
    verdicts: Verdicts,
}

pub fn run(args: &Check, context: &Context) -> Result<ExitCode, CliError> {
    let mut workshop = context.gate_workshop(&args.which.change())?;
    let claim = claim(&mut workshop, args)?;
    let examined = examine(&mut workshop, args.what.phase, &args.tests, &claim)?;
    Ok(show(&workshop, &examined, context))
}

/// The claim in the judged commit's trailers; empty for uncommitted work.
fn claim(workshop: &mut ProjectWorkshop, args: &Check) -> Result<Claim, CliError> {
    let repo = &workshop.site.repo;
    let commit = match &args.which.at {
        Some(rev) => repo.resolve(rev)?,
        None => repo.head()?.commit.filter(|_| workshop.span.base_commit != repo.head().ok().and_then(|it| it.commit)),
    };
    let claim = commit.map(|commit| repo.message(&commit)).transpose()?.map(|message| Claim::of_message(&message));
    let claim = claim.unwrap_or_default();
    workshop.granted.clone_from(&claim.overrides);
    Ok(claim)
}

/// Determines the kind of a change and judges it.
pub fn examine(
    workshop: &mut ProjectWorkshop,
    phase: Option<Phase>,
    names: &[String],
    claim: &Claim,
) -> Result<Examined, CliError> {
    let change = workshop.plain_change()?;
    let (kind, targets) = match (phase, claim.phase) {
        (Some(phase), _) => (phase.kind(), None),
        (None, Some(_)) => (claim.kind(), Some(claim.tests.clone()).filter(|tests| !tests.is_empty())),
        (None, None) if workshop.session().machine_state().is_of_refactor_mode(workshop.tree()) => {
            (Kind::RefactorMode, None)
        }
        (None, None) if touches_nothing(&change) && names.is_empty() => return Ok(nothing(change)),
        (None, None) => {
            let (kind, targets) = workshop.inferred(&change)?;
            (kind, Some(targets).filter(|_| names.is_empty()))
        }
    };
    let targets = match (targets, kind) {
        (Some(targets), _) if names.is_empty() => Targets::Tests(targets),
        (_, Kind::Red | Kind::Green) => workshop.targets(kind, names, &change)?,
        (_, _) => match workshop.targets(kind, names, &change)? {
            refused @ Targets::Refused(_) => refused,
            Targets::Tests(_) => Targets::Tests(Vec::new()),
        },
    };
    let (targets, judged) = match targets {
        Targets::Refused(refusal) => (Vec::new(), Judged::refused(refusal, change)),
        Targets::Tests(targets) => {
            let judged = pipeline::judge(workshop, kind, &targets, targets.len())?;
            (targets, judged)
        }
    };
    Ok(Examined { kind: Some(kind), targets, judged })
}

/// Whether only documents or unguarded runner configuration changed.
fn touches_nothing(change: &Change) -> bool {
    let Change { tests, support, production, steering, unreadable, intrusions: _, documents: _ } = change;
    let guarded = steering.iter().any(|it| !it.free);
    tests.is_empty() && support.is_empty() && production.is_empty() && unreadable.is_empty() && !guarded
}

fn nothing(change: Change) -> Examined {
    let holding = Holding::of_reason("the change touches neither code nor tests".to_owned());
    Examined { kind: None, targets: Vec::new(), judged: Judged::at_once(Verdict::Holds(holding), change) }
}

/// Prints the verdict and returns its exit code.
pub fn show(workshop: &ProjectWorkshop, examined: &Examined, context: &Context) -> ExitCode {
    let document = Document {
        phase: examined.kind.and_then(Kind::phase),
        tests: examined.targets.clone(),
        verdicts: Verdicts::of(workshop, &examined.judged),
    };
    let output = context.output;
    let title = if output.is_quiet() { String::new() } else { title(examined) };
    output.result(&document, || title + &document.verdicts.text(output));
    document.verdicts.exit_code()
}

/// A heading with the phase and the targets.
fn title(examined: &Examined) -> String {
    let Some(kind) = examined.kind else { return String::new() };
    let phase = match kind {
        Kind::RefactorMode => "refactor mode",
        _ => kind.phase().map_or("change", tdd_core::cycle::Phase::name),
    };
    let tests: Vec<String> = examined.targets.iter().map(ToString::to_string).collect();
    if tests.is_empty() {
        return format!("{}\n", paint(BOLD, phase));
    }
    format!("{} {}\n", paint(BOLD, phase), paint(DIM, tests.join(", ")))
}
