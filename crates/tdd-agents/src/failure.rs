//! Turns a failed attempt into the message that the model receives.

use tdd_core::report::{Cause, Outcome, Report};
use tdd_core::rule::Refusal;
use tdd_core::seam::Setback;

use crate::brief::fenced;
use crate::cut;
use crate::reply::ReplyError;

/// Why an answer did not lead to a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The answer could not be parsed.
    Reply(ReplyError),
    /// A rule refused the change.
    Refused {
        /// The rule's name.
        rule: &'static str,
        /// Why the rule refused this change.
        reason: String,
        /// The next legal action.
        next: String,
        /// Output of the tests and commands that ran.
        evidence: Vec<Evidence>,
    },
}

/// Output of a test or command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// A test and why it fails, a target that does not build, or a command.
    pub subject: String,
    /// Its output.
    pub output: String,
}

/// Most pieces of evidence in a message.
const MAX_EVIDENCE: usize = 5;
/// Most bytes of the reason and of the next action.
const MAX_SENTENCE: usize = 2_000;

impl From<ReplyError> for Failure {
    fn from(error: ReplyError) -> Self {
        Self::Reply(error)
    }
}

impl From<&Refusal> for Failure {
    fn from(refusal: &Refusal) -> Self {
        let (reason, next) = (refusal.reason.clone(), refusal.next.clone());
        Self::Refused { rule: refusal.rule.name(), reason, next, evidence: Vec::new() }
    }
}

impl Failure {
    /// A refusal with the report's failures as evidence; the test that the refusal is about comes first.
    pub fn judged(breach: &Refusal, report: Option<&Report>) -> Self {
        let mut evidence = report.map(|report| seen(report, breach)).unwrap_or_default();
        evidence.sort_by_key(|(about, _)| !about);
        Self::Refused {
            rule: breach.rule.name(),
            reason: breach.reason.clone(),
            next: breach.next.clone(),
            evidence: evidence.into_iter().map(|(_, evidence)| evidence).collect(),
        }
    }

    /// Asks to repair an answer that does not build, with the one error that keeps it from running.
    pub fn does_not_build(cause: Cause, message: &str) -> String {
        let error = fenced("text", &cut::head_and_tail(message.trim_end(), MAX_SENTENCE));
        format!("Your answer does not run ({cause}):\n{error}\nSend the whole answer again, with this corrected.")
    }

    /// Adds the output of a command, such as the check command.
    #[must_use]
    pub fn with_output(self, command: &str, output: &str) -> Self {
        self.with(format!("`{command}`"), output)
    }

    /// Adds a file as the edits would leave it, because a model that replaced a part does not see the whole result.
    #[must_use]
    pub fn with_file(self, path: &str, text: &str) -> Self {
        self.with(format!("`{path}` as your edits would leave it"), text)
    }

    /// The failure of an attempt. `unread` says why the answer could not be parsed, when no rule refused it.
    pub fn of(setback: &Setback<'_>, unread: Option<&ReplyError>) -> Self {
        let Some(refusal) = setback.refusal else {
            return Self::Reply(unread.cloned().unwrap_or(ReplyError::Empty));
        };
        let failure = Self::judged(refusal, setback.report);
        let failure = match setback.output {
            Some((command, output)) => failure.with_output(command, output),
            None => failure,
        };
        match setback.file {
            Some((path, text)) => failure.with_file(path, text),
            None => failure,
        }
    }

    fn with(mut self, subject: String, output: &str) -> Self {
        match &mut self {
            Self::Reply(_) => {}
            Self::Refused { evidence, .. } => evidence.insert(0, Evidence { subject, output: output.to_owned() }),
        }
        self
    }

    /// The message for the model, with at most about `room` bytes of evidence.
    pub fn words(&self, room: usize) -> String {
        match self {
            Self::Reply(error) => format!("Your answer could not be used: {error}. Nothing was changed."),
            Self::Refused { rule, reason, next, evidence } => {
                let (reason, next) = (cut::head(reason, MAX_SENTENCE), cut::head(next, MAX_SENTENCE));
                let mut text = format!("Your answer was turned down.\nRule: {rule}\nReason: {reason}\nNext: {next}\n");
                let shown = evidence.len().min(MAX_EVIDENCE);
                for evidence in &evidence[..shown] {
                    text += &format!("\n{}:\n{}\n", evidence.subject, output_block(&evidence.output, room / shown));
                }
                if evidence.len() > shown {
                    text += &format!("\nThere are {} more like these.\n", evidence.len() - shown);
                }
                text + "\nAll files are as they were before this answer."
            }
        }
    }
}

/// Failed tests and obstacles, each with whether the refusal is about it.
fn seen(report: &Report, breach: &Refusal) -> Vec<(bool, Evidence)> {
    let failed = report.results().filter_map(|result| match &result.outcome {
        Outcome::Pass | Outcome::Fail { cause: Cause::Skipped, .. } => None,
        Outcome::Fail { cause, message } => {
            let subject = format!("`{}` fails ({cause})", result.id);
            Some((breach.test.as_ref() == Some(&result.id), Evidence { subject, output: message.clone() }))
        }
    });
    let stopped = report.obstacles().iter().map(|obstacle| {
        let place = obstacle.place.as_ref().map(|place| format!(" at `{place}`")).unwrap_or_default();
        let subject = format!("`{}` could not be run ({}){place}", obstacle.subject, obstacle.cause);
        let about = breach.test.as_ref().is_some_and(|test| obstacle.tests.contains(test));
        (about, Evidence { subject, output: obstacle.message.clone() })
    });
    failed.chain(stopped).collect()
}

fn output_block(output: &str, room: usize) -> String {
    let output = output.trim_end();
    if output.is_empty() { "(no output)".to_owned() } else { fenced("text", &cut::head_and_tail(output, room)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tdd_core::rule::Rule;

    use tdd_core::report::{Obstacle, TestResult};
    use tdd_core::test_id::TestId;

    fn id(name: &str) -> TestId {
        TestId::native("tests/a.rs", name)
    }

    fn breach(test: &str) -> Refusal {
        let (reason, next) = ("`adds` still fails".to_owned(), "change the production code until it passes".to_owned());
        Rule::TargetPasses.refuse(reason, next).because(Cause::Assertion).about(&id(test))
    }

    fn failed(name: &str, message: &str) -> TestResult {
        TestResult::new(id(name), Outcome::Fail { cause: Cause::Assertion, message: message.to_owned() }, 1)
    }

    #[test]
    fn a_bad_answer_is_told_what_was_wrong_with_it() {
        let words = Failure::from(ReplyError::Cut).words(100);
        assert!(words.starts_with("Your answer could not be used: the JSON breaks off before its end;"), "{words}");
    }

    #[test]
    fn a_refusal_has_rule_reason_and_next() {
        let words = Failure::from(&Rule::ProtectedPath.refuse("`.git/x` is protected", "leave it out")).words(100);
        let expected = "Your answer was turned down.\nRule: protected-path\nReason: `.git/x` is protected\nNext: leave it \
                        out\n\nAll files are as they were before this answer.";
        assert_eq!(words, expected);
    }

    #[test]
    fn a_failed_verification_shows_the_target_first_and_then_the_rest() {
        let obstacle = Obstacle {
            place: Some("tests/b.rs:3".to_owned()),
            ..Obstacle::new("tests/b.rs", Cause::SyntaxError, "expected `;`")
        };
        let passed = TestResult::new(id("fine"), Outcome::Pass, 1);
        let report = Report::new([failed("a", "other"), failed("z", "left: 1\nright: 2"), passed], vec![obstacle]);
        let failure = Failure::judged(&breach("z"), Some(&report)).with_output("cargo clippy", "");
        insta::assert_snapshot!(failure.words(10_000));
    }

    #[test]
    fn evidence_is_bounded_in_number_and_in_length() {
        let many = (0..20).map(|n| failed(&format!("t{n}"), &"é".repeat(10_000)));
        let words = Failure::judged(&breach("t3"), Some(&Report::new(many, Vec::new()))).words(5_000);
        assert!(words.len() < 6_000 && words.contains("There are 15 more like these."), "{words}");
        assert!(words.find("t3").unwrap() < words.find("t0").unwrap());
    }
}
