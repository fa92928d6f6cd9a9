//! Shows a run as it goes: a line for people where something happens, every event for programs.

use tdd_core::cycle::Phase;
use tdd_core::event::{Event, StepOutcome};

use super::Machine;
use crate::error::CliError;
use crate::output::{BAD, BOLD, DIM, GOOD, WARN, paint, print_line};

impl Machine<'_> {
    /// Shows an event that has just been recorded.
    pub fn tell(&self, event: &Event) -> Result<(), CliError> {
        let output = self.context.output;
        if output.is_json() {
            let line = serde_json::to_string(event).map_err(|error| CliError::Output(error.into()))?;
            return print_line(&line);
        }
        match self.line(event) {
            Some(line) if !output.is_quiet() => print_line(&line),
            Some(_) | None => Ok(()),
        }
    }

    fn line(&self, event: &Event) -> Option<String> {
        match event {
            Event::StepStart(start) => {
                let what = match start.phase {
                    Phase::Red => "writes a failing test".to_owned(),
                    Phase::Green => format!("makes {} pass", listed(&start.targets)),
                    Phase::Refactor => "looks for something to improve".to_owned(),
                    Phase::RethinkTest => format!("thinks {} over", listed(&start.targets)),
                };
                Some(format!("{} {what}", paint(BOLD, format_args!("step {} · {}", start.step, start.role))))
            }
            Event::EditRefused(refused) => {
                Some(format!("  {} {} {}", paint(BAD, "refused"), paint(BOLD, refused.rule), refused.reason))
            }
            Event::Reverted(reverted) if reverted.kept_as.is_some() || reverted.rule.is_none() => {
                Some(format!("  {} {}", paint(WARN, "undone"), reverted.reason))
            }
            Event::GreenOnArrival(arrival) => {
                Some(format!("  {} {} passes already: another one is asked for", paint(WARN, "·"), arrival.test_id))
            }
            Event::Stuck(stuck) => {
                Some(format!("  {} the same failure {} times: a fresh start", paint(WARN, "stuck"), stuck.times))
            }
            Event::TestRevised(revised) => {
                let what = match (&revised.before, &revised.after) {
                    (before, after) if before == after => "stays as it is",
                    (_, None) => "is withdrawn",
                    (_, Some(_)) => "is revised",
                };
                Some(format!("  {} {what}: {}", revised.test_id, revised.reason))
            }
            Event::Committed(commit) => {
                Some(format!("  {} {} {}", paint(GOOD, "✓"), paint(DIM, commit.commit.short()), commit.subject))
            }
            Event::StepEnd(end) => match end.outcome {
                StepOutcome::Nothing => Some("  · nothing worth it".to_owned()),
                StepOutcome::Skipped => Some(format!("  {} skipped: no attempt held", paint(WARN, "·"))),
                StepOutcome::Kept | StepOutcome::Done | StepOutcome::Stopped => None,
            },
            Event::Resynced(resynced) => {
                Some(paint(DIM, format_args!("resynced at step {}: {}", resynced.step, resynced.reason)))
            }
            Event::Blocked(blocked) => {
                Some(format!("  {} {}: {}", paint(BAD, "blocked"), blocked.test_id, blocked.reason))
            }
            Event::LlmCall(call) if self.context.output.is_verbose() => Some(paint(
                DIM,
                format_args!(
                    "  {} {}: {} + {} tokens ({} cached), {} ms",
                    call.model,
                    call.purpose,
                    call.prompt_tokens,
                    call.completion_tokens,
                    call.cached_tokens,
                    call.duration_ms
                ),
            )),
            _ => None,
        }
    }
}

fn listed(tests: &[tdd_core::test_id::TestId]) -> String {
    tests.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
