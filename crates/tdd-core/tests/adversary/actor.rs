//! An agent that does whatever the property test tells it, whatever its role is.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use tdd_core::cycle::{Role, Turn};
use tdd_core::event::Event;
use tdd_core::gate::{Action, Edit};
use tdd_core::machine::StepLog;
use tdd_core::seam::{
    Agent, AgentHost, Budget, Done, EventContext, Feedback, HostFailed, OutOfTime, Reply, Reporter, Rescued,
    StepContext, StepResult,
};
use tdd_core::test_id::TestId;

use crate::answer::{Act, Attempt, Claims, nth_key};
use crate::honest;
use crate::project::id;
use crate::promises;
use crate::world::FakeVcs;

/// What all agents share: the repository, the attempts so far, and the next act.
#[derive(Clone)]
pub struct Script {
    pub vcs: FakeVcs,
    pub attempts: Rc<RefCell<Vec<Attempt>>>,
    pub act: Rc<RefCell<Act>>,
}

/// One role.
pub struct Actor {
    pub role: Role,
    pub script: Script,
}

impl Agent for Actor {
    type Error = HostFailed;

    fn role(&self) -> Role {
        self.role
    }

    fn plan(&mut self, _: &StepContext, _: &mut dyn AgentHost) -> Result<(), HostFailed> {
        Ok(())
    }

    fn edit(&mut self, context: &StepContext, _: &mut dyn AgentHost) -> Result<Reply, HostFailed> {
        let (head, act) = (self.script.vcs.project(), self.script.act.borrow().clone());
        let (claims, moves) = match act {
            Act::Honest(beside) => match honest::moves(&head, &context.turn) {
                None => return Ok(self.says_done()),
                Some(moves) => (Claims::Targets, [moves, beside].concat()),
            },
            Act::Wild(claims, moves) => (claims, moves),
            Act::Killed(moves) => (Claims::Targets, moves),
            Act::SaysDone => return Ok(self.says_done()),
            Act::Garbage | Act::Outside(..) | Act::Resume { .. } | Act::Except(_) => {
                return Ok(Reply::Unreadable("it is no answer".to_owned()));
            }
        };
        let mut attempt = Attempt::new(&head, &moves);
        if matches!(context.turn, Turn::Refactor { .. }) {
            // Only greens have a counter-proof; disarming in a refactor would be found at the next green.
            attempt.after.disarmed = head.disarmed;
        }
        let claims = claimed(claims, &head);
        let mut attempts = self.script.attempts.borrow_mut();
        let nth = attempts.len();
        let with_content = |edit: &Edit| Edit {
            path: edit.path.clone(),
            action: Action::Upsert { content: format!("{nth} {}", edit.path) },
        };
        let edits = attempt.edits.iter().map(with_content).collect();
        attempts.push(attempt);
        let spec_source = context.kata_description.clone();
        Ok(Reply::Result(Box::new(StepResult { edits, claims, spec_source, ..StepResult::default() })))
    }

    fn hear(&mut self, _: &Turn, news: &Feedback<'_>) {
        if let Feedback::Failed(setback) | Feedback::StartOver(setback) = news
            && let Some(refusal) = setback.refusal
        {
            promises::check_refusal(refusal);
        }
    }

    fn budget(&self) -> Budget {
        Budget::default()
    }

    fn out_of_time(_: &HostFailed) -> Option<OutOfTime> {
        None
    }
}

impl Actor {
    /// Declares the kata done and names every test, whatever its result.
    fn says_done(&self) -> Reply {
        let head = self.script.vcs.project();
        let done = |key: &(u8, u8)| Done { requirement: format!("{key:?}"), test_id: id(*key) };
        let done = head.tests.keys().map(done).collect();
        Reply::Result(Box::new(StepResult { done, ..StepResult::default() }))
    }
}

/// The tests that an answer claims; empty means the step's targets.
pub fn claimed(claims: Claims, head: &crate::project::Project) -> Vec<TestId> {
    match claims {
        Claims::Targets | Claims::Nothing => Vec::new(),
        Claims::Some(nth) => nth_key(head, nth).map(id).into_iter().collect(),
        Claims::Unknown => vec![TestId::native("tests/nowhere.rs", "x")],
    }
}

/// A reporter that shows nothing.
pub struct Silent;

impl Reporter for Silent {
    fn event(&mut self, _: &Event, _: &EventContext<'_>) {}

    fn working(&mut self, _: &str) {}

    fn rested(&mut self) {}

    fn remark(&mut self, _: &str) {}

    fn rescued(&mut self, _: &[Rescued]) {}

    fn plan(&mut self, _: u32, _: Role, _: &str) -> io::Result<()> {
        Ok(())
    }

    fn log(&mut self, _: &StepLog) -> io::Result<()> {
        Ok(())
    }
}
