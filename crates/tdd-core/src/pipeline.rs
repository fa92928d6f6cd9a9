//! The pipeline that judges every change: change, facts, rules, probes, verdict. All commands call [`judge()`].
//!
//! Expensive facts are found out only if no rule has refused the change yet.

use std::collections::{BTreeMap, BTreeSet};

use crate::antipattern::{self, CodeContext};
use crate::change::{Change, TestFacts};
use crate::check::CheckSeen;
use crate::config::Gate;
use crate::coverage::Measurement;
use crate::evidence::{self, Probed};
use crate::judge::{self, Baseline, RunFacts, Verdict};
use crate::law::{Ask, Kind, Overridden, RuleResult, RuleRunner, Subject, is_due};
use crate::proof::{self, Proof};
use crate::report::{Cause, Report};
use crate::rule::{Refusal, Severity};
use crate::seam::{Checked, Measured, Run, Workshop};
use crate::session::Session;
use crate::signs::{Place, Signs, TestSigns};
use crate::test_id::TestId;

/// The verdicts on a change, with their evidence.
#[derive(Clone, Debug)]
pub struct Judged {
    /// One per target for a red, otherwise one.
    pub verdicts: Vec<Verdict>,
    /// What the change did.
    pub change: Change,
    /// The test results; empty if the tests were not run.
    pub report: Report,
    /// The result of the check command, if it was run.
    pub check: Option<Checked>,
    /// The rules that would have refused without a person's exception.
    pub overridden: Vec<Overridden>,
    /// What each test said before the change, if it was needed.
    pub before: Baseline,
    /// What the probes showed.
    pub evidence: Vec<Probed>,
}

impl Judged {
    /// A refusal that needed nothing but the change.
    pub fn refused(refusal: Refusal, change: Change) -> Self {
        Self::at_once(Verdict::Refused(refusal), change)
    }

    /// A verdict that needed no run.
    pub fn at_once(verdict: Verdict, change: Change) -> Self {
        let (verdicts, report) = (vec![verdict], Report::new([], Vec::new()));
        let (before, evidence) = (Baseline::new(), Vec::new());
        Self { verdicts, change, report, check: None, overridden: Vec::new(), before, evidence }
    }

    /// The first refusal, or else the first verdict.
    pub fn worst(&self) -> Option<&Verdict> {
        self.verdicts.iter().find(|verdict| matches!(verdict, Verdict::Refused(_))).or(self.verdicts.first())
    }

    /// The refusal, if there is one.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self.worst() {
            Some(Verdict::Refused(refusal)) => Some(refusal),
            Some(Verdict::Holds(_)) | None => None,
        }
    }
}

/// Judges a change of this kind. A red may bring as many new tests as a person `named`.
pub fn judge<W: Workshop>(workshop: &mut W, kind: Kind, targets: &[TestId], named: usize) -> Result<Judged, W::Error> {
    let mut inquiry = Inquiry { kind, targets: targets.to_vec(), overridden: Vec::new(), evidence: Vec::new() };
    inquiry.judge(workshop, named)
}

/// The state of one judgement.
struct Inquiry {
    kind: Kind,
    targets: Vec<TestId>,
    overridden: Vec<Overridden>,
    evidence: Vec<Probed>,
}

/// A test run, and the baseline to compare it with.
struct Ran {
    run: Run,
    baseline: Option<Baseline>,
}

impl Inquiry {
    fn judge<W: Workshop>(&mut self, workshop: &mut W, named: usize) -> Result<Judged, W::Error> {
        let whole = workshop.change(self.kind)?;
        let gate = workshop.gate(&whole, named);
        if let Err(refusal) = self.ask_before_running(workshop, &whole, &gate) {
            return Ok(self.refused(refusal, whole));
        }
        if self.kind == Kind::RefactorMode && workshop.verifies_by_command(self.kind) {
            return self.by_command(workshop, whole);
        }
        let (change, at_red) = if self.kind == Kind::Green {
            let red = workshop.red_state(&self.targets)?;
            let cause = |target: &TestId| red.baseline.get(target).copied().flatten();
            let failed = self.targets.iter().filter_map(|target| Some((target, cause(target)?)));
            self.evidence.extend(failed.map(|(target, cause)| Probed::of_red(target, cause, red.ms)));
            (red.change, Some(red.baseline))
        } else {
            (whole, None)
        };
        if let Err(refusal) = self.ask(workshop, |rules, inquiry| rules.ask_change(&inquiry.subject(&gate), &change)) {
            return Ok(self.refused(refusal, change));
        }
        let ran = self.run(workshop, at_red)?;
        let absent = workshop.absent()?;
        let tree = workshop.tree().clone();
        let seen = RunFacts {
            change: &change,
            report: &ran.run.report,
            trees: (&tree, &ran.run.tree_after),
            baseline: ran.baseline.as_ref(),
            absent: &absent,
        };
        let mut verdicts = self.rule_on_run(workshop, &seen, &gate);
        let mut check = None;
        if verdicts.iter().any(|verdict| matches!(verdict, Verdict::Refused(_))) {
            return Ok(Judged {
                before: ran.baseline.unwrap_or_default(),
                ..self.judged(verdicts, change, ran.run.report)
            });
        }
        let afterwards = self.check(workshop, &mut check)?;
        let afterwards = match afterwards {
            Ok(()) => self.probe(workshop, &change, &ran)?,
            refused => refused,
        };
        let afterwards = match afterwards {
            Ok(()) => self.look_at_code(workshop, &change)?,
            refused => refused,
        };
        if let Err(refusal) = afterwards {
            verdicts = vec![Verdict::Refused(refusal)];
        }
        let before = ran.baseline.unwrap_or_default();
        Ok(Judged { check, before, ..self.judged(verdicts, change, ran.run.report) })
    }

    /// Asks the rules that need only the change, so that nobody waits for a useless run.
    fn ask_before_running<W: Workshop>(&mut self, workshop: &W, whole: &Change, gate: &Gate) -> RuleResult {
        match self.kind {
            // If a change brings tests and production together, its tests are judged first.
            Kind::Green => self.ask(workshop, |rules, inquiry| {
                rules.ask_change(&Subject { kind: Kind::NewTests, ..inquiry.subject(gate) }, whole)
            }),
            Kind::Red if self.targets.is_empty() => {
                let asked = self.ask(workshop, |rules, inquiry| rules.ask_change(&inquiry.subject(gate), whole));
                asked.and_then(|()| self.ask(workshop, |rules, _| rules.answer(Err(judge::no_new_test()))))
            }
            Kind::Red
            | Kind::Characterization
            | Kind::NewTests
            | Kind::Rethink
            | Kind::Mend
            | Kind::Refactor
            | Kind::Task
            | Kind::Execute
            | Kind::RefactorMode
            | Kind::OneTest
            | Kind::Unblock
            | Kind::Scaffold
            | Kind::Unclaimed => Ok(()),
        }
    }

    fn by_command<W: Workshop>(&mut self, workshop: &W, change: Change) -> Result<Judged, W::Error> {
        let mut check = None;
        let answer = self.check(workshop, &mut check)?;
        let verdict = match (answer, &check) {
            (Err(refusal), _) => Verdict::Refused(refusal),
            (Ok(()), Some(checked)) if checked.outcome.ok => {
                Verdict::Holds(judge::Holding::of_reason(format!("`{}` passes", checked.command)))
            }
            (Ok(()), _) => Verdict::Holds(judge::Holding::of_reason("a person made an exception".to_owned())),
        };
        Ok(Judged { check, ..self.judged(vec![verdict], change, Report::new([], Vec::new())) })
    }

    /// Runs all tests, and reruns those that passed before and fail now, and failing targets that must be red.
    fn run<W: Workshop>(&self, workshop: &mut W, at_red: Option<Baseline>) -> Result<Ran, W::Error> {
        let run = workshop.run()?;
        let only = if let [target] = self.targets.as_slice() { Some(target) } else { None };
        let baseline = match at_red {
            Some(baseline) => Some(baseline),
            None if self.kind == Kind::Red && !judge::needs_baseline(&run.report, only) => None,
            None => Some(workshop.baseline()?),
        };
        let mut suspects = suspects(&run.report, baseline.as_ref());
        if matches!(self.kind, Kind::Red | Kind::Rethink | Kind::Mend) {
            suspects.extend(self.targets.iter().filter(|target| ran_and_failed(&run.report, target)).cloned());
        }
        let report = if suspects.is_empty() { run.report } else { workshop.rerun(run.report, &suspects)? };
        Ok(Ran { run: Run { report, tree_after: run.tree_after }, baseline })
    }

    fn rule_on_run<W: Workshop>(&mut self, workshop: &W, seen: &RunFacts<'_>, gate: &Gate) -> Vec<Verdict> {
        let targets: Vec<Option<TestId>> = match self.kind {
            Kind::Red => self.targets.iter().cloned().map(Some).collect(),
            _ => vec![self.targets.first().cloned()],
        };
        let mut verdicts = Vec::new();
        for target in targets {
            let was_green = target.as_ref().is_some_and(|target| {
                let known = workshop.session().tests().get(target).is_some_and(|known| known.was_green);
                known || seen.baseline.and_then(|baseline| baseline.get(target)) == Some(&None)
            });
            let answer = self.ask(workshop, |rules, inquiry| {
                let subject = Subject { target: target.as_ref(), was_green, ..inquiry.subject(gate) };
                // Only the run tells whether a doubted test was green.
                let asked =
                    if inquiry.kind == Kind::Rethink { rules.ask_change(&subject, seen.change) } else { Ok(()) };
                asked.and_then(|()| rules.ask_run(&subject, seen)).map_err(|refusal| judge::named(refusal, &subject))
            });
            let subject = Subject { target: target.as_ref(), was_green, ..self.subject(gate) };
            verdicts.push(match answer {
                Ok(()) => Verdict::Holds(judge::holding(&subject, seen.report)),
                Err(refusal) => Verdict::Refused(refusal),
            });
        }
        verdicts
    }

    fn check<W: Workshop>(&mut self, workshop: &W, seen: &mut Option<Checked>) -> Result<RuleResult, W::Error> {
        if !is_due(self.kind, |ask| matches!(ask, Ask::Check(_))) {
            return Ok(Ok(()));
        }
        let checked = workshop.check(self.kind)?;
        let before = if checked.outcome.ok { None } else { workshop.check_before()? };
        let said = checked.outcome.said();
        let answer = self.ask(workshop, |rules, inquiry| {
            rules.ask_check(
                inquiry.kind,
                &CheckSeen {
                    command: &checked.command,
                    exit: &checked.outcome.exit,
                    said: &said,
                    before: before.as_deref(),
                    changed_files: checked.changed_files,
                },
            )
        });
        *seen = Some(checked);
        Ok(answer)
    }

    fn probe<W: Workshop>(&mut self, workshop: &W, change: &Change, ran: &Ran) -> Result<RuleResult, W::Error> {
        let mut targets = Vec::new();
        if is_due(self.kind, |ask| matches!(ask, Ask::Probe(_))) {
            let red = |target| ran.baseline.as_ref().and_then(|baseline| baseline.get(target)).copied().flatten();
            targets.extend(self.targets.iter().map(|target| (target.clone(), red(target))));
        }
        let mut others = Vec::new();
        if is_due(self.kind, |ask| matches!(ask, Ask::Affected(_))) {
            let passes = |test: &TestId| ran.run.report.get(test).is_some_and(|now| now.outcome.cause().is_none());
            let affected = workshop.affected(change)?.into_iter();
            others.extend(affected.filter(|test| passes(test) && !self.targets.contains(test)));
        }
        if targets.is_empty() && others.is_empty() {
            return Ok(Ok(()));
        }
        let proofs = workshop.probe(&targets, &others, change)?;
        for (target, _) in targets {
            let Some(proof) = proofs.get(&target) else { continue };
            self.evidence.extend(evidence::of(&target, proof));
            let is_proven = evidence::is_proven(&target, &self.evidence) || !workshop.is_of_model();
            let answer = self.ask(workshop, |rules, inquiry| {
                rules.ask_probe(inquiry.kind, &target, proof)?;
                rules.answer(if is_proven { Ok(()) } else { Err(proof::unproven(&target)) })
            });
            if answer.is_err() {
                return Ok(answer);
            }
        }
        for test in &others {
            self.evidence.extend(proofs.get(test).into_iter().flat_map(|proof| evidence::of(test, proof)));
            let Some(proof) = proofs.get(test).filter(|proof| proof::can_fail(test, proof).is_err()) else {
                continue;
            };
            let before = workshop.probe_before(test)?;
            let answer = self.ask(workshop, |rules, inquiry| rules.ask_affected(inquiry.kind, test, proof, &before));
            if answer.is_err() {
                return Ok(answer);
            }
        }
        others.retain(|test| !proofs.get(test).is_some_and(Proof::has_other_values));
        if others.is_empty() {
            return Ok(Ok(()));
        }
        let answers = workshop.answers(&others)?;
        self.evidence.extend(evidence::of_others(&answers));
        Ok(self.ask(workshop, |rules, inquiry| rules.ask_answers(inquiry.kind, &answers)))
    }

    /// Asks the anti-pattern rules that block.
    fn look_at_code<W: Workshop>(&mut self, workshop: &W, change: &Change) -> Result<RuleResult, W::Error> {
        if !is_due(self.kind, |ask| matches!(ask, Ask::Code(_))) {
            return Ok(Ok(()));
        }
        let claims = self.targets.iter().cloned().collect();
        let facts = CodeFacts {
            signs: workshop.signs(self.kind == Kind::Refactor && !change.production.is_empty())?,
            reds: if self.kind == Kind::Green { workshop.signs_of(&claims)? } else { Vec::new() },
            ..CodeFacts::default()
        };
        Ok(self.ask(workshop, |rules, inquiry| {
            let case = facts.case(inquiry.kind, inquiry.targets.first(), change);
            rules.ask_code(&case, Severity::Block).into_iter().next().map_or(Ok(()), |found| Err(with_place(found)))
        }))
    }

    fn subject<'a>(&'a self, gate: &'a Gate) -> Subject<'a> {
        let target = self.targets.first().filter(|_| self.kind != Kind::Red);
        Subject { kind: self.kind, target, targets: &self.targets, was_green: false, gate }
    }

    /// Asks rules with the exceptions that are in force.
    fn ask<W: Workshop>(
        &mut self,
        workshop: &W,
        ask: impl FnOnce(&mut RuleRunner<'_>, &Self) -> RuleResult,
    ) -> RuleResult {
        let exceptions = |rule| workshop.exception(rule);
        let mut rules = RuleRunner::new(&exceptions);
        let answer = ask(&mut rules, self);
        for met in rules.overridden {
            if !self.overridden.contains(&met) {
                self.overridden.push(met);
            }
        }
        answer
    }

    fn refused(&mut self, refusal: Refusal, change: Change) -> Judged {
        let refusal = match (self.kind, self.targets.as_slice()) {
            (Kind::Red, [only]) if refusal.test.is_none() => refusal.about(only),
            _ => refusal,
        };
        self.judged(vec![Verdict::Refused(refusal)], change, Report::new([], Vec::new()))
    }

    fn judged(&mut self, verdicts: Vec<Verdict>, change: Change, report: Report) -> Judged {
        let (overridden, evidence) = (std::mem::take(&mut self.overridden), std::mem::take(&mut self.evidence));
        Judged { verdicts, change, report, check: None, overridden, before: Baseline::new(), evidence }
    }
}

/// Adds the place to the reason, because a refusal is shown without its place.
fn with_place(found: Refusal) -> Refusal {
    let Some(Place { path, line }) = &found.place else { return found };
    Refusal { reason: format!("{} (`{path}:{line}`)", found.reason), ..found }
}

/// Tests that passed before, and that ran and failed now.
fn suspects(report: &Report, baseline: Option<&Baseline>) -> Vec<TestId> {
    let Some(baseline) = baseline else { return Vec::new() };
    let passed_before = baseline.iter().filter(|(_, cause)| cause.is_none()).map(|(id, _)| id);
    passed_before.filter(|id| ran_and_failed(report, id)).cloned().collect()
}

fn ran_and_failed(report: &Report, test: &TestId) -> bool {
    report.get(test).is_some_and(|result| result.outcome.cause() == Some(Cause::Assertion))
}

/// Infers from its content what kind of change this is, and which tests it is for. `was_red` are the tests that were
/// red before it.
pub fn infer(change: &Change, was_red: &BTreeSet<TestId>) -> (Kind, Vec<TestId>) {
    let new: Vec<TestId> = change.new_demands().map(|test| test.id.clone()).collect();
    let changes_production = change.production.iter().any(antipattern::is_code);
    match (changes_production, new.is_empty()) {
        (true, false) => (Kind::Green, new),
        (true, true) if !was_red.is_empty() => (Kind::Green, was_red.iter().cloned().collect()),
        (true, true) => (Kind::Refactor, Vec::new()),
        (false, false) => (Kind::Red, new),
        (false, true) => (Kind::Refactor, Vec::new()),
    }
}

/// Whether a commit that claims no kind tampers with tests. `change` leaves out a test that a person removed.
pub fn tampering<W: Workshop>(workshop: &W, change: &Change) -> Option<Refusal> {
    let exceptions = |rule| workshop.exception(rule);
    let facts = CodeFacts::default();
    let case = facts.case(Kind::Unclaimed, None, change);
    RuleRunner::new(&exceptions).ask_code(&case, Severity::Block).into_iter().next()
}

/// All anti-patterns in a change, including warnings.
#[derive(Clone, Debug)]
pub struct Detected {
    /// What was found, by rule and place.
    pub findings: Vec<Refusal>,
    /// Why tests could not be run, if they had to be.
    pub unknown: Option<String>,
    /// Why it is unknown which lines the tests execute, if it is.
    pub unmeasured: Option<String>,
}

/// Finds anti-patterns in a change. Runs tests only for facts that the ledger lacks: whether tests were red, and which
/// lines of new code they execute. `declared` is what the change claims to be.
pub fn detect<W: Workshop>(workshop: &mut W, declared: Option<(Kind, Option<TestId>)>) -> Result<Detected, W::Error> {
    // As a refactor, because a consistent rename is not tampering.
    let change = workshop.change(Kind::Refactor)?;
    let mut facts = CodeFacts { reds: workshop.signs_of(&known_reds(workshop))?, ..CodeFacts::default() };
    let mut unknown = None;
    let (kind, target) = if let Some(declared) = declared {
        declared
    } else {
        let mut was_red: BTreeSet<TestId> = known_reds(workshop);
        if was_red.is_empty() && !change.production.is_empty() && change.new_demands().next().is_none() {
            let report = workshop.base_report()?;
            unknown = failure(&report);
            was_red = failing(&report);
            facts.reds = workshop.signs_of(&was_red)?;
        }
        (infer(&change, &was_red).0, None)
    };
    facts.signs = workshop.signs(kind == Kind::Refactor && !change.production.is_empty())?;
    if antipattern::lacks_claims(&facts.case(kind, target.as_ref(), &change)) {
        let report = workshop.base_report()?;
        unknown = unknown.or_else(|| failure(&report));
        facts.reds.extend(workshop.signs_of(&failing(&report))?);
    }
    let late = antipattern::late_tests(&facts.case(kind, target.as_ref(), &change));
    let is_unseen = |test: &&&TestFacts| !was_red(workshop.session(), test);
    let unseen: Vec<TestFacts> = late.iter().filter(is_unseen).map(|&test| test.clone()).collect();
    if !unseen.is_empty() {
        let report = workshop.run()?.report;
        unknown = unknown.or_else(|| failure(&report));
        let passes = |test: &&TestFacts| report.get(&test.id).is_some_and(|result| result.outcome.cause().is_none());
        facts.never_red = unseen.iter().filter(passes).map(|test| test.id.clone()).collect();
        facts.since = workshop.since(&facts.signs)?;
    }
    let new = antipattern::new_code_in(&facts.case(kind, target.as_ref(), &change));
    let unmeasured = match workshop.measure(&new)? {
        Measured::Lines(measurement) => {
            facts.measurement = Some(measurement);
            None
        }
        Measured::Unknown(why) => Some(why),
    };
    let exceptions = |rule| workshop.exception(rule);
    let mut rules = RuleRunner::new(&exceptions);
    let case = facts.case(kind, target.as_ref(), &change);
    let mut findings = rules.ask_code(&case, Severity::Block);
    findings.extend(rules.ask_code(&case, Severity::Warn));
    Ok(Detected { findings: antipattern::sorted(findings), unknown, unmeasured })
}

/// Facts about the code of a change.
#[derive(Default)]
struct CodeFacts {
    signs: Signs,
    reds: Vec<TestSigns>,
    never_red: BTreeSet<TestId>,
    since: BTreeMap<Place, String>,
    measurement: Option<Measurement>,
}

impl CodeFacts {
    fn case<'a>(&'a self, kind: Kind, target: Option<&'a TestId>, change: &'a Change) -> CodeContext<'a> {
        CodeContext {
            change,
            signs: &self.signs,
            reds: &self.reds,
            kind,
            target,
            never_red: &self.never_red,
            since: &self.since,
            measurement: self.measurement.as_ref(),
        }
    }
}

/// Whether the ledger saw this version of a test fail: a changed test voids its red.
fn was_red(session: &Session, test: &TestFacts) -> bool {
    let red = session.tests().get(&test.id).and_then(|known| known.red.as_ref());
    red.is_some_and(|red| red.digest.is_none_or(|digest| digest == test.digest))
}

/// The tests that are red according to the ledger.
fn known_reds<W: Workshop>(workshop: &W) -> BTreeSet<TestId> {
    workshop.session().red().cloned().collect()
}

/// The tests that fail for a valid cause, including those that a missing symbol keeps from running.
pub fn failing(report: &Report) -> BTreeSet<TestId> {
    let is_red = |cause: &Option<Cause>| cause.is_some_and(Cause::is_valid_red);
    judge::baseline_of(report).into_iter().filter(|(_, cause)| is_red(cause)).map(|(id, _)| id).collect()
}

fn failure(report: &Report) -> Option<String> {
    report.environment_failure().map(|obstacle| format!("{}: {}", obstacle.subject, obstacle.cause))
}
