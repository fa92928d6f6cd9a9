//! The check command and the counter-proof, as they would come out on the simulated project.

use tdd_core::cycle::{RedTest, Turn};
use tdd_core::judge::{self, Ruling};
use tdd_core::proof::{CounterProof, Fate, MutantFate, Proof, Survivor, Twin, judge_counter_proof};
use tdd_core::report::Cause;
use tdd_core::rule::Rule;

use crate::machine::Machine;
use crate::project::{Code, Project, id};

impl Machine {
    /// The check command and the counter-proof, where they are due.
    pub fn proven(&self, turn: &Turn, after: &Project, ruling: Ruling, excepted: &[Rule]) -> Ruling {
        let due = matches!(turn, Turn::Green { .. } | Turn::Refactor { .. }) && matches!(ruling, Ruling::Holds(_));
        if !due {
            return ruling;
        }
        let complaint = judge::judge_check(!after.lint, "cargo clippy", "error: unused");
        if let Some(refusal) = complaint.filter(|it| !excepted.contains(&it.rule)) {
            return Ruling::Refused(refusal);
        }
        let Turn::Green { tests, .. } = turn else { return ruling };
        let proofs = tests.iter().map(|test| judge_counter_proof(test.id(), &self.counter_proof(test, after)));
        let refused = |ruling: &Ruling| matches!(ruling, Ruling::Refused(it) if !excepted.contains(&it.rule));
        let mut proofs = proofs.filter(refused);
        proofs.next().unwrap_or(ruling)
    }

    fn counter_proof(&self, red: &RedTest, after: &Project) -> Proof {
        let Some(key) = after.tests.keys().copied().find(|key| &id(*key) == red.id()) else { return Proof::Unwritable };
        let twin =
            Twin { name: "t".into(), id: red.id().clone(), line: 1, what: "expects another".into(), probe: None };
        let survivors = if after.disarmed { vec![Survivor { twin, prints_differently: true }] } else { vec![] };
        let stubs = after.production.keys().map(|it| (*it, Code::Stub)).collect();
        let stubbed = Project { production: stubs, ..after.clone() };
        let fate = |project: &Project| if project.fate(key).is_none() { Fate::Passed } else { Fate::Failed };
        let mutant = (red.cause() == Cause::MissingSymbol).then(|| match fate(&stubbed) {
            Fate::Passed => MutantFate::Survived(vec!["a stub".into()]),
            Fate::Failed | Fate::NotRun(_) => MutantFate::Killed("a stub".into()),
        });
        Proof::Run(CounterProof {
            copy: fate(after),
            sound: Fate::Passed,
            broken: Fate::Failed,
            untruths: vec![("assert!".into(), if after.disarmed { Fate::Passed } else { Fate::Failed })],
            survivors,
            not_run: Vec::new(),
            twins: 1,
            mutant,
            on_red: Some(fate(&self.head)),
        })
    }
}
