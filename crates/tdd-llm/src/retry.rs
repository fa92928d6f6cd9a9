//! Decides what follows a failed call: a retry, a simpler request, or an error.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use crate::client::FormUsed;
use crate::error::LlmError;
use crate::refusal::Refusal;
use crate::request::Sent;

/// Longest wait that we choose ourselves.
const LONGEST_BACKOFF: Duration = Duration::from_secs(30);

/// Retries of a server that has never answered: enough for a server that is starting, few for a wrong address.
const FIRST_CONTACT_RETRIES: u32 = 2;

/// Why a try failed.
#[derive(Debug)]
pub(crate) enum CallFailure {
    /// The response has no success status.
    Refused(Refusal),
    /// A failure that may pass.
    Passing(LlmError),
    /// A failure that will not pass.
    Lasting(LlmError),
}

/// The state of a call that decides about retries.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub retries: u32,
    pub max_retries: u32,
    /// Responses with status 500 to the current answer format.
    pub faults: u32,
    /// The server has answered with tool calls before, so its refusal is not about tools.
    pub tools_proven: bool,
    /// The server has answered a call before.
    pub reached: bool,
}

/// The next action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Next {
    /// Send the same again, after at least this wait if the server demands one.
    Again(Option<Duration>),
    /// Request a less strict answer format.
    Simpler,
    /// Omit the field that the server rejected.
    Without(Extra),
    /// Give up.
    End,
}

/// An optional field of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extra {
    Temperature,
    StreamOptions,
    Stream,
}

/// Decides the next action.
pub(crate) fn next(failure: &CallFailure, sent: &Sent, tally: &Tally) -> Next {
    match failure {
        CallFailure::Refused(refusal) => after_refusal(refusal, sent, tally),
        CallFailure::Passing(error) if error.is_no_connection() && !tally.reached => {
            again(&Tally { max_retries: tally.max_retries.min(FIRST_CONTACT_RETRIES), ..*tally }, None)
        }
        CallFailure::Passing(_) => again(tally, None),
        CallFailure::Lasting(_) => Next::End,
    }
}

fn after_refusal(refusal: &Refusal, sent: &Sent, tally: &Tally) -> Next {
    if refusal.is_too_long() || refusal.is_unknown_model() {
        return Next::End;
    }
    if let Some(extra) = complained_about(refusal, sent) {
        return Next::Without(extra);
    }
    let can_be_simpler = match sent.form {
        FormUsed::Text => false,
        FormUsed::JsonObject | FormUsed::Schema => true,
        FormUsed::Tools => !tally.tools_proven,
    };
    match refusal.status {
        400 | 404 | 422 | 501 if can_be_simpler => Next::Simpler,
        500 if can_be_simpler && (tally.faults > 1 || tally.retries >= tally.max_retries) => Next::Simpler,
        408 | 429 | 500..=599 => again(tally, refusal.wait),
        _ => Next::End,
    }
}

fn complained_about(refusal: &Refusal, sent: &Sent) -> Option<Extra> {
    if sent.stream && sent.stream_options && refusal.is_about("stream_options") {
        Some(Extra::StreamOptions)
    } else if sent.temperature.is_some() && refusal.is_about("temperature") {
        Some(Extra::Temperature)
    } else if sent.stream && refusal.is_about("stream") {
        Some(Extra::Stream)
    } else {
        None
    }
}

fn again(tally: &Tally, wait: Option<Duration>) -> Next {
    if tally.retries < tally.max_retries { Next::Again(wait) } else { Next::End }
}

/// Wait before a retry, counted from 0. It doubles each time; half of it is random, so that clients that failed
/// together do not retry together.
pub(crate) fn backoff(base: Duration, retry: u32, chance: f64) -> Duration {
    let full = base.saturating_mul(2_u32.saturating_pow(retry)).min(LONGEST_BACKOFF);
    full.mul_f64(0.5 + chance.clamp(0.0, 1.0) / 2.0)
}

/// A random number from 0 to 1. `RandomState` is seeded by the system.
pub(crate) fn chance() -> f64 {
    let bits = RandomState::new().hash_one(0_u8);
    f64::from(u32::try_from(bits >> 32).unwrap_or_default()) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Wait;

    const SCHEMA: Sent = Sent { form: FormUsed::Schema, temperature: Some(0.2), stream: true, stream_options: true };
    const TEXT: Sent = Sent { form: FormUsed::Text, temperature: None, stream: false, stream_options: false };
    const FIRST: Tally = Tally { retries: 0, max_retries: 5, faults: 1, tools_proven: false, reached: false };

    fn refused(status: u16, body: &str) -> CallFailure {
        CallFailure::Refused(Refusal::read(status, body.as_bytes(), None))
    }

    #[test]
    fn what_may_be_better_next_time_is_asked_again_and_nothing_else() {
        for status in [408, 429, 500, 502, 503, 529] {
            assert_eq!(next(&refused(status, ""), &TEXT, &FIRST), Next::Again(None), "{status}");
        }
        for status in [301, 400, 401, 402, 403, 404, 409, 422] {
            assert_eq!(next(&refused(status, ""), &TEXT, &FIRST), Next::End, "{status}");
        }
        let spent = Tally { retries: 5, ..FIRST };
        assert_eq!(next(&refused(429, ""), &TEXT, &spent), Next::End);
    }

    #[test]
    fn a_server_that_was_never_reached_is_given_up_sooner_than_one_that_went_away() {
        let gone = || CallFailure::Passing(LlmError::Unreachable { server: "s".into(), reason: "refused".into() });
        let after = |retries, reached| next(&gone(), &TEXT, &Tally { retries, reached, ..FIRST });
        assert_eq!((after(1, false), after(2, false)), (Next::Again(None), Next::End));
        assert_eq!((after(2, true), after(5, true)), (Next::Again(None), Next::End));
        let late = |wait| LlmError::TimedOut { server: "s".into(), wait, after: Duration::from_secs(10) };
        let after = |wait| next(&CallFailure::Passing(late(wait)), &TEXT, &Tally { retries: 2, ..FIRST });
        assert_eq!((after(Wait::Connect), after(Wait::Answer)), (Next::End, Next::Again(None)));
        let busy = Tally { retries: 4, ..FIRST };
        assert_eq!(next(&refused(429, ""), &TEXT, &busy), Next::Again(None));
    }

    #[test]
    fn a_form_steps_down_at_once_or_at_the_second_500() {
        for status in [400, 404, 422, 501] {
            assert_eq!(next(&refused(status, ""), &SCHEMA, &FIRST), Next::Simpler, "{status}");
        }
        assert_eq!(next(&refused(500, ""), &SCHEMA, &FIRST), Next::Again(None));
        assert_eq!(next(&refused(500, ""), &SCHEMA, &Tally { faults: 2, ..FIRST }), Next::Simpler);
        assert_eq!(next(&refused(500, ""), &SCHEMA, &Tally { max_retries: 0, ..FIRST }), Next::Simpler);
        assert_eq!(next(&refused(401, ""), &SCHEMA, &FIRST), Next::End);
        assert_eq!(next(&refused(503, ""), &SCHEMA, &Tally { faults: 2, ..FIRST }), Next::Again(None));
    }

    #[test]
    fn what_no_form_can_mend_does_not_step_down() {
        let too_long = refused(400, r#"{"error":{"type":"exceed_context_size_error"}}"#);
        assert_eq!(next(&too_long, &SCHEMA, &FIRST), Next::End);
        let unknown = refused(404, r#"{"error":{"code":"model_not_found"}}"#);
        assert_eq!(next(&unknown, &SCHEMA, &FIRST), Next::End);
    }

    #[test]
    fn tools_that_worked_before_are_not_to_blame() {
        let tools = Sent { form: FormUsed::Tools, ..TEXT };
        assert_eq!(next(&refused(400, ""), &tools, &FIRST), Next::Simpler);
        assert_eq!(next(&refused(400, ""), &tools, &Tally { tools_proven: true, ..FIRST }), Next::End);
    }

    #[test]
    fn only_what_the_server_names_is_left_out() {
        let names = |words: &str| next(&refused(400, &format!(r#"{{"error":"{words}"}}"#)), &SCHEMA, &FIRST);
        assert_eq!(names("Unsupported value: 'temperature'"), Next::Without(Extra::Temperature));
        assert_eq!(names("stream_options: extra fields"), Next::Without(Extra::StreamOptions));
        assert_eq!(names("this model cannot stream"), Next::Without(Extra::Stream));
        assert_eq!(names("response_format"), Next::Simpler);
    }

    #[test]
    fn waits_double_up_to_a_bound_and_differ_by_chance() {
        let base = Duration::from_millis(100);
        assert_eq!(backoff(base, 0, 1.0), base);
        assert_eq!(backoff(base, 0, 0.0), base / 2);
        assert_eq!(backoff(base, 3, 1.0), base * 8);
        assert_eq!(backoff(base, 4_000_000_000, 1.0), LONGEST_BACKOFF);
        assert!((0..50).all(|_| (0.0..=1.0).contains(&chance())));
    }
}
