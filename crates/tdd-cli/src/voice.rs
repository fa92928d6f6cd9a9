//! The models of the three roles and their spending limits.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use secrecy::SecretString;
use tdd_agents::agent::RoleModel;
use tdd_agents::roster::{self, RoleConfig};
use tdd_core::config::{Config, Price as Configured};
use tdd_core::cycle::Role;
use tdd_core::seam::Budget;
use tdd_llm::budget::{self, Limit, Meter, Price};
use tdd_llm::client::{Answer, Ask};
use tdd_llm::continuation::chat_whole;
use tdd_llm::error::LlmError;
use tdd_llm::http::{Endpoint, HttpClient, Timeouts};
use tdd_llm::model::Model;
use tdd_llm::recorder::Tape;
use tdd_llm::replay::Replay;
use tdd_llm::stop::Stop;
use tokio::runtime::{Builder, Runtime};

use crate::context::Context;
use crate::error::CliError;

/// How often a text answer that was cut off is continued.
const MAX_CONTINUATIONS: u32 = 3;

/// The model of each role.
pub struct RoleModels {
    models: BTreeMap<Role, (String, Model)>,
    shared: Rc<Shared>,
}

/// What the models of all roles share.
struct Shared {
    runtime: Runtime,
    limit: Limit,
    prices: BTreeMap<String, Price>,
}

/// The model of one role.
pub struct ConfiguredModel {
    name: String,
    model: Model,
    shared: Rc<Shared>,
}

impl RoleModels {
    /// The configured models, for a run of at most `max_time`. If `record` is set, all answers are written to that
    /// cassette.
    pub fn configured(
        config: &Config,
        context: &Context,
        record: Option<&Path>,
        max_time: Option<Duration>,
    ) -> Result<Self, CliError> {
        let seats = roster::roster(config);
        if let Some(role) = Role::ALL.into_iter().find(|role| !seats.iter().any(|seat| seat.role == *role)) {
            return Err(CliError::NoModel(role));
        }
        let keys: Vec<SecretString> = seats.iter().filter_map(key).collect();
        let tape = record.map(|path| tape(path, keys)).transpose()?;
        let cancel = context.cancel.clone();
        let stop = Stop::watching(move || cancel.is_cancelled());
        let until = max_time.and_then(|time| Instant::now().checked_add(time));
        let output = context.output;
        let mut models = BTreeMap::new();
        for seat in seats {
            let endpoint = Endpoint { until, ..endpoint(&seat, config)? };
            let client = HttpClient::new(endpoint, stop.clone())?.with_wait_listener(move |text| output.note(text));
            models.insert(seat.role, (seat.model, Model::at(client, tape.clone())));
        }
        Self::with(models, config)
    }

    /// Every role replays a cassette.
    pub fn replayed(cassette: &str, config: &Config) -> Result<Self, CliError> {
        let mut models = BTreeMap::new();
        for role in Role::ALL {
            models.insert(role, ("replay".to_owned(), Model::Replay(Replay::of(cassette)?)));
        }
        Self::with(models, config)
    }

    fn with(models: BTreeMap<Role, (String, Model)>, config: &Config) -> Result<Self, CliError> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(CliError::Runtime)?;
        let limit = Limit {
            tokens: config.llm.budget.tokens.map(std::num::NonZeroU64::get),
            micro_usd: config.llm.budget.usd.map(budget::micro_usd),
        };
        let prices = config.llm.prices.iter().map(|(model, price)| (model.clone(), micro(price))).collect();
        Ok(Self { models, shared: Rc::new(Shared { runtime, limit, prices }) })
    }

    /// Takes the model of a role.
    pub fn of(&mut self, role: Role) -> Result<ConfiguredModel, CliError> {
        let (name, model) = self.models.remove(&role).ok_or(CliError::NoModel(role))?;
        Ok(ConfiguredModel { name, model, shared: Rc::clone(&self.shared) })
    }
}

impl ConfiguredModel {
    async fn timed(&self, ask: &Ask) -> Result<(Answer, Duration), LlmError> {
        let asked = Instant::now();
        Ok((chat_whole(&self.model, ask, MAX_CONTINUATIONS).await?, asked.elapsed()))
    }
}

impl RoleModel for ConfiguredModel {
    fn ask(&self, ask: &Ask) -> Result<(Answer, Duration), LlmError> {
        self.shared.runtime.block_on(self.timed(ask))
    }

    fn ask_all(&self, asks: &[Ask]) -> Vec<Result<(Answer, Duration), LlmError>> {
        self.shared.runtime.block_on(join_all(asks.iter().map(|ask| self.timed(ask))))
    }

    /// 0 if no price is configured.
    fn price(&self, answer: &Answer) -> u64 {
        let mut meter = Meter::new(Limit::default(), self.shared.prices.clone());
        let is_priced = self.shared.prices.contains_key(&self.name);
        meter.spend(if is_priced { &self.name } else { &answer.model }, &answer.usage).micro_usd
    }

    fn budget(&self) -> Budget {
        Budget { tokens: self.shared.limit.tokens, micro_usd: self.shared.limit.micro_usd }
    }
}

/// The endpoint of a role's model.
pub fn endpoint(seat: &RoleConfig, config: &Config) -> Result<Endpoint, CliError> {
    let route = seat.route.clone().map_err(|missing| CliError::NoServer { role: seat.role, model: missing.model })?;
    Ok(Endpoint {
        key: key(seat),
        temperature: seat.temperature,
        timeouts: Timeouts::within(Duration::from_secs(config.llm.timeout_secs.get())),
        max_retries: config.llm.max_retries,
        ..Endpoint::new(route)
    })
}

/// The API key of a role's server, if it needs one.
fn key(seat: &RoleConfig) -> Option<SecretString> {
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
