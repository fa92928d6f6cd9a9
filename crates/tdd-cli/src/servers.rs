//! Asks the servers of the configured models what they can do, for a person who wonders.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use tdd_agents::roster::{self, Seat};
use tdd_core::config::Config;
use tdd_llm::http::HttpClient;
use tdd_llm::probe::{self, Capabilities, Contact, Finding};
use tdd_llm::stop::Stop;
use tokio::runtime::Builder;

use crate::context::Context;
use crate::error::CliError;
use crate::progress::Progress;
use crate::voice::endpoint;

/// What was found about one model, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// The model and its server.
    pub subject: String,
    /// What it means for a run.
    pub grade: Grade,
    /// What was found.
    pub detail: String,
    /// What to do.
    pub fix: Option<String>,
}

/// What a finding means for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grade {
    /// Nothing is wrong.
    Fine,
    /// Worth a look.
    Flaw,
    /// No run can work so.
    Fault,
}

/// A model at a server, to be asked.
struct Candidate {
    subject: String,
    model: String,
    client: HttpClient,
}

/// Nobody waits longer for a connection: a server that is not there is to be found out soon.
const CONNECT: Duration = Duration::from_secs(2);
/// So many of a server's models are named.
const MAX_LISTED: usize = 10;

/// Asks every model once, whoever plays with it; different servers at the same time.
pub fn ask(config: &Config, context: &Context) -> Vec<Remark> {
    let progress = Progress::begin();
    progress.say("asking the model servers");
    let cancel = context.cancel.clone();
    let stop = Stop::watching(move || cancel.is_cancelled());
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
        let asked: Vec<_> = servers.values().map(|candidates| scope.spawn(|| ask_server(candidates))).collect();
        remarks.extend(asked.into_iter().flat_map(|server| server.join().unwrap_or_default()));
    });
    remarks
}

fn client(seat: &Seat, config: &Config, stop: &Stop) -> Result<HttpClient, CliError> {
    let mut endpoint = endpoint(seat, config)?;
    endpoint.timeouts.connect = endpoint.timeouts.connect.min(CONNECT);
    Ok(HttpClient::new(endpoint, stop.clone())?)
}

/// Asks the models of one server one after the other; none but the first if it is not there.
fn ask_server(candidates: &[Candidate]) -> Vec<Remark> {
    let Ok(runtime) = Builder::new_current_thread().enable_all().build() else { return Vec::new() };
    let mut remarks = Vec::new();
    let mut gone = None;
    for Candidate { subject, model, client } in candidates {
        let found = gone.clone().unwrap_or_else(|| runtime.block_on(probe::probe(client)));
        remarks.extend(self::remarks(subject, model, &found));
        gone = matches!(found.contact, Contact::Unreachable(_)).then_some(found);
    }
    remarks
}

/// What a server's answers mean for a run.
fn remarks(subject: &str, model: &str, found: &Capabilities) -> Vec<Remark> {
    let remark = |grade, detail: String, fix: &str| Remark {
        subject: subject.to_owned(),
        grade,
        detail,
        fix: Some(fix.to_owned()),
    };
    match &found.contact {
        Contact::Answers => {}
        Contact::Denied(why) => {
            let fix =
                "put a valid key into the variable that `api_key_env` names in `tdd.yaml`; the gates need no model";
            return vec![remark(Grade::Fault, format!("refuses the key: {why}"), fix)];
        }
        Contact::UnknownModel(why) => {
            let detail = format!("cannot be asked: {why}; {}", models_of(model, found));
            let fix = "correct the model's name under `roles` in `tdd.yaml`, or add the model to the server";
            return vec![remark(Grade::Fault, detail, fix)];
        }
        Contact::Unreachable(why) | Contact::Refused(why) | Contact::Silent(why) => {
            let fix = "start the server, or correct `llm.base_url` and the key; the gates need no model";
            return vec![remark(Grade::Flaw, format!("gives no answer: {why}"), fix)];
        }
    }
    let answers = format!("answers; {}", abilities(found));
    let mut remarks = vec![Remark { fix: None, ..remark(Grade::Fine, answers, "") }];
    let known = found.models.as_ref().filter(|models| !models.is_empty());
    if known.is_some_and(|models| !models.iter().any(|name| name == model)) {
        let detail = format!("the server does not list `{model}`; {}", models_of(model, found));
        remarks.push(remark(Grade::Flaw, detail, "correct the model's name under `roles` in `tdd.yaml`"));
    }
    let lacks = |finding: &Finding| matches!(finding, Finding::No(_));
    if lacks(&found.json_schema) && lacks(&found.json_object) {
        let detail = "takes no `response_format`, so answers are read out of plain text".to_owned();
        remarks.push(remark(Grade::Flaw, detail, "it works, with more answers that cannot be used"));
    }
    if lacks(&found.usage) {
        let detail = "counts no tokens, so a budget in tokens or dollars does not hold".to_owned();
        remarks.push(remark(Grade::Flaw, detail, "limit the run by `--steps` or `--max-minutes`"));
    }
    remarks
}

/// The models that a server lists: those whose names are nearest to this one first.
fn models_of(model: &str, found: &Capabilities) -> String {
    let mut models = found.models.clone().unwrap_or_default();
    if models.is_empty() {
        return "the server lists no models".to_owned();
    }
    let near = |name: &str| strsim::jaro_winkler(model, name);
    models.sort_by(|a, b| near(b).total_cmp(&near(a)));
    let plain = |name: &String| name.chars().filter(|char| !char.is_control()).take(100).collect::<String>();
    let listed: Vec<String> = models.iter().take(MAX_LISTED).map(|name| format!("`{}`", plain(name))).collect();
    let more = match models.len() - listed.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("it has {}{more}", listed.join(", "))
}

fn abilities(found: &Capabilities) -> String {
    let all = [
        ("json_schema", &found.json_schema),
        ("json_object", &found.json_object),
        ("tools", &found.tools),
        ("streaming", &found.streaming),
        ("usage", &found.usage),
    ];
    let word = |finding: &Finding| match finding {
        Finding::Yes => "yes",
        Finding::No(_) => "no",
        Finding::Unknown(_) => "unknown",
    };
    all.map(|(name, finding)| format!("{name} {}", word(finding))).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn able() -> Capabilities {
        Capabilities {
            contact: Contact::Answers,
            models: Some(vec!["m".to_owned()]),
            json_schema: Finding::Yes,
            json_object: Finding::Yes,
            tools: Finding::No("text".to_owned()),
            streaming: Finding::Yes,
            usage: Finding::Yes,
        }
    }

    fn said(found: &Capabilities) -> Vec<String> {
        remarks("m at s", "m", found)
            .into_iter()
            .map(|remark| format!("{:?} {}", remark.grade, remark.detail))
            .collect()
    }

    #[test]
    fn a_server_that_can_do_it_all_is_told_in_one_line() {
        let line = "Fine answers; json_schema yes, json_object yes, tools no, streaming yes, usage yes";
        assert_eq!(said(&able()), [line]);
    }

    #[test]
    fn what_a_server_lacks_comes_with_what_that_means() {
        let no = || Finding::No("no".to_owned());
        let weak = Capabilities {
            models: Some(vec!["other".to_owned()]),
            json_schema: no(),
            json_object: no(),
            usage: no(),
            ..able()
        };
        let said = said(&weak);
        assert!(said[1].contains("does not list `m`; it has `other`"), "{said:?}");
        assert!(said[2].contains("plain text") && said[3].contains("counts no tokens"), "{said:?}");
    }

    #[test]
    fn what_could_not_be_found_out_is_no_complaint() {
        let slow = || Finding::Unknown("slow".to_owned());
        let busy = Capabilities { json_schema: slow(), json_object: slow(), usage: slow(), ..able() };
        assert_eq!(said(&busy).len(), 1);
    }

    #[test]
    fn a_server_that_is_not_there_is_said_once() {
        let gone = Capabilities { contact: Contact::Unreachable("refused".to_owned()), ..able() };
        assert_eq!(said(&gone), ["Flaw gives no answer: refused"]);
    }
}
