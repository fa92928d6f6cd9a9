//! Counts what models cost, in whole micro-dollars, against a spending limit.

use std::collections::BTreeMap;

use crate::client::Usage;

/// Number of tokens that a price covers.
const MILLION: u128 = 1_000_000;

/// Price of a million tokens of a model, in micro-dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Price {
    /// Price of prompt tokens.
    pub prompt: u64,
    /// Price of cached prompt tokens; `prompt` if absent.
    pub cached: Option<u64>,
    /// Price of completion tokens.
    pub completion: u64,
}

/// Spending limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limit {
    /// Prompt and completion tokens together.
    pub tokens: Option<u64>,
    /// Micro-dollars.
    pub micro_usd: Option<u64>,
}

/// Spent tokens and money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Prompt and completion tokens together.
    pub tokens: u64,
    /// Micro-dollars, rounded up.
    pub micro_usd: u64,
    /// Whether every call had a price. If not, a limit in money cannot be enforced.
    pub priced: bool,
}

/// Adds up the cost of calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meter {
    limit: Limit,
    prices: BTreeMap<String, Price>,
    tokens: u64,
    /// In millionths of a micro-dollar, so that rounding errors do not add up.
    cost: u128,
    unpriced: bool,
}

impl Meter {
    /// A meter at zero. The keys of `prices` are the model names passed to [`Meter::spend`].
    pub fn new(limit: Limit, prices: BTreeMap<String, Price>) -> Self {
        Self { limit, prices, ..Self::default() }
    }

    /// Counts one call and returns its cost.
    pub fn spend(&mut self, model: &str, usage: &Usage) -> Spent {
        let tokens = usage.prompt.saturating_add(usage.completion);
        let cost = self.prices.get(model).map(|price| cost(price, usage));
        self.tokens = self.tokens.saturating_add(tokens);
        self.cost = self.cost.saturating_add(cost.unwrap_or_default());
        self.unpriced |= cost.is_none() && tokens > 0;
        Spent { tokens, micro_usd: rounded_up(cost.unwrap_or_default()), priced: cost.is_some() }
    }

    /// The total of all calls.
    pub fn spent(&self) -> Spent {
        Spent { tokens: self.tokens, micro_usd: rounded_up(self.cost), priced: !self.unpriced }
    }

    /// The rest of each limit.
    pub fn left(&self) -> Limit {
        let spent = self.spent();
        Limit {
            tokens: self.limit.tokens.map(|limit| limit.saturating_sub(spent.tokens)),
            micro_usd: self.limit.micro_usd.map(|limit| limit.saturating_sub(spent.micro_usd)),
        }
    }

    /// Whether any limit is used up.
    pub fn is_spent(&self) -> bool {
        let left = self.left();
        left.tokens == Some(0) || left.micro_usd == Some(0)
    }
}

/// Converts dollars to micro-dollars; negative amounts and `NaN` become 0.
pub fn micro_usd(dollars: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` ends at the type's bounds")]
    let micros = (dollars * 1_000_000.0).round() as u64;
    micros
}

/// In millionths of a micro-dollar.
fn cost(price: &Price, usage: &Usage) -> u128 {
    let of = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
    let cached = usage.cached.min(usage.prompt);
    let prompt = of(usage.prompt - cached, price.prompt) + of(cached, price.cached.unwrap_or(price.prompt));
    prompt.saturating_add(of(usage.completion, price.completion))
}

fn rounded_up(cost: u128) -> u64 {
    u64::try_from(cost.div_ceil(MILLION)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICE: Price = Price { prompt: 400_000, cached: Some(100_000), completion: 1_600_000 };

    fn meter(limit: Limit) -> Meter {
        Meter::new(limit, BTreeMap::from([("m".to_owned(), PRICE)]))
    }

    fn usage(prompt: u64, cached: u64, completion: u64) -> Usage {
        Usage { prompt, cached, completion }
    }

    #[test]
    fn a_call_costs_what_its_tokens_cost() {
        let spent = meter(Limit::default()).spend("m", &usage(1_000_000, 500_000, 1_000_000));
        assert_eq!(spent, Spent { tokens: 2_000_000, micro_usd: 200_000 + 50_000 + 1_600_000, priced: true });
    }

    #[test]
    fn cached_tokens_without_a_price_cost_what_others_cost() {
        let mut meter =
            Meter::new(Limit::default(), BTreeMap::from([("m".to_owned(), Price { cached: None, ..PRICE })]));
        assert_eq!(meter.spend("m", &usage(1_000_000, 1_000_000, 0)).micro_usd, 400_000);
    }

    #[test]
    fn small_calls_are_not_rounded_each_for_itself() {
        let mut meter = meter(Limit::default());
        for _ in 0..1000 {
            assert_eq!(meter.spend("m", &usage(1, 0, 0)).micro_usd, 1);
        }
        assert_eq!(meter.spent().micro_usd, 400);
    }

    #[test]
    fn a_limit_is_spent_when_nothing_is_left_of_it() {
        let mut meter = meter(Limit { tokens: Some(10), micro_usd: Some(1000) });
        let _ = meter.spend("m", &usage(8, 0, 1));
        assert_eq!((meter.left().tokens, meter.is_spent()), (Some(1), false));
        let _ = meter.spend("m", &usage(8, 0, 1));
        assert_eq!((meter.left().tokens, meter.is_spent()), (Some(0), true));
    }

    #[test]
    fn money_runs_out_too() {
        let mut meter = meter(Limit { tokens: None, micro_usd: Some(100) });
        let _ = meter.spend("m", &usage(0, 0, 62));
        assert_eq!((meter.left().micro_usd, meter.is_spent()), (Some(0), true));
    }

    #[test]
    fn without_a_limit_nothing_is_ever_spent() {
        let mut meter = meter(Limit::default());
        let _ = meter.spend("m", &usage(u64::MAX, u64::MAX, u64::MAX));
        let _ = meter.spend("m", &usage(u64::MAX, 0, u64::MAX));
        assert_eq!((meter.left(), meter.is_spent()), (Limit::default(), false));
    }

    #[test]
    fn a_model_without_a_price_is_said_so() {
        let mut meter = meter(Limit::default());
        assert!(!meter.spend("other", &usage(1, 0, 1)).priced);
        assert!(!meter.spent().priced);
    }

    #[test]
    fn dollars_become_micro_dollars_without_a_surprise() {
        assert_eq!([0.1, 0.29, 1.1, 2.5].map(micro_usd), [100_000, 290_000, 1_100_000, 2_500_000]);
        assert_eq!([-1.0, f64::NAN].map(micro_usd), [0, 0]);
    }
}
