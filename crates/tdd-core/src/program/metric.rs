//! The ratchet: a best metric that cannot get worse, by type.
//!
//! It takes only values that were measured twice, and nothing else can change it:
//!
//! ```compile_fail,E0616
//! let mut ratchet = tdd_core::program::metric::Ratchet::default();
//! ratchet.best = Some(99.0);
//! ```

use serde::{Deserialize, Serialize};

/// Which direction is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Higher is better.
    #[default]
    Higher,
    /// Lower is better.
    Lower,
}

/// The worse of two measurements of the same commit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proven(f64);

/// The best metric so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ratchet {
    direction: Direction,
    best: Option<f64>,
}

/// `Eq` holds, because metrics are finite (never NaN).
impl Eq for Ratchet {}

/// How a value compares with the best one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// There was no best value yet.
    First,
    /// Better.
    Better,
    /// The same.
    Same,
    /// Worse.
    Worse,
}

impl Direction {
    /// The direction as a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Higher => "higher",
            Self::Lower => "lower",
        }
    }

    /// Compares a value with another.
    pub fn compare(self, value: f64, best: f64) -> Step {
        let (value, best) = match self {
            Self::Higher => (value, best),
            Self::Lower => (best, value),
        };
        if value > best {
            Step::Better
        } else if value < best {
            Step::Worse
        } else {
            Step::Same
        }
    }

    /// Whether a value reaches a target.
    pub fn reaches(self, value: f64, target: f64) -> bool {
        self.compare(value, target) != Step::Worse
    }

    fn worse(self, one: f64, other: f64) -> f64 {
        if self.compare(one, other) == Step::Worse { one } else { other }
    }
}

impl Proven {
    /// The worse of two measurements of the same commit.
    pub fn of(direction: Direction, first: f64, again: f64) -> Self {
        Self(direction.worse(first, again))
    }

    /// The value.
    pub fn value(self) -> f64 {
        self.0
    }
}

impl Ratchet {
    /// A ratchet without a value.
    pub fn new(direction: Direction) -> Self {
        Self { direction, best: None }
    }

    /// The best metric so far.
    pub fn best(self) -> Option<f64> {
        self.best
    }

    /// Which direction is better.
    pub fn direction(self) -> Direction {
        self.direction
    }

    /// Compares a value with the best one.
    pub fn compare(self, value: f64) -> Step {
        self.best.map_or(Step::First, |best| self.direction.compare(value, best))
    }

    /// Whether a value is better than the best one, or the first.
    pub fn is_improved_by(self, value: f64) -> bool {
        matches!(self.compare(value), Step::First | Step::Better)
    }

    /// Takes a value; a worse one changes nothing.
    pub fn take(&mut self, value: Proven) -> Step {
        let step = self.compare(value.0);
        match step {
            Step::First | Step::Better => self.best = Some(value.0),
            Step::Same | Step::Worse => {}
        }
        step
    }

    /// The ratchet for a direction. If the direction changes, the best value is dropped.
    #[must_use]
    pub fn towards(self, direction: Direction) -> Self {
        if self.direction == direction || self.best.is_none() {
            Self { direction, ..self }
        } else {
            Self::new(direction)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn whatever_is_offered_the_best_never_goes_backwards(values in proptest::collection::vec(-1e6..1e6_f64, 1..40), up: bool) {
            let direction = if up { Direction::Higher } else { Direction::Lower };
            let mut ratchet = Ratchet::new(direction);
            for value in values {
                let before = ratchet.best();
                ratchet.take(Proven::of(direction, value, value));
                let after = ratchet.best().unwrap();
                prop_assert!(before.is_none_or(|before| direction.compare(after, before) != Step::Worse));
                prop_assert!(direction.compare(after, value) != Step::Worse);
            }
        }
    }

    #[test]
    fn of_two_measurements_the_worse_one_holds() {
        assert_eq!(Proven::of(Direction::Higher, 3.0, 2.0).value().to_bits(), 2.0_f64.to_bits());
        assert_eq!(Proven::of(Direction::Lower, 3.0, 2.0).value().to_bits(), 3.0_f64.to_bits());
    }

    #[test]
    fn only_the_first_value_and_a_better_one_improve() {
        let at = |best: Option<f64>| Ratchet { direction: Direction::Higher, best };
        assert!(at(None).is_improved_by(3.0) && at(Some(3.0)).is_improved_by(4.0));
        assert!(!at(Some(3.0)).is_improved_by(3.0) && !at(Some(3.0)).is_improved_by(2.0));
    }

    #[test]
    fn lower_can_be_better() {
        let mut ratchet = Ratchet::new(Direction::Lower);
        assert_eq!(ratchet.take(Proven(2.0)), Step::First);
        assert_eq!(ratchet.take(Proven(2.5)), Step::Worse);
        assert_eq!(ratchet.take(Proven(2.0)), Step::Same);
        assert_eq!(ratchet.take(Proven(1.0)), Step::Better);
        assert!(Direction::Lower.reaches(1.0, 1.0) && !Direction::Lower.reaches(1.1, 1.0));
        assert_eq!(ratchet.towards(Direction::Higher).best(), None);
    }
}
