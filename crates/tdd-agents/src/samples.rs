//! Draws several candidate answers for one attempt, tries each on the gate, the build and the target tests, and keeps
//! the first that holds.

use tdd_core::cycle::Turn;
use tdd_core::gate::{self, Action, Edit};
use tdd_core::report::{Cause, Outcome, Report};
use tdd_core::seam::{AgentHost, Reply, StepContext, StepResult, Trial};
use tdd_core::test_id::TestId;

use crate::agent::{AgentError, Conversation, ModelAgent, RoleModel};
use crate::failure::Failure;
use crate::reply::ReplyError;
use crate::talk::Talk;

/// Repairs of an answer that does not build, before another answer is drawn.
const MAX_REPAIRS: u32 = 2;

/// How far a candidate came. A later variant came further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Progress {
    /// It cannot be parsed, or asks for files.
    Unreadable,
    /// The gate refuses it.
    Refused,
    /// It does not compile or load.
    NotBuilt,
    /// It runs, and its tests do not say what the turn needs.
    WrongResult,
    /// Its tests say what the turn needs, or it cannot be tried.
    Holds,
}

/// One answer to the same request, and what its trial showed.
struct Candidate {
    talk: Talk,
    answer: Result<Reply, ReplyError>,
    progress: Progress,
    /// The message that asks for a repair.
    repair: Option<String>,
}

impl<M: RoleModel> ModelAgent<M> {
    /// The best of at most `samples` candidates. The first is drawn alone, because it often holds; the others are drawn
    /// together.
    pub(crate) fn sample(
        &self,
        conversation: &mut Conversation,
        context: &StepContext,
        host: &mut dyn AgentHost,
    ) -> Result<Result<Reply, ReplyError>, AgentError> {
        let answer = self.converse(conversation, context, host)?;
        if self.samples == 1 || !is_tried(&context.turn) {
            return Ok(answer);
        }
        claim(&context.turn, &answer, host)?;
        let mut asked_again = conversation.talk.without_last_answer();
        let first = tried(conversation.talk.clone(), answer, context, host)?;
        let mut candidates = self.repaired(first, conversation, context, host)?;
        if candidates.iter().all(|candidate| candidate.progress != Progress::Holds) {
            let mut asks = Vec::new();
            for number in 2..=self.samples {
                asks.push(asked_again.ask_sample(number));
            }
            for answer in self.call_all(context, host, conversation.purpose(), &asks)? {
                let mut talk = asked_again.clone();
                talk.answered(&answer.content);
                let answer = conversation.reply(&answer.content, host)?;
                if candidates.iter().any(|known| known.answer == answer) {
                    continue;
                }
                let candidate = tried(talk, answer, context, host)?;
                let holds = candidate.progress == Progress::Holds;
                candidates.push(candidate);
                if holds {
                    break;
                }
            }
        }
        // The first of those that came furthest: later candidates are drawn at a higher temperature.
        let furthest = candidates.iter().map(|candidate| candidate.progress).max();
        let best = candidates.into_iter().find(|candidate| Some(candidate.progress) == furthest);
        Ok(match best {
            Some(best) => {
                conversation.talk = best.talk;
                best.answer
            }
            None => Err(ReplyError::Empty),
        })
    }

    /// A candidate, followed by the repairs of it: an answer that does not build is sent back with its error.
    fn repaired(
        &self,
        first: Candidate,
        conversation: &Conversation,
        context: &StepContext,
        host: &mut dyn AgentHost,
    ) -> Result<Vec<Candidate>, AgentError> {
        let mut candidates = vec![first];
        for number in 1..=MAX_REPAIRS {
            let Some((last, message)) =
                candidates.last().and_then(|last| last.repair.as_ref().map(|message| (last, message)))
            else {
                break;
            };
            let mut talk = last.talk.clone();
            let ask = talk.ask_repair(message, number);
            let answers = self.call_all(context, host, conversation.purpose(), &[ask])?;
            let Some(answer) = answers.first() else { break };
            talk.answered(&answer.content);
            let answer = conversation.reply(&answer.content, host)?;
            if candidates.iter().any(|known| known.answer == answer) {
                break;
            }
            candidates.push(tried(talk, answer, context, host)?);
        }
        Ok(candidates)
    }
}

/// Whether a trial run tells a good answer of this turn from a bad one.
fn is_tried(turn: &Turn) -> bool {
    match turn {
        Turn::Red { .. } | Turn::Green { .. } => true,
        Turn::Rethink { .. } | Turn::Refactor { .. } | Turn::Task { .. } => false,
    }
}

/// Names the red tests that all candidates are for, without which the gate lets no production code be tried.
fn claim(turn: &Turn, answer: &Result<Reply, ReplyError>, host: &mut dyn AgentHost) -> Result<(), AgentError> {
    let first = match answer {
        Ok(Reply::Result(result)) => result.edits.first(),
        Ok(Reply::Unreadable(_)) | Err(_) => None,
    };
    let path = first.map_or("", |edit| edit.path.as_str());
    for test in turn.targets() {
        // A refused claim shows in the trial.
        let _answer = host.claim(&test, path)?;
    }
    Ok(())
}

fn tried(
    talk: Talk,
    answer: Result<Reply, ReplyError>,
    context: &StepContext,
    host: &mut dyn AgentHost,
) -> Result<Candidate, AgentError> {
    let (progress, repair) = match &answer {
        Ok(Reply::Result(result)) => try_out(result, context, host)?,
        Ok(Reply::Unreadable(_)) | Err(_) => (Progress::Unreadable, None),
    };
    Ok(Candidate { talk, answer, progress, repair })
}

/// How far an answer comes: the gate first, then the build, then the target tests.
fn try_out(
    result: &StepResult,
    context: &StepContext,
    host: &mut dyn AgentHost,
) -> Result<(Progress, Option<String>), AgentError> {
    let turn = &context.turn;
    if result.only_asks() {
        return Ok((Progress::Unreadable, None));
    }
    if result.edits.is_empty() {
        return Ok((Progress::Holds, None));
    }
    let mut texts = std::collections::BTreeMap::new();
    for path in result.edits.iter().flat_map(paths_of) {
        texts.insert(path.to_owned(), host.read(path)?);
    }
    let Ok(files) = gate::preview(&result.edits, |path| texts.get(path).cloned().flatten()) else {
        return Ok((Progress::Refused, None));
    };
    Ok(match host.run_tests(&files, &turn.targets())? {
        Trial::Withheld => (Progress::Holds, None),
        Trial::Refused(_) => (Progress::Refused, None),
        // A run until the kata is done keeps a test that passes at once.
        Trial::Ran(report)
            if matches!(turn, Turn::Red { .. }) && context.may_be_done && causes(&report).next().is_none() =>
        {
            (Progress::Holds, None)
        }
        Trial::Ran(report) => (progress_of(turn, &report), repair_of(turn, &report)),
    })
}

fn paths_of(edit: &Edit) -> Vec<&str> {
    match &edit.action {
        Action::Rename { to } => vec![&edit.path, to],
        Action::Create { .. } | Action::Upsert { .. } | Action::Delete | Action::Replace { .. } => vec![&edit.path],
    }
}

fn progress_of(turn: &Turn, report: &Report) -> Progress {
    let is_right = match turn {
        Turn::Red { .. } => causes(report).any(Cause::is_valid_red),
        Turn::Green { .. } | Turn::Rethink { .. } | Turn::Refactor { .. } | Turn::Task { .. } => {
            let passes = |id: &TestId| report.get(id).is_some_and(|result| result.outcome == Outcome::Pass);
            turn.targets().iter().all(passes)
        }
    };
    if is_right {
        Progress::Holds
    } else if causes(report).any(does_not_build) {
        Progress::NotBuilt
    } else {
        Progress::WrongResult
    }
}

/// Why tests failed or could not be run.
fn causes(report: &Report) -> impl Iterator<Item = Cause> {
    let failed = report.results().filter_map(|result| result.outcome.cause());
    failed.chain(report.obstacles().iter().map(|obstacle| obstacle.cause))
}

/// Whether the answer itself has a slip of syntax or of a name, which a model can often repair.
fn does_not_build(cause: Cause) -> bool {
    let slips = [Cause::SyntaxError, Cause::UnrelatedCompileError, Cause::LoadFailure, Cause::MissingSymbol];
    slips.contains(&cause)
}

/// The first error that keeps the tests from running, if the answer does not build.
fn repair_of(turn: &Turn, report: &Report) -> Option<String> {
    if progress_of(turn, report) != Progress::NotBuilt {
        return None;
    }
    let obstacle = report.obstacles().iter().find(|obstacle| does_not_build(obstacle.cause));
    let failed = || {
        report.results().find_map(|result| match &result.outcome {
            Outcome::Fail { cause, message } if does_not_build(*cause) => Some((*cause, message.as_str())),
            Outcome::Fail { .. } | Outcome::Pass => None,
        })
    };
    let (cause, message) = obstacle.map(|obstacle| (obstacle.cause, obstacle.message.as_str())).or_else(failed)?;
    Some(Failure::does_not_build(cause, message))
}

#[cfg(test)]
mod tests {
    use tdd_core::cycle::RedTest;
    use tdd_core::report::{Obstacle, TestResult};

    use super::*;

    fn id(name: &str) -> TestId {
        TestId::native("tests/a.py", name)
    }

    fn green() -> Turn {
        let test = RedTest::proven(id("adds"), Cause::Assertion).expect("a red test");
        Turn::Green { tests: vec![test], attempt: 1 }
    }

    fn fails(name: &str, cause: Cause) -> TestResult {
        TestResult::new(id(name), Outcome::Fail { cause, message: "E  boom".to_owned() }, 1)
    }

    #[test]
    fn a_green_holds_if_its_target_passes_and_a_red_if_something_fails_for_a_valid_cause() {
        let pass = || TestResult::new(id("adds"), Outcome::Pass, 1);
        let check = |turn: &Turn, report: Report, expected: Progress| assert_eq!(progress_of(turn, &report), expected);
        let broken = || Report::new([], vec![Obstacle::new("a.py", Cause::SyntaxError, "line 3: bad")]);
        let red = Turn::Red { attempt: 1 };
        check(&green(), Report::new([pass(), fails("other", Cause::Assertion)], Vec::new()), Progress::Holds);
        check(&green(), Report::new([fails("adds", Cause::Assertion)], Vec::new()), Progress::WrongResult);
        check(&green(), broken(), Progress::NotBuilt);
        check(&red, Report::new([pass(), fails("new", Cause::Assertion)], Vec::new()), Progress::Holds);
        check(&red, Report::new([fails("new", Cause::MissingSymbol)], Vec::new()), Progress::Holds);
        check(&red, Report::new([pass()], Vec::new()), Progress::WrongResult);
        check(&red, broken(), Progress::NotBuilt);
    }

    #[test]
    fn only_an_answer_that_does_not_build_is_repaired_with_the_one_error() {
        let broken = Report::new([], vec![Obstacle::new("a.py", Cause::SyntaxError, "line 3: bad")]);
        let message = repair_of(&green(), &broken).expect("a message");
        assert!(message.contains("line 3: bad") && message.contains("syntax-error"), "{message}");
        assert_eq!(repair_of(&green(), &Report::new([fails("adds", Cause::Assertion)], Vec::new())), None);
    }
}
