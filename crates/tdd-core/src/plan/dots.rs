//! The plan steps that name a test, each with a dot: whether the test is red, green or not there yet.

use serde::Serialize;

use crate::event::{PlannedStep, Status};
use crate::report::Cause;
use crate::session::Session;
use crate::test_id::TestId;

use super::{Plan, Step};

/// The last result of a step's test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dot {
    /// It failed.
    Red,
    /// It passed.
    Green,
    /// It was not run: it does not exist yet, or is skipped.
    NotYet,
}

impl Dot {
    /// The dot of a test, by the ledger.
    pub fn of(session: &Session, test: &TestId) -> Self {
        match session.tests().get(test).map(|known| (known.status, known.cause)) {
            Some((Status::Pass, _)) => Self::Green,
            Some((Status::Fail, Some(Cause::Skipped))) | None => Self::NotYet,
            Some((Status::Fail, _)) => Self::Red,
        }
    }

    /// The dot as text, without colours.
    pub fn text(self) -> &'static str {
        match self {
            Self::Red => "● red",
            Self::Green => "● green",
            Self::NotYet => "○ not yet",
        }
    }
}

/// A step that names a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TestStep {
    /// The plan's file, or the step in which a model planned.
    pub plan: String,
    /// The number of the step in the plan, from 1.
    pub step: usize,
    /// Its title.
    pub title: String,
    /// The test.
    pub test_id: TestId,
}

/// A step with its dot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Dotted {
    /// The step.
    #[serde(flatten)]
    pub step: TestStep,
    /// The last result of its test.
    pub state: Dot,
}

impl TestStep {
    /// The steps of a plan that name a test.
    pub fn of_plan(name: &str, plan: &Plan) -> Vec<Self> {
        let test = |step: &Step| TestId::parse(&step.test_id.as_ref()?.text).ok();
        let steps = plan.steps.iter().map(|step| (step.title.as_str(), test(step)));
        Self::numbered(name, steps)
    }

    /// The steps that a model planned and that name a test.
    pub fn of_planned(name: &str, steps: &[PlannedStep]) -> Vec<Self> {
        Self::numbered(name, steps.iter().map(|step| (step.text.as_str(), step.test_id.clone())))
    }

    fn numbered<'a>(name: &str, steps: impl Iterator<Item = (&'a str, Option<TestId>)>) -> Vec<Self> {
        let named = steps.enumerate().filter_map(|(at, (title, test))| Some((at + 1, title, test?)));
        named
            .map(|(step, title, test_id)| Self { plan: name.to_owned(), step, title: title.to_owned(), test_id })
            .collect()
    }

    /// The step with its dot, by the ledger.
    pub fn dotted(&self, session: &Session) -> Dotted {
        Dotted { state: Dot::of(session, &self.test_id), step: self.clone() }
    }
}
