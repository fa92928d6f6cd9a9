//! `override`: records a person's exception from a rule, with an expiry time.

use std::process::ExitCode;

use clap::Args;
use jiff::{SignedDuration, Span, SpanRelativeTo};
use tdd_core::event::{Event, Override};
use tdd_core::rule::Rule;
use tdd_core::seam::{Clock, Ledger};
use tdd_exec::clock::WallClock;
use tdd_exec::state::StateDir;

use crate::commands::log;
use crate::context::Context;
use crate::error::CliError;
use crate::output::{BOLD, paint};
use crate::person::{self, PersonError};
use tdd_exec::project;

/// Make an exception from a rule, with a reason, for a while
///
/// The exception is recorded in the ledger, holds for all checks of this project, and expires by itself. Rules that
/// guard the disk, and rules that the evidence depends on, have no exceptions.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tdd-cli override --rule check-passes --reason \"a lint of the new toolchain\"\n  tdd-cli override --rule steering-frozen --reason \"a build script\" --ttl 2h"
)]
pub struct OverrideRule {
    /// The rule, as refusals name it
    #[arg(long, value_name = "RULE")]
    rule: String,
    /// Why; readers of the ledger will see it
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// How long: `15m`, `2h`, `1d`; at most seven days
    #[arg(long, value_name = "TIME", default_value = "15m")]
    ttl: String,
}

/// Longest exception; a longer one would amount to a change of the rules.
const LONGEST: SignedDuration = SignedDuration::from_hours(7 * 24);

pub fn run(args: &OverrideRule, context: &Context) -> Result<ExitCode, CliError> {
    let rule = Rule::named(&args.rule).ok_or_else(|| PersonError::unknown_rule(&args.rule))?;
    if !rule.has_exceptions() {
        return Err(PersonError::NoException { rule }.into());
    }
    let reason = person::reason(&args.reason)?;
    let ttl = lasting(&args.ttl).ok_or_else(|| PersonError::BadTtl(args.ttl.clone()))?;
    let repo = project::repository(&context.user_paths)?;
    let mut recording = context.recording(&StateDir::ensure(repo.root())?)?;
    let made = Override { rule, reason, expires: WallClock.now_ms().saturating_add(ttl) };
    recording.append(&[Event::Override(made.clone())])?;
    context.output.result(&made, || text(&made));
    Ok(ExitCode::SUCCESS)
}

/// Parses a duration into milliseconds; `None` if it is invalid or too long.
fn lasting(text: &str) -> Option<u64> {
    let span: Span = text.trim().parse().ok()?;
    let duration = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    if duration > LONGEST {
        return None;
    }
    u64::try_from(duration.as_millis()).ok().filter(|ms| *ms > 0)
}

fn text(made: &Override) -> String {
    let until = log::time(made.expires);
    format!("the rule `{}` is off until {}: {}\n", paint(BOLD, made.rule), until, made.reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_lasts_as_long_as_people_say() {
        for (text, ms) in [("15m", 900_000), ("2h", 7_200_000), ("1d", 86_400_000), ("1 hour 5 min", 3_900_000)] {
            assert_eq!(lasting(text), Some(ms), "{text}");
        }
        assert_eq!((lasting("250ms"), lasting("7d")), (Some(250), Some(604_800_000)));
    }

    #[test]
    fn an_exception_without_a_time_or_without_an_end_is_none() {
        for text in ["", "15", "0m", "-5m", "8d", "7d 1s", "1mo", "1y", "soon", "99999999999999999999h"] {
            assert_eq!(lasting(text), None, "{text}");
        }
    }
}
