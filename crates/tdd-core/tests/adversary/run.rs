//! Drives the real orchestrator on an in-memory project, and checks the promises on everything it keeps.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use tdd_core::change::TestChange;
use tdd_core::cycle::{Phase, RedTest, Role, Turn};
use tdd_core::event::{Event, Override, Record, Resumed, StepOutcome, StepStart};
use tdd_core::gate::{self, Decision, Limits, Request};
use tdd_core::machine::{End, Machine, Mandate, Order, Start};
use tdd_core::report::Cause;
use tdd_core::rule::Rule;
use tdd_core::seam::{Ledger, Obstructed, Orchestrator};
use tdd_core::session::Session;
use tdd_core::test_id::TestId;

use crate::actor::{Actor, Script, Silent, claimed};
use crate::answer::{Act, Attempt, Claims, Move};
use crate::project::{Project, id};
use crate::promises::{self, Kept};
use crate::world::World;

/// A sentence that a rethink can quote.
const KATA: &str = "A kata of four features, each a test of its own, one after the other.";

/// The orchestrator on a simulated project, and the history that the promises need.
pub struct Game {
    machine: Option<Machine<World, Actor, Silent>>,
    script: Script,
    pub done: bool,
    /// Tests that passed in some kept tree.
    pub ever_green: BTreeSet<TestId>,
    /// Something was kept because of a person's exception.
    excepted: bool,
    /// The rules by which the gate refused a request outside a step.
    pub refused_outside: RefCell<BTreeSet<Rule>>,
}

impl Game {
    pub fn new() -> Self {
        let attempts = Rc::new(RefCell::new(Vec::<Attempt>::new()));
        let world = World::new(Rc::clone(&attempts));
        let script = Script { vcs: world.vcs.clone(), attempts, act: Rc::new(RefCell::new(Act::Garbage)) };
        let mut game = Self {
            machine: None,
            script,
            done: false,
            ever_green: BTreeSet::new(),
            excepted: false,
            refused_outside: RefCell::default(),
        };
        game.start(world);
        game
    }

    fn start(&mut self, world: World) {
        let actors = Role::ALL.map(|role| Actor { role, script: self.script.clone() });
        let start = Start {
            order: Order { until_done: true, ..Order::default() },
            kata: KATA.to_owned(),
            mandate: Mandate::default(),
            agenda: None,
            version: "0".to_owned(),
        };
        self.machine = Some(Machine::start(world, actors, Silent, start).unwrap());
    }

    pub fn world(&self) -> &World {
        &self.machine.as_ref().unwrap().workshop
    }

    fn world_mut(&mut self) -> &mut World {
        &mut self.machine.as_mut().unwrap().workshop
    }

    pub fn session(&self) -> &Session {
        &self.world().ledger.session
    }

    pub fn records(&self) -> &[Record] {
        &self.world().ledger.records
    }

    pub fn head(&self) -> Project {
        self.script.vcs.project()
    }

    pub fn is_paused(&self) -> bool {
        self.session().machine_state().pause().is_some()
    }

    fn append(&mut self, event: Event) {
        let Ok(_) = self.world_mut().ledger.append(&[event]);
    }

    /// Carries out one act.
    pub fn act(&mut self, act: &Act) {
        self.world_mut().ledger.now += 1;
        match act {
            Act::Resume { skip } => self.resume(*skip),
            Act::Except(rule) => {
                let expires = self.world().ledger.now + 3;
                self.append(Event::Override(Override { rule: *rule, reason: "a person says so".into(), expires }));
            }
            Act::Outside(claims, moves) => self.outside(*claims, moves),
            Act::Honest(_) | Act::Wild(..) | Act::SaysDone | Act::Garbage | Act::Killed(_) => self.take_turn(act),
        }
    }

    fn take_turn(&mut self, act: &Act) {
        if self.is_paused() {
            return self.knock_while_paused(act);
        }
        self.check_claims(act);
        *self.script.act.borrow_mut() = act.clone();
        let (before, known) = (self.head(), self.records().len());
        self.world_mut().kill = matches!(act, Act::Killed(_));
        let ended = self.machine.as_mut().unwrap().next();
        self.world_mut().kill = false;
        match ended {
            Ok(Some(End::Done { .. })) => self.done = true,
            Ok(_) => {}
            // After a kill the run is restarted, and continues with the next attempt.
            Err(_) => {
                let machine = self.machine.take().unwrap();
                self.start(machine.workshop);
            }
        }
        self.check_kept(&before, known);
    }

    /// Checks that exactly the tests that are red can be claimed.
    fn check_claims(&self, act: &Act) {
        let (Act::Wild(claims, _) | Act::Outside(claims, _)) = act else { return };
        for test in claimed(*claims, &self.head()) {
            let judged = gate::judge_claim(self.session(), &test);
            assert_eq!(judged.is_ok(), promises::is_red_now(self.records(), &test), "the claim of {test}");
        }
    }

    /// Checks the promises on a commit since `known`, and that an undone attempt leaves nothing behind.
    fn check_kept(&mut self, before: &Project, known: usize) {
        let new: Vec<Event> = self.records()[known..].iter().map(|record| record.event.clone()).collect();
        let Some(at) = new.iter().position(|event| matches!(event, Event::Committed(_))) else {
            if new.iter().any(|event| matches!(event, Event::Reverted(_))) {
                promises::check_nothing_left(self);
            }
            return;
        };
        let records = &self.records()[..known + at];
        let start = records.iter().rev().find_map(|record| match &record.event {
            Event::StepStart(start) => Some(start.clone()),
            _ => None,
        });
        let (turn, after) = (turn_of(&start.unwrap()), self.head());
        let plainly = self.session().machine_state().exceptions(self.world().ledger.now).is_empty();
        if plainly {
            let (ever_green, inherits) = (&self.ever_green, self.excepted);
            let attempt = new[..at].iter().rev().take_while(|event| !matches!(event, Event::EditApplied(_)));
            let is_characterization = attempt.into_iter().any(|event| matches!(event, Event::GreenOnArrival(_)));
            let after = &after;
            promises::check_kept(&Kept {
                turn: &turn,
                before,
                after,
                records,
                ever_green,
                is_characterization,
                inherits,
            });
        }
        self.excepted |= !plainly;
        for (from, to) in before.change_to(&after).tests.iter().filter_map(moved) {
            if self.ever_green.remove(&from) {
                self.ever_green.insert(to);
            }
        }
        self.note_green(&after);
    }

    fn note_green(&mut self, project: &Project) {
        let green = project.tests.keys().filter(|key| project.fate(**key).is_none());
        self.ever_green.extend(green.map(|key| id(*key)));
    }

    /// Checks that nothing is permitted during a pause, unless there is an exception.
    fn knock_while_paused(&mut self, act: &Act) {
        let (Act::Honest(moves) | Act::Wild(_, moves) | Act::Killed(moves)) = act else { return };
        let excepted = self.session().machine_state().exception(Rule::Budget, self.world().ledger.now).is_some();
        if self.asks_gate(moves) {
            assert!(excepted, "something was permitted in a pause");
        }
    }

    /// A request outside a step, which only the gate judges.
    fn outside(&mut self, claims: Claims, moves: &[Move]) {
        if self.session().machine_state().step().is_some() || self.is_paused() {
            return;
        }
        self.check_claims(&Act::Outside(claims, moves.to_vec()));
        for test_id in claimed(claims, &self.head()) {
            if gate::judge_claim(self.session(), &test_id).is_err() {
                return;
            }
            let edit_target = "src/lib.rs".to_owned();
            self.append(Event::EditClaim(tdd_core::event::EditClaim { test_id, edit_target }));
        }
        let plainly = self.session().machine_state().exceptions(self.world().ledger.now).is_empty();
        if self.asks_gate(moves) && plainly {
            let head = self.head();
            let change = head.change_to(&Attempt::new(&head, moves).after);
            promises::check_permitted_outside(self.records(), &change);
        }
    }

    fn asks_gate(&self, moves: &[Move]) -> bool {
        let head = self.head();
        let attempt = Attempt::new(&head, moves);
        let change = head.change_to(&attempt.after);
        let obstructed = Obstructed { ignored: attempt.ignored.clone(), ..Obstructed::default() };
        let request = Request { obstructed: &obstructed, ..Request::of_model(&attempt.edits, &change) };
        let limits =
            Limits { now_ms: self.world().ledger.now, max_attempts: 5, max_new_tests: 1, ..Limits::of_kata("kata.md") };
        match gate::judge(self.session(), &request, &limits) {
            Decision::Permit(permit) => {
                promises::check_paths(permit);
                true
            }
            Decision::Refuse(refusal) => {
                promises::check_refusal(&refusal);
                self.refused_outside.borrow_mut().insert(refusal.rule);
                false
            }
        }
    }

    fn resume(&mut self, skip: bool) {
        let blocked = self.session().machine_state().blocked().keys().next().cloned().filter(|_| skip);
        if let Some(test) = &blocked {
            let mut after = self.head();
            let marked = after.tests.iter_mut().find(|(key, _)| &id(**key) == test);
            if let Some((_, test)) = marked {
                test.skipped = true;
            }
            let message = format!("test: skip\n\nReason:\n- x\n\nTDD-Skipped: {test}\n");
            self.script.vcs.commit_project(after.clone(), &message);
            self.note_green(&after);
            let commit = self.script.vcs.commit_id().unwrap();
            let (tree, subject) = (after.tree(), "test: skip".to_owned());
            let files = vec!["tests/f0.rs".to_owned()];
            self.append(Event::Committed(tdd_core::event::Committed { commit, tree, subject, files }));
        }
        self.append(Event::Resumed(Resumed { skipped: blocked, unblocked: None }));
    }
}

/// The turn that a step began with.
fn turn_of(start: &StepStart) -> Turn {
    let red = |test: &TestId| RedTest::proven(test.clone(), Cause::Assertion).unwrap();
    match start.phase {
        Phase::Red => Turn::Red { attempt: 1 },
        Phase::Green => Turn::Green { tests: start.targets.iter().map(red).collect(), attempt: 1 },
        Phase::RethinkTest => Turn::Rethink { test: red(&start.targets[0]), mend: false },
        Phase::Refactor => Turn::Refactor { attempt: 1 },
    }
}

fn moved(test: &TestChange) -> Option<(TestId, TestId)> {
    match test {
        TestChange::Moved { before, after } => Some((before.id.clone(), after.id.clone())),
        TestChange::Added(_) | TestChange::Removed(_) | TestChange::Changed { .. } => None,
    }
}

/// The phases in which something was kept, and the rules that refused.
pub fn met(records: &[Record]) -> (BTreeSet<Phase>, BTreeSet<Rule>) {
    let (mut kept, mut met, mut phase) = (BTreeSet::new(), BTreeSet::new(), None);
    for record in records {
        match &record.event {
            Event::StepStart(start) => phase = Some(start.phase),
            Event::StepEnd(end) if end.outcome == StepOutcome::Kept => kept.extend(phase),
            Event::Reverted(reverted) => met.extend(reverted.rule),
            _ => {}
        }
    }
    (kept, met)
}
