//! What the probes of a change showed, as a verdict lists it.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;

use crate::proof::{self, CounterProof, Fate, Proof};
use crate::report::Cause;
use crate::rule::Refusal;
use crate::strength::{self, Alteration, Answers, Noticed, Probe};
use crate::test_id::TestId;

/// A probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ProbeName {
    /// Copies of the test with altered assertions.
    Twin,
    /// The test with altered values of production.
    Strength,
    /// The test in other circumstances.
    Circumstance,
    /// The test on the production code of its red.
    Base,
}

/// The result of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeResult {
    /// The test can fail, as far as this probe can tell.
    Holds,
    /// The probe speaks against the change.
    Refused,
    /// The probe could not be made, or showed nothing.
    NotMade,
}

/// One probe of one test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Probed {
    /// The probe.
    pub probe: ProbeName,
    /// The test.
    pub test_id: TestId,
    /// Its result.
    pub result: ProbeResult,
    /// What was seen.
    pub detail: String,
    /// How long it took. Probes that were made in the same run have the same time.
    pub ms: u64,
    /// Whether it shows by itself that the test can fail.
    #[serde(skip)]
    is_proof: bool,
}

impl fmt::Display for ProbeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Twin => "twin",
            Self::Strength => "strength",
            Self::Circumstance => "circumstance",
            Self::Base => "base",
        })
    }
}

impl fmt::Display for Probed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = self.ms / 100;
        let proof = if self.result == ProbeResult::NotMade { "no proof: " } else { "" };
        write!(f, "{:<12} {proof}{} ({}.{} s)", self.probe, self.detail, tenths / 10, tenths % 10)
    }
}

impl Probed {
    fn new(probe: ProbeName, test: &TestId, result: ProbeResult, detail: impl Into<String>, ms: u64) -> Self {
        let is_proof = result == ProbeResult::Holds && probe != ProbeName::Circumstance;
        Self { probe, test_id: test.clone(), result, detail: detail.into(), ms, is_proof }
    }

    fn judged(probe: ProbeName, test: &TestId, judged: Result<String, Refusal>, ms: u64) -> Self {
        match judged {
            Ok(detail) => Self::new(probe, test, ProbeResult::Holds, detail, ms),
            Err(refusal) => Self::new(probe, test, ProbeResult::Refused, refusal.reason, ms),
        }
    }

    /// That the test failed on the production code before the change.
    pub fn of_red(test: &TestId, cause: Cause, ms: u64) -> Self {
        let detail = format!("fails without the change: {cause}");
        // A test that does not even compile without the change says little.
        let is_proof = cause != Cause::MissingSymbol;
        Self { is_proof, ..Self::new(ProbeName::Base, test, ProbeResult::Holds, detail, ms) }
    }
}

/// What the probes of a test showed.
pub fn of(test: &TestId, seen: &Proof) -> Vec<Probed> {
    let not_made = |why: &str| Probed::new(ProbeName::Twin, test, ProbeResult::NotMade, why, 0);
    match seen {
        Proof::Unwritable => vec![not_made("no copy of this test can be made")],
        Proof::NotBuilt(why) => vec![not_made(&format!("altered copies do not compile: {}", proof::first_line(why)))],
        Proof::Answers(probe) => vec![not_made("no copy of this test can be made"), of_answers(test, probe)],
        Proof::Run(run) => {
            let strength = run.strength.as_ref().map(|probe| of_answers(test, probe));
            [of_copies(test, run), of_circumstance(test, run)].into_iter().chain(strength).collect()
        }
    }
}

/// What other tests made of altered values before the change and after it.
pub fn of_others(answers: &Answers) -> Vec<Probed> {
    let Probe::Made(now) = &answers.now else { return Vec::new() };
    let refused = strength::as_strong_as(answers).err();
    let mut tests: Vec<&TestId> = answers.before.iter().map(|kill| &kill.test).collect();
    tests.dedup();
    let each = tests.into_iter().map(|test| {
        let judged = match &refused {
            Some(refusal) if refusal.test.as_ref() == Some(test) => Err(refusal.clone()),
            _ => Ok("notices the wrong values that it noticed before".to_owned()),
        };
        Probed::judged(ProbeName::Strength, test, judged, now.ms)
    });
    each.collect()
}

/// Whether the probes showed that this test can fail.
pub fn is_proven(test: &TestId, evidence: &[Probed]) -> bool {
    evidence.iter().any(|seen| seen.test_id == *test && seen.is_proof)
}

/// The evidence for people: a line for each probe of the target, and one for all other tests.
pub fn lines(target: Option<&TestId>, probed: &[Probed]) -> Vec<String> {
    let (own, others): (Vec<_>, Vec<_>) = probed.iter().partition(|seen| Some(&seen.test_id) == target);
    let mut lines: Vec<String> = own.iter().map(ToString::to_string).collect();
    if let Some(target) = target.filter(|target| !own.is_empty() && !is_proven(target, probed)) {
        lines.push(format!("unproven: no probe shows that `{target}` can fail; a person must judge it"));
    }
    let others: BTreeSet<&TestId> = others.into_iter().filter(|seen| seen.is_proof).map(|seen| &seen.test_id).collect();
    match others.len() {
        0 => {}
        1 => lines.push(format!("{:<12} 1 other test that reaches the change can still fail", "others")),
        count => lines.push(format!("{:<12} {count} other tests that reach the change can still fail", "others")),
    }
    lines
}

fn of_copies(test: &TestId, run: &CounterProof) -> Probed {
    let detail = match run.twins {
        1 => "1 altered copy fails, the unaltered one passes".to_owned(),
        twins => format!("{twins} altered copies fail, the unaltered one passes"),
    };
    match proof::copies(run).map(|()| detail) {
        Ok(_) if run.twins == 0 => {
            let why = "the test has no assertion that can be altered";
            Probed::new(ProbeName::Twin, test, ProbeResult::NotMade, why, run.ms)
        }
        judged => Probed::judged(ProbeName::Twin, test, judged, run.ms),
    }
}

fn of_circumstance(test: &TestId, run: &CounterProof) -> Probed {
    let (result, detail) = match run.plain {
        Some(Fate::Passed) => (ProbeResult::Holds, "passes with no test runner in sight".to_owned()),
        Some(Fate::Failed) => (ProbeResult::Refused, proof::circumstantial(run).reason),
        Some(Fate::Rigged) => (ProbeResult::Refused, proof::rigged().reason),
        Some(Fate::NotRun(_)) | None => (ProbeResult::NotMade, "runs only under its test runner".to_owned()),
    };
    Probed::new(ProbeName::Circumstance, test, result, detail, run.ms)
}

fn of_answers(test: &TestId, probe: &Probe) -> Probed {
    let made = match probe {
        Probe::Unmade(why) => return Probed::new(ProbeName::Strength, test, ProbeResult::NotMade, why, 0),
        Probe::Made(made) => made,
    };
    let killed = made.of(test).find_map(|(function, noticed)| match noticed {
        Noticed::Killed(alteration) => Some((&function.name, alteration)),
        Noticed::Survived(_) | Noticed::NotReached | Noticed::NotAltered => None,
    });
    match (killed, strength::depends_on_answers(test, probe)) {
        (Some((name, alteration)), _) => {
            let detail = match alteration {
                Alteration::Nothing => format!("fails if `{name}` does nothing"),
                other => format!("fails if `{name}` returns {}", other.what()),
            };
            Probed::new(ProbeName::Strength, test, ProbeResult::Holds, detail, made.ms)
        }
        (None, Err(refusal)) => Probed::judged(ProbeName::Strength, test, Err(refusal), made.ms),
        (None, Ok(())) => {
            let why = "it gets no value that can be altered";
            Probed::new(ProbeName::Strength, test, ProbeResult::NotMade, why, made.ms)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::strength::{Function, Strength};

    fn test() -> TestId {
        TestId::native("tests/a.rs", "adds")
    }

    fn run() -> CounterProof {
        CounterProof { twins: 2, ms: 1234, ..CounterProof::honest() }
    }

    fn made(noticed: Noticed) -> Probe {
        let function = Function { path: "a.rs".to_owned(), name: "f".to_owned(), line: 1, is_constant: false };
        let noticed = BTreeMap::from([(function, BTreeMap::from([(test(), noticed)]))]);
        Probe::Made(Strength { noticed, ms: 50, ..Strength::default() })
    }

    fn shown(proof: &Proof) -> String {
        of(&test(), proof).iter().map(|seen| format!("{:?} {seen}\n", seen.result)).collect::<Vec<_>>().concat()
    }

    #[test]
    fn each_probe_is_one_line_with_its_time() {
        let strength = Some(made(Noticed::Killed(Alteration::More)));
        assert_eq!(
            shown(&Proof::Run(CounterProof { strength, ..run() })),
            "Holds twin         2 altered copies fail, the unaltered one passes (1.2 s)\n\
             Holds circumstance passes with no test runner in sight (1.2 s)\n\
             Holds strength     fails if `f` returns a greater or longer value (0.0 s)\n"
        );
    }

    #[test]
    fn a_probe_that_was_not_made_or_shows_nothing_proves_nothing() {
        let shown = |proof: &Proof| is_proven(&test(), &of(&test(), proof));
        assert!(shown(&Proof::Run(run())));
        assert!(shown(&Proof::Answers(made(Noticed::Killed(Alteration::Less)))));
        assert!(!shown(&Proof::Run(CounterProof { twins: 0, ..run() })));
        assert!(!shown(&Proof::Answers(made(Noticed::NotAltered))));
        assert!(!shown(&Proof::Unwritable) && !shown(&Proof::NotBuilt("no".to_owned())));
    }

    #[test]
    fn people_see_the_targets_probes_and_how_many_other_tests_can_still_fail() {
        let other = TestId::native("tests/a.rs", "subtracts");
        let probed = [of(&test(), &Proof::Unwritable), of(&other, &Proof::Run(run()))].concat();
        assert_eq!(
            lines(Some(&test()), &probed).join("\n"),
            "twin         no proof: no copy of this test can be made (0.0 s)\n\
             unproven: no probe shows that `tests/a.rs::adds` can fail; a person must judge it\n\
             others       1 other test that reaches the change can still fail"
        );
        assert!(lines(None, &[]).is_empty());
    }

    #[test]
    fn a_test_that_failed_at_an_assertion_before_the_change_can_fail() {
        let shown = |cause| is_proven(&test(), &[Probed::of_red(&test(), cause, 0)]);
        assert!(shown(Cause::Assertion));
        assert!(!shown(Cause::MissingSymbol));
    }
}
