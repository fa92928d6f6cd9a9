//! The counter-proof: whether a passing test could fail, judged from the results of its altered copies.
//!
//! A passing test proves nothing if it cannot fail. `tdd-lang` writes the copies, `tdd-exec` runs them in a scratch
//! copy, and the results arrive here as a [`CounterProof`].

use crate::law::RuleResult;
use crate::report::{Cause, Outcome, Report};
use crate::rule::{Refusal, Rule};
use crate::strength;
use crate::test_id::TestId;

/// How [`Twin::what`] begins for a copy that asserts the opposite: it has no other value to compare with.
pub const OPPOSITE: &str = "asserts the opposite";

/// One altered copy of a test: it must fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Twin {
    /// Its name in the file, as the runner spells it below the file's module.
    pub name: String,
    /// Its id.
    pub id: TestId,
    /// The line that was altered, in the original file.
    pub line: usize,
    /// What was altered, for messages.
    pub what: String,
    /// A test that fails if the altered assertion is reached and its sides print differently, if there is one.
    pub probe: Option<TestId>,
}

/// The result of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It ran and passed.
    Passed,
    /// It ran and failed, or crashed or hung.
    Failed,
    /// It ran and failed, because a comparison holds only as production rigs it.
    Rigged,
    /// It did not run to its end.
    NotRun(Cause),
}

impl Fate {
    /// The result of a test in a run.
    pub fn of(report: &Report, id: &TestId) -> Self {
        match report.get(id).map(|result| &result.outcome) {
            Some(Outcome::Pass) => Self::Passed,
            Some(Outcome::Fail {
                cause: Cause::Assertion | Cause::UnrelatedFailure | Cause::Timeout | Cause::Crash,
                ..
            }) => Self::Failed,
            Some(Outcome::Fail { cause: Cause::Disarmed, .. }) => Self::Rigged,
            Some(Outcome::Fail { cause, .. }) => Self::NotRun(*cause),
            None => Self::NotRun(Cause::TargetNotFound),
        }
    }
}

/// A twin that passed although it must fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survivor {
    /// The twin.
    pub twin: Twin,
    /// Both sides of the altered assertion print differently, but compare as equal.
    pub prints_differently: bool,
}

/// The results of all copies of one test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterProof {
    /// The copy under a random name, run as usual: it must pass.
    pub copy: Fate,
    /// The same copy with no test runner in sight of production: it must pass. `None` if only its runner can run it.
    pub plain: Option<Fate>,
    /// Why it failed there.
    pub why_not_plain: String,
    /// A test that does nothing: it must pass.
    pub passing_control: Fate,
    /// A test that fails by itself, without any macro or trait: it must fail.
    pub failing_control: Fate,
    /// For each assertion macro of the test, a test that asserts something false with it: it must fail.
    pub false_assertions: Vec<(String, Fate)>,
    /// The twins that passed.
    pub survivors: Vec<Survivor>,
    /// The twins that did not run to their end.
    pub not_run: Vec<Twin>,
    /// How many twins there were.
    pub twins: usize,
    /// How many of them expect another value. A twin that only asserts the opposite fails even where production rigs
    /// what is compared.
    pub with_other_value: usize,
    /// What the test made of altered answers of the new production code, if that was requested.
    pub strength: Option<strength::Probe>,
    /// How long the copies took.
    pub ms: u64,
}

/// The result of a counter-proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The language cannot rewrite this test: a macro generates it, or it depends on its own name.
    Unwritable,
    /// The rewritten file does not build, even with the mildest alterations.
    NotBuilt(String),
    /// There are no copies, but the test was run with altered answers of production.
    Answers(strength::Probe),
    /// The copies were run.
    Run(CounterProof),
}

impl Proof {
    /// Whether altered copies of the test were run.
    pub fn has_copies(&self) -> bool {
        matches!(self, Self::Run(seen) if seen.twins > 0)
    }

    /// Whether copies that expect another value were run.
    pub fn has_other_values(&self) -> bool {
        matches!(self, Self::Run(seen) if seen.with_other_value > 0)
    }
}

/// Whether the target can fail, and depends on production.
pub fn can_fail(target: &TestId, proof: &Proof) -> RuleResult {
    let judged = match proof {
        Proof::Unwritable => Ok(()),
        Proof::NotBuilt(why) => Err(not_built(why)),
        Proof::Answers(probe) => strength::depends_on_answers(target, probe),
        Proof::Run(seen) => judge_run(target, seen),
    };
    judged.map_err(|breach| named(breach, target))
}

/// The refusal with the test's name in its reason.
pub(crate) fn named(refusal: Refusal, test: &TestId) -> Refusal {
    Refusal { reason: format!("`{test}`: {}", refusal.reason), ..refusal }.about(test)
}

/// Whether a test that the change is not for can fail as it could before. Only positive evidence refuses: probes that
/// could not run say nothing.
pub fn can_still_fail(test: &TestId, after: &Proof, before: &Proof) -> RuleResult {
    let Proof::Run(seen) = after else { return Ok(()) };
    let Err(refusal) = judge_run(test, seen) else { return Ok(()) };
    let could_fail = matches!(before, Proof::Run(seen) if judge_run(test, seen).is_ok());
    let was_probed = matches!(before, Proof::Run(_));
    let refusal = match refusal.cause {
        Some(Cause::VacuousTest) if could_fail => weakened(&refusal.reason),
        Some(Cause::Disarmed) if could_fail || !was_probed => refusal,
        Some(Cause::Circumstantial) if could_fail => refusal,
        Some(_) | None => return Ok(()),
    };
    Err(named(refusal, test))
}

fn weakened(why: &str) -> Refusal {
    let reason = format!("weakened: before this change it could fail; now {why}");
    let next = "leave what this test checks as it was; the change may not make other tests accept more";
    Rule::CounterProof.refuse(reason, next).because(Cause::Weakened)
}

/// The first line that says something.
pub(crate) fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("nobody said why")
}

fn not_built(why: &str) -> Refusal {
    let reason =
        format!("altered copies of the test do not compile, so the counter-proof cannot run: {}", first_line(why));
    Rule::CounterProof.refuse(reason, "use simpler assertions, or let a person override the rule")
}

/// The order matters: the copies say nothing unless the reports are true, and the twins say nothing unless the
/// assertions can fail.
fn judge_run(target: &TestId, seen: &CounterProof) -> RuleResult {
    reporting(seen)?;
    assertions(seen)?;
    copy(seen)?;
    twins(seen)?;
    seen.strength.as_ref().map_or(Ok(()), |probe| strength::depends_on_answers(target, probe))
}

/// Whether the copies end as they must, wherever they are run.
pub(crate) fn copies(seen: &CounterProof) -> RuleResult {
    reporting(seen)?;
    assertions(seen)?;
    copy(&CounterProof { plain: None, ..seen.clone() })?;
    twins(seen)
}

fn reporting(seen: &CounterProof) -> RuleResult {
    match (seen.passing_control, seen.failing_control) {
        (Fate::Passed, Fate::Failed) => Ok(()),
        (_, Fate::Passed) => Err(disarmed("a test that divides by zero is reported as passed")),
        (Fate::NotRun(cause), _) | (_, Fate::NotRun(cause)) => Err(unseen("a control test was not run", cause)),
        (Fate::Failed | Fate::Rigged, Fate::Failed) | (_, Fate::Rigged) => {
            Err(disarmed("a test that does nothing is reported as failed"))
        }
    }
}

fn assertions(seen: &CounterProof) -> RuleResult {
    match seen.false_assertions.iter().find(|(_, fate)| *fate == Fate::Passed) {
        Some((name, _)) => {
            Err(disarmed(&format!("`{name}` is overridden: it accepts a statement that is plainly false")))
        }
        None => Ok(()),
    }
}

fn copy(seen: &CounterProof) -> RuleResult {
    match seen.copy {
        Fate::Passed if seen.plain == Some(Fate::Failed) => Err(circumstantial(seen)),
        Fate::Passed if seen.plain == Some(Fate::Rigged) => Err(rigged()),
        Fate::Passed => Ok(()),
        Fate::Failed | Fate::Rigged => {
            Err(disarmed("the test passes under its own name only; its copy under another name fails"))
        }
        Fate::NotRun(cause) => Err(unseen("the test's copy under another name was not run", cause)),
    }
}

fn twins(seen: &CounterProof) -> RuleResult {
    if let Some(survivor) = seen.survivors.iter().find(|survivor| survivor.prints_differently) {
        let why = "the two values print differently and still compare as equal, so the comparison is rigged";
        return Err(disarmed(&format!(
            "line {} still passes in a copy that {}: {why}",
            survivor.twin.line, survivor.twin.what
        )));
    }
    if let Some(survivor) = seen.survivors.first() {
        let twin = &survivor.twin;
        return Err(vacuous(&format!("line {} still passes in a copy that {}", twin.line, twin.what)));
    }
    match seen.not_run.first() {
        None => Ok(()),
        Some(twin) => {
            let what = format!("the copy in which line {} {} was not run", twin.line, twin.what);
            Err(unseen(&what, Cause::TargetNotFound))
        }
    }
}

fn vacuous(why: &str) -> Refusal {
    let next = "change the test: each assertion must depend on what production returns";
    Rule::CounterProof.refuse(format!("the test cannot fail where it should: {why}"), next).because(Cause::VacuousTest)
}

fn disarmed(why: &str) -> Refusal {
    let next = "remove the code that rigs comparisons, assertions or reports, and implement the behaviour";
    Rule::CounterProof.refuse(format!("disarmed: {why}"), next).because(Cause::Disarmed)
}

pub(crate) fn rigged() -> Refusal {
    disarmed("an assertion holds only with functions that production replaced, or only at the first look at its values")
}

pub(crate) fn circumstantial(seen: &CounterProof) -> Refusal {
    // What a runtime prints around the message.
    let is_frame =
        |line: &&str| ["Traceback", "File ", "note:", "thread ", "goroutine "].iter().any(|it| line.starts_with(it));
    let lines: Vec<&str> = seen.why_not_plain.lines().map(str::trim).collect();
    let lines: Vec<&str> = lines.into_iter().filter(|line| !line.is_empty() && !is_frame(line)).take(3).collect();
    let what = if lines.is_empty() { String::new() } else { format!(": {}", lines.join(", ")) };
    let reason = format!(
        "circumstantial: the test passes under its runner, and fails where production sees no runner, no test sources, \
         arguments or variables, or is called again{what}"
    );
    let next = "remove what asks for the runner, its arguments, variables, files or earlier calls from production";
    Rule::CounterProof.refuse(reason, next).because(Cause::Circumstantial)
}

/// That no probe shows that a model's test can fail.
pub fn unproven(test: &TestId) -> Refusal {
    let reason =
        "no probe shows that this test can fail: it cannot be copied, and no value that it gets can be altered";
    let next = "write the test so that it compares a value that production returns, or let a person override the rule";
    Rule::CounterProof.refuse(reason, next).about(test)
}

fn unseen(what: &str, cause: Cause) -> Refusal {
    let next = "check the runner with `tdd-cli doctor`; if copies of the test cannot run, a person must judge it";
    Rule::CounterProof.refuse(format!("{what} ({cause}), so nothing is proven"), next).because(cause)
}

#[cfg(test)]
impl CounterProof {
    /// The results of a test whose copies end as they must.
    pub(crate) fn honest() -> Self {
        Self {
            copy: Fate::Passed,
            plain: Some(Fate::Passed),
            why_not_plain: String::new(),
            passing_control: Fate::Passed,
            failing_control: Fate::Failed,
            false_assertions: vec![("assert_eq!".to_owned(), Fate::Failed)],
            survivors: Vec::new(),
            not_run: Vec::new(),
            twins: 1,
            with_other_value: 1,
            strength: None,
            ms: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::strength::{Alteration, Function, Noticed, Probe, Strength};

    fn target() -> TestId {
        TestId::native("tests/a.rs", "adds")
    }

    fn twin() -> Twin {
        let id = TestId::annotation("t_1").unwrap();
        Twin { name: "t_1".to_owned(), id, line: 4, what: "expects `3` instead of `2`".to_owned(), probe: None }
    }

    fn honest() -> CounterProof {
        CounterProof::honest()
    }

    /// The cause and reason of the refusal, or `holds`.
    fn said(proof: &Proof) -> (Option<Cause>, String) {
        match can_fail(&target(), proof) {
            Ok(()) => (None, "holds".to_owned()),
            Err(breach) => {
                assert_eq!((breach.rule, breach.test), (Rule::CounterProof, Some(target())));
                (breach.cause, breach.reason)
            }
        }
    }

    fn check(seen: CounterProof, cause: Option<Cause>, reason: &str) {
        let (said, why) = said(&Proof::Run(seen));
        assert!(said == cause && why.contains(reason), "{said:?} {why}");
    }

    fn survivors(prints_differently: bool) -> Vec<Survivor> {
        vec![Survivor { twin: twin(), prints_differently }]
    }

    fn kept(after: CounterProof, before: &Proof) -> Option<Cause> {
        can_still_fail(&target(), &Proof::Run(after), before).err().and_then(|refusal| refusal.cause)
    }

    #[test]
    fn another_test_may_not_lose_what_it_could_notice() {
        let vacuous = CounterProof { survivors: survivors(false), ..honest() };
        let rigged = CounterProof { survivors: survivors(true), ..honest() };
        let sensed =
            CounterProof { plain: Some(Fate::Failed), why_not_plain: "Traceback:\n 0 is not 4".to_owned(), ..honest() };
        let (held, lost) = (Proof::Run(honest()), Proof::NotBuilt(String::new()));
        let seen = |after: &CounterProof, before: &Proof| kept(after.clone(), before);
        assert_eq!(seen(&vacuous, &held), Some(Cause::Weakened));
        assert_eq!(seen(&rigged, &held), Some(Cause::Disarmed));
        assert_eq!(seen(&sensed, &held), Some(Cause::Circumstantial));
        assert_eq!(seen(&honest(), &held), None);
        assert_eq!([&vacuous, &rigged, &sensed].map(|after| seen(after, &Proof::Run(after.clone()))), [None; 3]);
        assert_eq!([&vacuous, &rigged, &sensed].map(|after| seen(after, &lost)), [None, Some(Cause::Disarmed), None]);
        assert!(can_still_fail(&target(), &lost, &held).is_ok());
    }

    #[test]
    fn a_test_whose_copies_end_as_they_must_holds() {
        check(honest(), None, "holds");
    }

    #[test]
    fn a_surviving_twin_is_the_tests_fault() {
        let seen = CounterProof { survivors: survivors(false), ..honest() };
        check(seen, Some(Cause::VacuousTest), "line 4 still passes in a copy that expects `3` instead of `2`");
    }

    #[test]
    fn values_that_print_differently_and_count_as_equal_are_productions_fault() {
        let seen = CounterProof { survivors: survivors(true), ..honest() };
        check(seen, Some(Cause::Disarmed), "disarmed: line 4");
    }

    #[test]
    fn an_assertion_that_lets_an_untruth_pass_is_disarmed() {
        let false_assertions = vec![("assert_eq!".to_owned(), Fate::Passed)];
        check(
            CounterProof { false_assertions, ..honest() },
            Some(Cause::Disarmed),
            "disarmed: `assert_eq!` is overridden",
        );
    }

    #[test]
    fn a_report_that_lies_is_disarmed() {
        let disarmed = |seen, reason| check(seen, Some(Cause::Disarmed), reason);
        disarmed(CounterProof { failing_control: Fate::Passed, ..honest() }, "disarmed: a test that divides by zero");
        disarmed(CounterProof { passing_control: Fate::Failed, ..honest() }, "disarmed: a test that does nothing");
        disarmed(CounterProof { copy: Fate::Failed, ..honest() }, "disarmed: the test passes under its own name");
    }

    #[test]
    fn a_test_that_passes_only_while_its_runner_is_seen_is_circumstantial() {
        let seen = CounterProof { plain: Some(Fate::Failed), why_not_plain: "\n 0 is not 4".to_owned(), ..honest() };
        check(seen, Some(Cause::Circumstantial), "or is called again: 0 is not 4");
    }

    #[test]
    fn a_test_that_passes_only_with_rigged_comparisons_is_disarmed() {
        let seen = CounterProof { plain: Some(Fate::Rigged), ..honest() };
        check(seen, Some(Cause::Disarmed), "disarmed: an assertion holds only with functions that production replaced");
    }

    #[test]
    fn what_was_not_run_proves_nothing_and_says_why() {
        let lost = Fate::NotRun(Cause::TargetNotFound);
        check(CounterProof { copy: lost, ..honest() }, Some(Cause::TargetNotFound), "was not run");
        let lost = Fate::NotRun(Cause::RunnerMissing);
        check(CounterProof { passing_control: lost, ..honest() }, Some(Cause::RunnerMissing), "was not run");
        check(CounterProof { not_run: vec![twin()], ..honest() }, Some(Cause::TargetNotFound), "line 4");
    }

    #[test]
    fn new_production_code_must_matter_to_the_test() {
        let function = Function { path: "a.rs".to_owned(), name: "f".to_owned(), line: 1, is_constant: false };
        let with = |noticed| {
            let noticed = BTreeMap::from([(function.clone(), BTreeMap::from([(target(), noticed)]))]);
            CounterProof { strength: Some(Probe::Made(Strength { noticed, ..Strength::default() })), ..honest() }
        };
        check(with(Noticed::Killed(Alteration::More)), None, "holds");
        check(with(Noticed::NotAltered), None, "holds");
        let survived = Noticed::Survived([Alteration::More].into());
        check(with(survived), Some(Cause::VacuousTest), "whatever value production returns: `f`");
    }

    #[test]
    fn copies_that_do_not_build_are_refused_and_a_test_that_cannot_be_copied_is_not() {
        assert_eq!(said(&Proof::NotBuilt("\nerror: no".to_owned())).0, None);
        assert!(
            said(&Proof::NotBuilt("\nerror: no".to_owned())).1.ends_with("the counter-proof cannot run: error: no")
        );
        assert_eq!(said(&Proof::Unwritable).1, "holds");
    }
}
