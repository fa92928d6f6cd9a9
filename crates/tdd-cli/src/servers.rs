//! Probes the servers of the configured models for `doctor`.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use tdd_agents::models::{self, ModelsError};
use tdd_agents::remarks::{self, Grade, Remark};
use tdd_agents::roster::{self, RoleConfig};
use tdd_core::config::Config;
use tdd_llm::blocking::Caller;
use tdd_llm::http::HttpClient;
use tdd_llm::probe::Contact;
use tdd_llm::stop::Stop;

use crate::context::Context;
use crate::progress::Progress;
use crate::voice;

/// A model to probe.
struct Candidate {
    subject: String,
    model: String,
    client: HttpClient,
}

/// Connection timeout; short, so that a missing server is found quickly.
const CONNECT: Duration = Duration::from_secs(2);

/// Probes each model once, even if several roles use it; different servers in parallel.
pub fn ask(config: &Config, context: &Context) -> Vec<Remark> {
    let progress = Progress::begin();
    progress.say("asking the model servers");
    let stop = voice::stop(context);
    let mut remarks = Vec::new();
    let mut servers: BTreeMap<String, Vec<Candidate>> = BTreeMap::new();
    for seat in roster::roster(config) {
        let Ok(route) = &seat.route else { continue };
        let subject = format!("{} at {}", route.model, route.server.base_url);
        let candidates = servers.entry(route.server.base_url.clone()).or_default();
        if candidates.iter().any(|known| known.subject == subject) {
            continue;
        }
        match client(&seat, config, &stop) {
            Ok(client) => candidates.push(Candidate { subject, model: route.model.clone(), client }),
            Err(error) => {
                remarks.push(Remark { subject, grade: Grade::Fault, detail: error.to_string(), fix: error.hint() });
            }
        }
    }
    thread::scope(|scope| {
        let threads: Vec<_> = servers.values().map(|candidates| scope.spawn(|| ask_server(candidates))).collect();
        remarks.extend(threads.into_iter().flat_map(|server| server.join().unwrap_or_default()));
    });
    remarks
}

fn client(seat: &RoleConfig, config: &Config, stop: &Stop) -> Result<HttpClient, ModelsError> {
    let mut endpoint = models::endpoint(seat, config, &voice::variable)?;
    endpoint.timeouts.connect = endpoint.timeouts.connect.min(CONNECT);
    Ok(HttpClient::new(endpoint, stop.clone())?)
}

/// Probes a server's models in sequence; stops after the first if the server is unreachable.
fn ask_server(candidates: &[Candidate]) -> Vec<Remark> {
    let Ok(caller) = Caller::new() else { return Vec::new() };
    let mut remarks = Vec::new();
    let mut gone = None;
    for Candidate { subject, model, client } in candidates {
        let found = gone.clone().unwrap_or_else(|| caller.probe(client));
        remarks.extend(remarks::remarks(subject, model, &found));
        gone = matches!(found.contact, Contact::Unreachable(_)).then_some(found);
    }
    remarks
}
