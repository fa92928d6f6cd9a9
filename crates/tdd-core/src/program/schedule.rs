//! When a program is due: a pure function of its schedule, state and the time.

use std::num::NonZeroU64;

use serde::Serialize;

use super::state::{Pause, State};

/// How often a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    minutes: NonZeroU64,
}

impl Schedule {
    /// Parses `every 6h`, `every 30m`, `every 2 days`, `hourly`, `daily` or `weekly`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_lowercase();
        let minutes = match text.as_str() {
            "hourly" => 60,
            "daily" => 24 * 60,
            "weekly" => 7 * 24 * 60,
            other => {
                let every = other.strip_prefix("every ")?.trim();
                let end = every.find(|c: char| !c.is_ascii_digit())?;
                let (count, unit) = every.split_at(end);
                count.parse::<u64>().ok()?.checked_mul(unit_minutes(unit.trim())?)?
            }
        };
        NonZeroU64::new(minutes).map(|minutes| Self { minutes })
    }

    /// When the next run is due after one that began at `last_ms`, both in milliseconds since 1970.
    pub fn next(self, last_ms: u64) -> u64 {
        last_ms.saturating_add(self.minutes.get().saturating_mul(60_000))
    }
}

fn unit_minutes(unit: &str) -> Option<u64> {
    match unit {
        "m" | "min" | "minute" | "minutes" => Some(1),
        "h" | "hour" | "hours" => Some(60),
        "d" | "day" | "days" => Some(24 * 60),
        "w" | "week" | "weeks" => Some(7 * 24 * 60),
        _ => None,
    }
}

/// Whether a program is due, and if not, why not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "standing", rename_all = "kebab-case")]
pub enum RunState {
    /// It is due.
    Due,
    /// Its last run was too recent.
    Waiting {
        /// When it is due, in milliseconds since 1970.
        until_ms: u64,
    },
    /// One of its commits waits for checks, which must be looked at first.
    Pending,
    /// It is paused.
    Paused {
        /// The reason.
        reason: String,
    },
    /// All attempts at a test are used up, and a person must decide.
    Blocked {
        /// The reason of the pause, which names the test.
        reason: String,
    },
    /// Its target is reached.
    Done {
        /// The reason in words.
        reason: String,
    },
    /// It is due, but the program, the repository or another run keeps it from starting.
    NotReady {
        /// The reason.
        reason: String,
    },
}

impl RunState {
    /// The run state by the program's state and the time. A pause wins over the schedule.
    pub fn of(schedule: Option<Schedule>, state: &State, now_ms: u64) -> Self {
        if let Some(reason) = state.completed() {
            return Self::Done { reason: reason.to_owned() };
        }
        if let Some(Pause { reason, .. }) = state.pause() {
            let reason = reason.clone();
            return if reason.starts_with("td-stuck") { Self::Blocked { reason } } else { Self::Paused { reason } };
        }
        if state.pending().is_some() {
            return Self::Pending;
        }
        match (schedule, state.last_run_ms()) {
            (Some(schedule), Some(last)) if schedule.next(last) > now_ms => {
                Self::Waiting { until_ms: schedule.next(last) }
            }
            (Some(_) | None, _) => Self::Due,
        }
    }

    /// One word for a table.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Due => "due",
            Self::Waiting { .. } => "waiting",
            Self::Pending => "pending",
            Self::Paused { .. } => "paused",
            Self::Blocked { .. } => "blocked",
            Self::Done { .. } => "done",
            Self::NotReady { .. } => "not-ready",
        }
    }

    /// Why it does not run, if there is a reason.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Due | Self::Waiting { .. } | Self::Pending => None,
            Self::Paused { reason } | Self::Blocked { reason } | Self::Done { reason } | Self::NotReady { reason } => {
                Some(reason)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::iteration::{Outcome, Overview};
    use super::super::state::{Happened, Who};
    use super::*;

    const HOUR: u64 = 3_600_000;

    #[test]
    fn schedules_are_read_as_people_write_them() {
        let hours = |text: &str| Schedule::parse(text).map(|schedule| schedule.next(0) / 60_000);
        assert_eq!(hours("every 6h"), Some(360));
        assert_eq!(hours("Every 30 m"), Some(30));
        assert_eq!(hours("every 2 days"), Some(2880));
        assert_eq!(hours("daily"), Some(1440));
        assert_eq!(hours(" weekly "), Some(10080));
        for wrong in ["", "every", "every h", "every 0h", "often", "every 6 moons", "6h"] {
            assert_eq!(hours(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_program_is_due_when_its_time_has_come_and_never_while_it_is_paused() {
        let every = Schedule::parse("every 6h");
        let mut state = State::new("x");
        let word = |state: &State, now| RunState::of(every, state, now).word();
        assert_eq!(word(&state, 0), "due");
        let iteration = Overview { at_ms: HOUR, ..Overview::sample("a", Outcome::Discarded) };
        state.apply(&Happened::Iterated { iteration: Box::new(iteration.into()), against: None });
        assert_eq!(RunState::of(every, &state, 2 * HOUR), RunState::Waiting { until_ms: 7 * HOUR });
        assert_eq!(word(&state, 7 * HOUR), "due");
        assert_eq!(RunState::of(None, &state, 2 * HOUR), RunState::Due);
        let pause = |reason: &str| Happened::Paused { at_ms: HOUR, by: Who::Machine, reason: reason.to_owned() };
        state.apply(&pause("by hand"));
        assert_eq!(word(&state, 99 * HOUR), "paused");
        state.apply(&pause("td-stuck: tests/a.rs::x"));
        assert_eq!(word(&state, 99 * HOUR), "blocked");
        assert_eq!(RunState::of(every, &state, 99 * HOUR).reason(), Some("td-stuck: tests/a.rs::x"));
        state.apply(&Happened::Resumed { at_ms: HOUR, by: Who::Person });
        assert_eq!(word(&state, 99 * HOUR), "due");
        state.apply(&Happened::Completed { at_ms: HOUR, reason: "reached".to_owned() });
        assert_eq!(word(&state, 99 * HOUR), "done");
    }
}
