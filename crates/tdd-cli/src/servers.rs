//! Asks the servers of the configured models what they can do, for a person who wonders.

use std::collections::BTreeMap;

use tdd_agents::roster::{self, Seat};
use tdd_core::config::Config;
use tdd_llm::http::HttpClient;
use tdd_llm::probe::{self, Capabilities, Finding};
use tdd_llm::stop::Stop;
use tokio::runtime::Builder;

use crate::context::Context;
use crate::progress::Progress;
use crate::voice::endpoint;

/// What was found about one model, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// The model and its server.
    pub subject: String,
    /// Nothing is wrong with it.
    pub fine: bool,
    /// What was found.
    pub detail: String,
    /// What to do.
    pub fix: Option<String>,
}

/// Asks every model once, whoever plays with it.
pub fn ask(config: &Config, context: &Context) -> Vec<Remark> {
    let mut models: BTreeMap<String, Seat> = BTreeMap::new();
    for seat in roster::roster(config) {
        if let Ok(route) = &seat.route {
            models.entry(format!("{} at {}", route.model, route.server.base_url)).or_insert(seat);
        }
    }
    let cancel = context.cancel.clone();
    let stop = Stop::watching(move || cancel.is_cancelled());
    models.iter().flat_map(|(subject, seat)| one(subject, seat, config, &stop)).collect()
}

fn one(subject: &str, seat: &Seat, config: &Config, stop: &Stop) -> Vec<Remark> {
    let progress = Progress::begin();
    progress.say(&format!("asking {subject}"));
    let asked = endpoint(seat, config).and_then(|endpoint| {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(crate::error::CliError::Runtime)?;
        let client = HttpClient::new(endpoint, stop.clone())?;
        Ok(runtime.block_on(probe::probe(&client)))
    });
    match asked {
        Ok(found) => remarks(subject, seat.route.as_ref().map_or("", |route| &route.model), &found),
        Err(error) => {
            vec![Remark { subject: subject.to_owned(), fine: false, detail: error.to_string(), fix: error.hint() }]
        }
    }
}

/// What a server's answers mean for a run.
fn remarks(subject: &str, model: &str, found: &Capabilities) -> Vec<Remark> {
    let remark = |fine, detail: String, fix: Option<&str>| Remark {
        subject: subject.to_owned(),
        fine,
        detail,
        fix: fix.map(str::to_owned),
    };
    match &found.reachable {
        Finding::Yes => {}
        Finding::No(why) | Finding::Unknown(why) => {
            let fix = "start the server, or correct `llm.base_url` and the key; the gates need no model";
            return vec![remark(false, format!("gives no answer: {why}"), Some(fix))];
        }
    }
    let mut remarks = vec![remark(true, format!("answers; {}", abilities(found)), None)];
    let known = found.models.as_ref().filter(|models| !models.is_empty());
    if let Some(models) = known.filter(|models| !models.iter().any(|name| name == model)) {
        let listed: Vec<&str> = models.iter().take(5).map(String::as_str).collect();
        let detail = format!("the server lists {} and not `{model}`", listed.join(", "));
        remarks.push(remark(false, detail, Some("correct the model's name under `roles` in `tdd.yaml`")));
    }
    let lacks = |finding: &Finding| matches!(finding, Finding::No(_));
    if lacks(&found.json_schema) && lacks(&found.json_object) {
        let detail = "takes no `response_format`, so answers are read out of plain text".to_owned();
        remarks.push(remark(false, detail, Some("it works, with more answers that cannot be used")));
    }
    if lacks(&found.usage) {
        let detail = "counts no tokens, so a budget in tokens or dollars does not hold".to_owned();
        remarks.push(remark(false, detail, Some("limit the run by `--steps` or `--max-minutes`")));
    }
    remarks
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
            reachable: Finding::Yes,
            models: Some(vec!["m".to_owned()]),
            json_schema: Finding::Yes,
            json_object: Finding::Yes,
            tools: Finding::No("text".to_owned()),
            streaming: Finding::Yes,
            usage: Finding::Yes,
        }
    }

    fn said(found: &Capabilities) -> Vec<String> {
        remarks("m at s", "m", found).into_iter().map(|remark| format!("{} {}", remark.fine, remark.detail)).collect()
    }

    #[test]
    fn a_server_that_can_do_it_all_is_told_in_one_line() {
        let line = "true answers; json_schema yes, json_object yes, tools no, streaming yes, usage yes";
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
        assert!(said[1].contains("lists other and not `m`"), "{said:?}");
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
        let gone = Capabilities { reachable: Finding::Unknown("refused".to_owned()), ..able() };
        assert_eq!(said(&gone), ["false gives no answer: refused"]);
    }
}
