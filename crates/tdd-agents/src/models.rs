//! The models of the three roles and their spending limits.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tdd_core::config::{Config, Price as Configured};
use tdd_core::cycle::Role;
use tdd_core::seam::Budget;
use tdd_llm::blocking::Caller;
use tdd_llm::budget::{self, Limit, Meter, Price};
use tdd_llm::client::{Answer, Ask};
use tdd_llm::error::LlmError;
use tdd_llm::http::{Endpoint, HttpClient, Timeouts};
use tdd_llm::model::Model;
use tdd_llm::recorder::Tape;
use tdd_llm::replay::Replay;
use tdd_llm::stop::Stop;

use crate::agent::RoleModel;
use crate::roster::{self, RoleConfig};

/// Why the models cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelsError {
    /// The config names no model for a role.
    #[error("no model is configured for the {0}")]
    NoModel(Role),
    /// The config names no server for a model.
    #[error("no server is configured for the {role}'s model `{model}`")]
    NoServer {
        /// The role.
        role: Role,
        /// The model's name in the config.
        model: String,
    },
    /// The runtime for calls could not be started.
    #[error("cannot start the runtime")]
    Runtime(#[source] io::Error),
    /// The client or the cassette cannot be used.
    #[error("the model gave no answer")]
    Model(#[from] LlmError),
}

impl ModelsError {
    /// What the user can do.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoModel(role) => {
                Some(format!("set `roles.{role}.model` in `tdd.yaml`, or see it all work: `tdd-cli demo`"))
            }
            Self::NoServer { .. } => {
                Some("set `llm.base_url` in `tdd.yaml`, or name a provider before the model".to_owned())
            }
            Self::Runtime(_) => None,
            Self::Model(error) => error.hint().map(str::to_owned),
        }
    }
}

/// An environment variable's value.
pub type Vars<'v> = &'v dyn Fn(&str) -> Option<String>;

/// What calls to servers need from outside.
pub struct Outside<'v> {
    /// The environment, which holds the API keys.
    pub vars: Vars<'v>,
    /// Ends pending calls.
    pub stop: Stop,
    /// Receives a line whenever a server demands a wait.
    pub tell: Arc<dyn Fn(&str) + Send + Sync>,
    /// The time that all calls have together.
    pub max_time: Option<Duration>,
}

/// The model of each role.
pub struct RoleModels {
    models: BTreeMap<Role, (String, Model)>,
    shared: Rc<Shared>,
}

/// What the models of all roles share.
struct Shared {
    caller: Caller,
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
    /// The configured models. All answers are written to the cassette `record`, if there is one.
    pub fn configured<W>(config: &Config, outside: &Outside<'_>, record: Option<W>) -> Result<Self, ModelsError>
    where
        W: Write + Send + 'static,
    {
        let seats = roster::roster(config);
        if let Some(role) = Role::ALL.into_iter().find(|role| !seats.iter().any(|seat| seat.role == *role)) {
            return Err(ModelsError::NoModel(role));
        }
        let keys = seats.iter().filter_map(|seat| seat.route.as_ref().ok()?.server.key(outside.vars)).collect();
        let tape = record.map(|out| Tape::new(out, keys));
        let mut models = BTreeMap::new();
        for seat in seats {
            let endpoint = endpoint(&seat, config, outside.vars)?.ending_after(outside.max_time);
            let tell = Arc::clone(&outside.tell);
            let client = HttpClient::new(endpoint, outside.stop.clone())?.with_wait_listener(move |text| tell(text));
            models.insert(seat.role, (seat.model, Model::at(client, tape.clone())));
        }
        Self::with(models, config)
    }

    /// Every role replays a cassette.
    pub fn replayed(cassette: &str, config: &Config) -> Result<Self, ModelsError> {
        let mut models = BTreeMap::new();
        for role in Role::ALL {
            models.insert(role, ("replay".to_owned(), Model::Replay(Replay::of(cassette)?)));
        }
        Self::with(models, config)
    }

    fn with(models: BTreeMap<Role, (String, Model)>, config: &Config) -> Result<Self, ModelsError> {
        let caller = Caller::new().map_err(ModelsError::Runtime)?;
        let limit = Limit {
            tokens: config.llm.budget.tokens.map(std::num::NonZeroU64::get),
            micro_usd: config.llm.budget.usd.map(budget::micro_usd),
        };
        let prices = config.llm.prices.iter().map(|(model, price)| (model.clone(), micro(price))).collect();
        Ok(Self { models, shared: Rc::new(Shared { caller, limit, prices }) })
    }

    /// Takes the model of a role.
    pub fn of(&mut self, role: Role) -> Result<ConfiguredModel, ModelsError> {
        let (name, model) = self.models.remove(&role).ok_or(ModelsError::NoModel(role))?;
        Ok(ConfiguredModel { name, model, shared: Rc::clone(&self.shared) })
    }
}

impl RoleModel for ConfiguredModel {
    fn ask(&self, ask: &Ask) -> Result<(Answer, Duration), LlmError> {
        self.shared.caller.ask(&self.model, ask)
    }

    fn ask_all(&self, asks: &[Ask]) -> Vec<Result<(Answer, Duration), LlmError>> {
        self.shared.caller.ask_all(&self.model, asks)
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
pub fn endpoint(seat: &RoleConfig, config: &Config, vars: Vars<'_>) -> Result<Endpoint, ModelsError> {
    let route =
        seat.route.clone().map_err(|missing| ModelsError::NoServer { role: seat.role, model: missing.model })?;
    Ok(Endpoint {
        key: route.server.key(vars),
        temperature: seat.temperature,
        timeouts: Timeouts::within(Duration::from_secs(config.llm.timeout_secs.get())),
        max_retries: config.llm.max_retries,
        ..Endpoint::new(route)
    })
}

fn micro(price: &Configured) -> Price {
    Price {
        prompt: budget::micro_usd(price.prompt),
        cached: price.cached.map(budget::micro_usd),
        completion: budget::micro_usd(price.completion),
    }
}
