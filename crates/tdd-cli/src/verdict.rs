//! Formats a verdict as text or JSON, with its exit code.

use std::process::ExitCode;

use serde::Serialize;
use tdd_core::digest::TreeId;
use tdd_core::evidence::{self, Probed};
use tdd_core::judge::{Holding, Verdict};
use tdd_core::law::Overridden;
use tdd_core::pipeline::Judged;
use tdd_core::report::{Cause, Counts, Fault, Report};
use tdd_core::rule::Refusal;
use tdd_core::test_id::TestId;
use tdd_exec::workshop::ProjectWorkshop;

use crate::context::Context;
use crate::output::{BAD, BOLD, DIM, GOOD, Output, WARN, paint};

/// Whether a change holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// The change keeps the rules.
    Holds,
    /// The change breaks a rule, or could not be judged.
    Refused,
}

/// One verdict in JSON; `schemas/verdict.json` describes it.
#[derive(Clone, Debug, Serialize)]
pub struct VerdictDocument {
    #[serde(rename = "verdict")]
    pub answer: Answer,
    pub rule: Option<&'static str>,
    pub cause: Option<Cause>,
    pub reason: String,
    pub next: Option<String>,
    pub test_id: Option<TestId>,
    pub tree: TreeId,
    pub evidence: Evidence,
}

/// The evidence for a verdict.
#[derive(Clone, Debug, Serialize)]
pub struct Evidence {
    /// The tree that the change was compared with.
    pub base: TreeId,
    /// The test command.
    pub command: String,
    pub counts: Counts,
    /// What kept tests from running at all.
    pub obstacles: Vec<String>,
    /// What the probes showed, with the time that each took.
    pub probes: Vec<Probed>,
}

/// Prints the verdicts of one command and returns the exit code of the worst.
pub fn show(workshop: &ProjectWorkshop, judged: &Judged, context: &Context) -> ExitCode {
    Verdicts::of(workshop, judged).show(context.output)
}

/// All verdicts of one command, summarised by the worst.
#[derive(Clone, Debug, Serialize)]
pub struct Verdicts {
    #[serde(flatten)]
    worst: Option<VerdictDocument>,
    /// One per target.
    #[serde(rename = "verdicts")]
    all: Vec<VerdictDocument>,
    /// Rules that would have refused without a person's exception.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    overridden: Vec<Overridden>,
}

impl Evidence {
    pub fn new(base: &TreeId, command: String, report: &Report) -> Self {
        let obstacles = report.obstacles().iter().map(|it| format!("{}: {}", it.subject, it.cause));
        let obstacles = obstacles.collect();
        Self { base: base.clone(), command, counts: report.counts(), obstacles, probes: Vec::new() }
    }

    fn text(&self) -> String {
        let Counts { passed, failed, skipped } = self.counts;
        let counts = format!("{passed} passed, {failed} failed, {skipped} skipped");
        let obstacles = match self.obstacles.join(", ") {
            none if none.is_empty() => none,
            some => format!(", could not be run: {some}"),
        };
        format!("  seen: `{}`: {counts}{obstacles}; compared with tree {}\n", self.command, self.base)
    }
}

impl VerdictDocument {
    pub fn new(verdict: Verdict, tree: &TreeId, evidence: Evidence) -> Self {
        match verdict {
            Verdict::Holds(Holding { test, cause, reason }) => Self {
                answer: Answer::Holds,
                rule: None,
                cause,
                reason,
                next: None,
                test_id: test,
                tree: tree.clone(),
                evidence,
            },
            Verdict::Refused(Refusal { rule, cause, test, place: _, reason, next }) => Self {
                answer: Answer::Refused,
                rule: Some(rule.name()),
                cause,
                reason,
                next: Some(next),
                test_id: test,
                tree: tree.clone(),
                evidence,
            },
        }
    }

    fn exit_code(&self) -> u8 {
        match (self.answer, self.cause.map(Cause::fault)) {
            (Answer::Holds, _) => 0,
            (Answer::Refused, Some(Fault::Environment)) => 3,
            (Answer::Refused, Some(Fault::Change) | None) => 1,
        }
    }

    /// The text of the verdict with what the probes showed; the test run only with `--verbose`.
    fn text(&self, output: Output) -> String {
        // Indented, because a reason may quote a test's output, which must not look like a line of ours.
        let margin = if output.is_quiet() { " " } else { "\n  " };
        let reason = self.reason.lines().collect::<Vec<_>>().join(margin);
        let text = match (&self.rule, &self.next) {
            (Some(rule), Some(next)) => {
                let cause = self.cause.map_or_else(String::new, |cause| format!(" ({cause})"));
                let head = format!("{} {}{}", paint(BAD, "refused"), paint(BOLD, rule), paint(DIM, cause));
                let [colon, semicolon] = if output.is_quiet() { [":", ";"] } else { [""; 2] };
                format!("{head}{colon}{margin}{reason}{semicolon}{margin}next: {next}\n")
            }
            _ => format!("{} {reason}\n", paint(GOOD, "holds")),
        };
        let lines = match self.answer {
            Answer::Holds if !output.is_quiet() => evidence::lines(self.test_id.as_ref(), &self.evidence.probes),
            Answer::Holds | Answer::Refused => Vec::new(),
        };
        let probes = lines.iter().map(|line| format!("  {}\n", paint(DIM, line))).collect::<Vec<_>>().concat();
        let seen = if output.is_verbose() { self.evidence.text() } else { String::new() };
        text + &probes + &seen
    }
}

impl Verdicts {
    /// Collects verdicts and picks the worst.
    pub fn new(verdicts: Vec<VerdictDocument>) -> Self {
        let worst = verdicts.iter().max_by_key(|verdict| verdict.exit_code()).cloned();
        Self { worst, all: verdicts, overridden: Vec::new() }
    }

    /// The pipeline's verdicts about a change.
    pub fn of(workshop: &ProjectWorkshop, judged: &Judged) -> Self {
        let verdict = |held: &Verdict| {
            let mut document = verdict(workshop, held.clone(), &judged.report);
            document.evidence.probes.clone_from(&judged.evidence);
            document
        };
        let overridden = judged.overridden.clone();
        Self { overridden, ..Self::new(judged.verdicts.iter().map(verdict).collect()) }
    }

    /// A single refusal with its test report.
    pub fn refused(workshop: &ProjectWorkshop, refusal: Refusal, report: &Report) -> Self {
        Self::new(vec![verdict(workshop, Verdict::Refused(refusal), report)])
    }

    /// The worst verdict.
    pub fn worst(&self) -> Option<&VerdictDocument> {
        self.worst.as_ref()
    }

    /// Whether all hold.
    pub fn hold(&self) -> bool {
        self.all.iter().all(|verdict| verdict.answer == Answer::Holds)
    }

    /// Prints them and returns their exit code.
    pub fn show(&self, output: Output) -> ExitCode {
        output.result(self, || self.text(output));
        self.exit_code()
    }

    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.worst.as_ref().map_or(0, VerdictDocument::exit_code))
    }

    /// All verdicts and exceptions; only the worst verdict if quiet.
    pub fn text(&self, output: Output) -> String {
        if let Some(worst) = self.worst.as_ref().filter(|_| output.is_quiet()) {
            return worst.text(output);
        }
        let exception = |it: &Overridden| format!("{} {}: {}\n", paint(WARN, "exception from"), it.rule, it.reason);
        let exceptions: String = self.overridden.iter().map(exception).collect();
        self.all.iter().map(|verdict| verdict.text(output)).collect::<String>() + &exceptions
    }
}

/// A verdict with its evidence.
pub fn verdict(workshop: &ProjectWorkshop, verdict: Verdict, report: &Report) -> VerdictDocument {
    let evidence = Evidence::new(&workshop.span.base, workshop.site.test_command(), report);
    VerdictDocument::new(verdict, &workshop.span.tree, evidence)
}
