//! Starts the orchestrator on a project with its models and a terminal.

use std::collections::BTreeMap;
use std::sync::Arc;

use tdd_agents::agent::ModelAgent;
use tdd_agents::models::RoleModels;
use tdd_agents::prompts::Prompts;
use tdd_core::cycle::Role;
use tdd_core::event::Record;
use tdd_core::machine::{Agenda, End, Machine, Mandate, Order, Start};
use tdd_core::plan::TestStep;
use tdd_core::seam::Workshop as _;
use tdd_exec::recording::Echo;
use tdd_exec::text;
use tdd_exec::workshop::{ProjectWorkshop, Which};

use crate::context::Context;
use crate::error::CliError;
use crate::kata;
use crate::output::print_raw;
use crate::tell::Story;

/// Largest prompt override, in bytes.
const MAX_PROMPT: u64 = 256 << 10;

/// Runs steps until there is a reason to stop.
pub fn run(context: &Context, order: Order, mandate: Mandate, voices: RoleModels) -> Result<End, CliError> {
    start(context, order, mandate, None, voices)
}

/// Carries out the mandates of an agenda in order, from the current position, and shows the progress of its steps.
pub fn carry_out(
    context: &Context,
    order: Order,
    agenda: Agenda,
    steps: Vec<TestStep>,
    voices: RoleModels,
) -> Result<End, CliError> {
    let first = agenda.tasks.first().cloned().unwrap_or_default();
    start(context, order, first, Some((agenda, steps)), voices)
}

fn start(
    context: &Context,
    order: Order,
    mandate: Mandate,
    plan: Option<(Agenda, Vec<TestStep>)>,
    mut voices: RoleModels,
) -> Result<End, CliError> {
    let mut workshop = context.workshop(&Which::default())?;
    if context.output.is_json() {
        workshop.recording.echo_to(print_records());
    }
    let config = &workshop.site.config;
    let kata = workshop.site.repo.root().join(config.kata_description.as_str());
    let kata = if mandate.brief.is_some() { String::new() } else { kata::read(&kata)? };
    let prompts = Arc::new(Prompts::new(own_prompts(&workshop)?).map_err(CliError::Prompts)?);
    let context_bytes = usize::try_from(config.llm.context_bytes.get()).unwrap_or(usize::MAX);
    let mut agents = Vec::new();
    for role in Role::ALL {
        let (protocol, samples) =
            config.roles.get(role).map_or_else(Default::default, |role| (role.protocol, role.samples));
        let agent = ModelAgent::new(role, voices.of(role)?, Arc::clone(&prompts), protocol, context_bytes)
            .with_samples(samples);
        agents.push(agent.known_to_answer_in_files(workshop.session().machine_state().answers_in_files(role)));
    }
    let (agenda, steps) = plan.map_or((None, Vec::new()), |(agenda, steps)| (Some(agenda), steps));
    let story = Story::new(context.output, &workshop.state, steps);
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let start = Start { order, kata, mandate, agenda, version };
    Ok(Machine::start(workshop, agents, story, start)?.run()?)
}

/// Prints every event as its ledger line.
pub fn print_records() -> Echo {
    // Write errors are reported when the program ends.
    Box::new(|record: &Record| drop(print_raw(&Record::line(&record.head, &record.event))))
}

/// The project's prompt overrides, by name.
fn own_prompts(workshop: &ProjectWorkshop) -> Result<BTreeMap<String, String>, CliError> {
    let repo = &workshop.site.repo;
    let mut prompts = BTreeMap::new();
    for file in repo.files()? {
        let name = file.strip_prefix(".tdd/prompts/").and_then(|name| name.strip_suffix(".md"));
        if let Some(name) = name {
            let text = text::read(&repo.root().join(&file), MAX_PROMPT).map_err(CliError::PromptFile)?;
            prompts.insert(name.to_owned(), text);
        }
    }
    Ok(prompts)
}
