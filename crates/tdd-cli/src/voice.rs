//! Gives the models of the roles what they need from this process: environment, Ctrl-C, notes and cassettes.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tdd_agents::models::{Outside, RoleModels};
use tdd_core::config::Config;
use tdd_llm::stop::Stop;

use crate::context::Context;
use crate::error::CliError;

/// The configured models, for a run of at most `max_time`. If `record` is set, all answers are written to that
/// cassette.
pub fn configured(
    config: &Config,
    context: &Context,
    record: Option<&Path>,
    max_time: Option<Duration>,
) -> Result<RoleModels, CliError> {
    let open = |path: &Path| {
        let file = File::options().create(true).append(true).open(path);
        file.map_err(|source| CliError::Cassette { path: path.to_owned(), source })
    };
    let output = context.output;
    let tell = Arc::new(move |text: &str| output.note(text));
    let outside = Outside { vars: &variable, stop: stop(context), tell, max_time };
    Ok(RoleModels::configured(config, &outside, record.map(open).transpose()?)?)
}

/// Ends pending calls at Ctrl-C.
pub fn stop(context: &Context) -> Stop {
    let cancel = context.cancel.clone();
    Stop::watching(move || cancel.is_cancelled())
}

/// A variable of our environment.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
