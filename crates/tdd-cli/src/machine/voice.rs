//! The models of the three roles, and what they may cost.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::time::Duration;

use secrecy::SecretString;
use tdd_agents::roster::{self, Seat};
use tdd_core::config::{Config, Price as Configured};
use tdd_core::cycle::Role;
use tdd_core::standing::Usage;
use tdd_llm::budget::{self, Limit, Meter, Price};
use tdd_llm::client::{Answer, Ask};
use tdd_llm::error::LlmError;
use tdd_llm::http::{Endpoint, HttpClient, Timeouts};
use tdd_llm::model::Model;
use tdd_llm::recorder::Tape;
use tdd_llm::replay::Replay;
use tdd_llm::stop::Stop;
use tdd_llm::whole::chat_whole;
use tokio::runtime::{Builder, Runtime};

use super::End;
use crate::context::Context;
use crate::error::CliError;

/// So often an answer in words that was cut off is continued.
const MAX_CONTINUATIONS: u32 = 3;

/// Who answers for each role.
pub struct Voice {
    runtime: Runtime,
    models: BTreeMap<Role, (String, Model)>,
    limit: Limit,
    prices: BTreeMap<String, Price>,
}

impl Voice {
    /// The models that the configuration names; `record` is where all that they say is written to.
    pub fn configured(config: &Config, context: &Context, record: Option<&Path>) -> Result<Self, CliError> {
        let seats = roster::roster(config);
        if let Some(role) = Role::ALL.into_iter().find(|role| !seats.iter().any(|seat| seat.role == *role)) {
            return Err(CliError::NoModel(role));
        }
        let keys: Vec<SecretString> = seats.iter().filter_map(key).collect();
        let tape = record.map(|path| tape(path, keys)).transpose()?;
        let cancel = context.cancel.clone();
        let stop = Stop::watching(move || cancel.is_cancelled());
        let mut models = BTreeMap::new();
        for seat in seats {
            let client = HttpClient::new(endpoint(&seat, config)?, stop.clone())?;
            models.insert(seat.role, (seat.model, Model::at(client, tape.clone())));
        }
        Self::of(models, config)
    }

    /// Every role plays from a cassette.
    pub fn replayed(cassette: &str, config: &Config) -> Result<Self, CliError> {
        let mut models = BTreeMap::new();
        for role in Role::ALL {
            models.insert(role, ("replay".to_owned(), Model::Replay(Replay::of(cassette)?)));
        }
        Self::of(models, config)
    }

    fn of(models: BTreeMap<Role, (String, Model)>, config: &Config) -> Result<Self, CliError> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(CliError::Runtime)?;
        let limit = Limit {
            tokens: config.llm.budget.tokens.map(std::num::NonZeroU64::get),
            micro_usd: config.llm.budget.usd.map(budget::micro_usd),
        };
        let prices = config.llm.prices.iter().map(|(model, price)| (model.clone(), micro(price))).collect();
        Ok(Self { runtime, models, limit, prices })
    }

    /// What a role's model answers.
    pub fn ask(&self, role: Role, ask: &Ask) -> Result<Answer, CliError> {
        let (_, model) = self.models.get(&role).ok_or(CliError::NoModel(role))?;
        match self.runtime.block_on(chat_whole(model, ask, MAX_CONTINUATIONS)) {
            Err(LlmError::Cancelled) => Err(CliError::Interrupted),
            other => Ok(other?),
        }
    }

    /// What an answer cost, in millionths of a US dollar; nothing where no price is configured.
    pub fn price(&self, role: Role, answer: &Answer) -> u64 {
        let configured = self.models.get(&role).map(|(name, _)| name.as_str()).unwrap_or_default();
        let mut meter = Meter::new(Limit::default(), self.prices.clone());
        let name = if self.prices.contains_key(configured) { configured } else { answer.model.as_str() };
        meter.spend(name, &answer.usage).micro_usd
    }

    /// What may be spent.
    pub fn budget(&self) -> Limit {
        self.limit
    }

    /// The end of a run that has spent all that it may.
    pub fn spent(&self, usage: &Usage) -> Option<End> {
        if self.limit.tokens.is_some_and(|most| usage.tokens() >= most) {
            return Some(End::Spent { what: "tokens", next: "raise `llm.budget.tokens` in tdd.yaml".to_owned() });
        }
        if self.limit.micro_usd.is_some_and(|most| usage.micro_usd >= most) {
            return Some(End::Spent { what: "dollars", next: "raise `llm.budget.usd` in tdd.yaml".to_owned() });
        }
        None
    }
}

/// Where a seat's model is, and how to ask it.
pub fn endpoint(seat: &Seat, config: &Config) -> Result<Endpoint, CliError> {
    let route = seat.route.clone().map_err(|missing| CliError::NoServer { role: seat.role, model: missing.model })?;
    Ok(Endpoint {
        key: key(seat),
        temperature: seat.temperature,
        timeouts: Timeouts::within(Duration::from_secs(config.llm.timeout_secs.get())),
        max_retries: config.llm.max_retries,
        ..Endpoint::new(route)
    })
}

/// The key of a seat's server; none is fine for a server that asks for none.
fn key(seat: &Seat) -> Option<SecretString> {
    let name = seat.route.as_ref().ok()?.server.api_key_env.as_ref()?;
    std::env::var(name).ok().filter(|key| !key.trim().is_empty()).map(SecretString::from)
}

fn tape(path: &Path, keys: Vec<SecretString>) -> Result<Tape, CliError> {
    let file = File::options().create(true).append(true).open(path);
    let file = file.map_err(|source| CliError::Cassette { path: path.to_owned(), source })?;
    Ok(Tape::new(file, keys))
}

fn micro(price: &Configured) -> Price {
    Price {
        prompt: budget::micro_usd(price.prompt),
        cached: price.cached.map(budget::micro_usd),
        completion: budget::micro_usd(price.completion),
    }
}
