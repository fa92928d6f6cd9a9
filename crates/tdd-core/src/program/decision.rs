//! Decides whether an iteration's commits stay, purely from what was measured on its last commit.

use super::evaluation::Measured;
use super::metric::{Proven, Ratchet, Step};

/// What was measured on an iteration's last commit, in a clean copy.
#[derive(Clone, Debug, PartialEq)]
pub struct IterationFacts {
    /// A changed file outside the fence.
    pub outside: Option<String>,
    /// The result of the evaluation, or why it is invalid.
    pub evaluation: Result<Measured, String>,
    /// The result of a second evaluation; `None` if there was none.
    pub again: Option<Result<Measured, String>>,
    /// The numbers of the held-out checks that failed, from 1.
    pub held_out_failed: Vec<usize>,
    /// The state of the commit's checks.
    pub checks: Checks,
}

/// The state of a commit's checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checks {
    /// None are configured.
    None,
    /// They passed.
    Passed,
    /// They failed.
    Failed,
    /// They have not finished.
    Pending,
}

/// What happens to an iteration.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Decision {
    /// Its commits stay.
    Accept {
        /// The proven metric.
        metric: Proven,
    },
    /// Its commits stay until their checks have finished.
    Pending {
        /// The proven metric.
        metric: Proven,
    },
    /// Its commits are removed.
    Discard {
        /// The measured metric, if any.
        metric: Option<f64>,
        /// The reason.
        reason: String,
    },
    /// The checks of its pushed commit failed: the commits stay, and a person must decide.
    Stop {
        /// The proven metric.
        metric: Proven,
    },
}

/// Decides about an iteration.
pub fn decide(ratchet: Ratchet, seen: &IterationFacts) -> Decision {
    if let Some(path) = &seen.outside {
        return discard(None, format!("target-fence: `{path}` was changed, but it is not in the program's target"));
    }
    let measured = match &seen.evaluation {
        Ok(measured) => measured,
        Err(why) => return discard(None, format!("the evaluation does not count: {why}")),
    };
    let Some(again) = &seen.again else {
        let reason = falls_short(ratchet, measured);
        return discard(Some(measured.metric), reason.unwrap_or_else(|| "it was measured only once".to_owned()));
    };
    if let Some(reason) = falls_short(ratchet, measured) {
        return discard(Some(measured.metric), reason);
    }
    let proven = match again {
        Err(why) => return discard(Some(measured.metric), format!("not reproduced: {why}")),
        Ok(again) => match falls_short(ratchet, again) {
            Some(reason) => return discard(Some(again.metric), format!("not reproduced: {reason}")),
            None => Proven::of(ratchet.direction(), measured.metric, again.metric),
        },
    };
    if let Some(check) = seen.held_out_failed.first() {
        let from = ratchet.best().map_or_else(|| "nothing".to_owned(), |best| best.to_string());
        let reason = format!("held-out check {check} fails, while the metric went from {from} to {}", proven.value());
        return discard(Some(proven.value()), reason);
    }
    match seen.checks {
        Checks::None | Checks::Passed => Decision::Accept { metric: proven },
        Checks::Pending => Decision::Pending { metric: proven },
        Checks::Failed => Decision::Stop { metric: proven },
    }
}

/// Why a measurement is not good enough, if so. Such a measurement needs no repetition.
pub fn falls_short(ratchet: Ratchet, measured: &Measured) -> Option<String> {
    if measured.failing > 0 {
        return Some(format!("{} tests are failing", measured.failing));
    }
    let best = ratchet.best().unwrap_or_default();
    let (value, word) = (measured.metric, ratchet.direction().word());
    match ratchet.compare(value) {
        Step::Worse => Some(format!("the metric went backwards, from {best} to {value} ({word} is better)")),
        Step::Same => Some(format!("the metric is still {value}")),
        Step::First | Step::Better => None,
    }
}

fn discard(metric: Option<f64>, reason: String) -> Decision {
    Decision::Discard { metric, reason }
}

#[cfg(test)]
mod tests {
    use super::super::metric::Direction;
    use super::*;

    fn ratchet(best: f64) -> Ratchet {
        let mut ratchet = Ratchet::new(Direction::Higher);
        ratchet.take(Proven::of(Direction::Higher, best, best));
        ratchet
    }

    fn measured(metric: f64) -> Measured {
        Measured { metric, passing: None, failing: 0 }
    }

    fn seen(metric: f64) -> IterationFacts {
        IterationFacts {
            outside: None,
            evaluation: Ok(measured(metric)),
            again: Some(Ok(measured(metric))),
            held_out_failed: Vec::new(),
            checks: Checks::None,
        }
    }

    fn decision(seen: &IterationFacts) -> String {
        match decide(ratchet(3.0), seen) {
            Decision::Accept { metric } => format!("accept {}", metric.value()),
            Decision::Pending { metric } => format!("pending {}", metric.value()),
            Decision::Stop { metric } => format!("stop {}", metric.value()),
            Decision::Discard { reason, .. } => reason,
        }
    }

    #[test]
    fn only_a_metric_better_than_the_best_is_accepted() {
        assert_eq!(decision(&seen(3.5)), "accept 3.5");
        assert_eq!(decision(&seen(3.0)), "the metric is still 3");
        assert_eq!(decision(&seen(2.0)), "the metric went backwards, from 3 to 2 (higher is better)");
    }

    #[test]
    fn nothing_counts_while_a_test_fails_or_the_evaluation_is_none() {
        let failing = Ok(Measured { failing: 1, ..measured(9.0) });
        assert_eq!(decision(&IterationFacts { evaluation: failing, ..seen(9.0) }), "1 tests are failing");
        let wrong = Err("it timed out".to_owned());
        assert_eq!(
            decision(&IterationFacts { evaluation: wrong, ..seen(9.0) }),
            "the evaluation does not count: it timed out"
        );
    }

    #[test]
    fn a_claim_that_cannot_be_reproduced_is_not_accepted() {
        let again = |again| decision(&IterationFacts { again: Some(again), ..seen(9.0) });
        assert_eq!(
            again(Ok(measured(2.0))),
            "not reproduced: the metric went backwards, from 3 to 2 (higher is better)"
        );
        assert_eq!(again(Err("exit 1".to_owned())), "not reproduced: exit 1");
        assert_eq!(again(Ok(measured(5.0))), "accept 5");
        assert_eq!(decision(&IterationFacts { again: None, ..seen(9.0) }), "it was measured only once");
    }

    #[test]
    fn a_metric_that_rises_while_held_out_checks_fail_is_discarded_as_such() {
        let reason = decision(&IterationFacts { held_out_failed: vec![2], ..seen(9.0) });
        assert_eq!(reason, "held-out check 2 fails, while the metric went from 3 to 9");
    }

    #[test]
    fn a_file_outside_of_the_fence_is_worse_than_any_metric_is_good() {
        let reason = decision(&IterationFacts { outside: Some("build.rs".to_owned()), ..seen(9.0) });
        assert_eq!(reason, "target-fence: `build.rs` was changed, but it is not in the program's target");
    }

    #[test]
    fn nothing_is_accepted_before_its_checks_have_concluded() {
        assert_eq!(decision(&IterationFacts { checks: Checks::Pending, ..seen(4.0) }), "pending 4");
        assert_eq!(decision(&IterationFacts { checks: Checks::Passed, ..seen(4.0) }), "accept 4");
        assert_eq!(decision(&IterationFacts { checks: Checks::Failed, ..seen(4.0) }), "stop 4");
    }
}
