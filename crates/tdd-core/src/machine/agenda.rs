//! An agenda: several mandates in order, and what must be true when all of them are done.

use super::starting_point::StartingPoint;
use super::{End, Fallible, Machine, MachineError, Mandate, workshop_error};
use crate::cycle::Role;
use crate::plan::{self, PlanFacts, Task, Truth};
use crate::seam::{Agent, Feedback, Reporter, StepWorkshop, Vcs};

/// The mandates of a run, and what must be true at its end.
#[derive(Clone, Debug, Default)]
pub struct Agenda {
    /// The mandates in order. Each has a mark, which identifies its commits.
    pub tasks: Vec<Mandate>,
    /// What must be true at the end, each with the test that proves it.
    pub truths: Vec<Truth>,
    /// The files that must exist at the end.
    pub artifacts: Vec<String>,
    /// The plan files that the agenda comes from, as paths in the project.
    pub plans: Vec<String>,
}

impl<B: StepWorkshop, A: Agent, R: Reporter> Machine<B, A, R> {
    /// Switches to the mandate that is due according to commits and tests; returns the end if none is left.
    pub(super) fn take_up(&mut self, start: &mut StartingPoint) -> Fallible<Option<End>, B, A> {
        let Some(agenda) = &self.agenda else { return Ok(None) };
        let task = |task: &Mandate| Task {
            mark: task.mark.clone().unwrap_or_default(),
            test: task.target.as_ref().map(|fixed| fixed.test.clone()),
        };
        let tasks: Vec<Task> = agenda.tasks.iter().map(task).collect();
        let history = self.workshop.vcs().messages().map_err(workshop_error)?;
        let state = self.workshop.session().machine_state();
        let seen = PlanFacts { history: &history, report: &start.report, role: start.role, state };
        let Some(mandate) = plan::due(&tasks, &seen).and_then(|at| agenda.tasks.get(at)) else {
            return self.account(agenda, start).map(Some);
        };
        if self.mandate != *mandate {
            self.mandate = mandate.clone();
            for agent in self.agents.values_mut() {
                agent.hear(&crate::cycle::Turn::Task { attempt: 1 }, &Feedback::StepOver);
            }
        }
        if self.task_mark().is_some() {
            // A task is always the refactorer's, wherever the cycle is.
            (start.role, start.reds) = (Role::Refactorer, Vec::new());
        }
        Ok(None)
    }

    /// After the last task: checks that every truth is proven and every artifact exists.
    fn account(&self, agenda: &Agenda, start: &StartingPoint) -> Fallible<End, B, A> {
        let files = self.workshop.files().map_err(MachineError::Work)?;
        let lacking = plan::lacking(&agenda.truths, &agenda.artifacts, &files, &start.report);
        let tasks = agenda.tasks.len();
        Ok(if lacking.is_empty() { End::Fulfilled { tasks } } else { End::Lacking { tasks, lacking } })
    }
}
