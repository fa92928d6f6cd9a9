//! Turns the result of probing a model server into remarks for `doctor`, each with a fix.

use tdd_llm::probe::{Capabilities, Contact, Finding};

/// One remark about a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// The model and its server.
    pub subject: String,
    /// How serious it is for a run.
    pub grade: Grade,
    /// What was found.
    pub detail: String,
    /// What the user can do.
    pub fix: Option<String>,
}

/// How serious a remark is for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grade {
    /// No problem.
    Fine,
    /// A drawback, or a failure that may be temporary.
    Flaw,
    /// No run can work.
    Fault,
}

/// Most models of a server that a remark lists.
const MAX_LISTED: usize = 10;

/// Judges the capabilities of a server.
pub fn remarks(subject: &str, model: &str, found: &Capabilities) -> Vec<Remark> {
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
            let detail = format!("cannot be used: {why}; {}", models_of(model, found));
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
    remarks.push(Remark { fix: None, ..remark(Grade::Fine, measured(model, found), "") });
    let known = found.models.as_ref().filter(|models| !models.is_empty());
    if known.is_some_and(|models| !models.iter().any(|name| name == model)) {
        let detail = format!("the server does not list `{model}`; {}", models_of(model, found));
        remarks.push(remark(Grade::Flaw, detail, "correct the model's name under `roles` in `tdd.yaml`"));
    }
    let lacks = |finding: &Finding| matches!(finding, Finding::No(_));
    if lacks(&found.json_schema) && lacks(&found.json_object) {
        let detail = "does not support `response_format`, so the machine reads answers from plain text".to_owned();
        remarks.push(remark(Grade::Flaw, detail, "runs still work, but expect more unusable answers"));
    }
    if lacks(&found.usage) {
        let detail = "reports no token counts, so a budget in tokens or dollars has no effect".to_owned();
        remarks.push(remark(Grade::Flaw, detail, "limit the run by `--steps` or `--max-minutes`"));
    }
    remarks
}

/// What was measured of the model, and the settings that it suggests.
fn measured(model: &str, found: &Capabilities) -> String {
    let speed = found.tokens_per_second.map(|speed| format!(", {speed} tokens a second"));
    let context = found.context_tokens.map(|tokens| format!(", a context of {tokens} tokens"));
    let Advice { protocol, samples, rests } = Advice::of(model, found);
    let rests = if rests { "; for the refactorer `when: needed`" } else { "" };
    format!(
        "writes code in fenced blocks: {}, in JSON: {}{}{}; suggested: `protocol: {protocol}`, `samples: {samples}`{rests}",
        word(&found.fenced_code),
        word(&found.json_code),
        speed.unwrap_or_default(),
        context.unwrap_or_default(),
    )
}

/// Suggested settings of a role.
#[derive(Debug, PartialEq, Eq)]
struct Advice {
    protocol: &'static str,
    samples: u32,
    /// The refactorer takes its turn only if needed.
    rests: bool,
}

impl Advice {
    /// Below 32 billion parameters models write code better in fenced blocks than in JSON, and several samples judged
    /// by tests find more than repairs. A name without a size is judged by what was measured.
    fn of(model: &str, found: &Capabilities) -> Self {
        let breaks_json = matches!(found.json_code, Finding::No(_));
        match billions(model) {
            Some(size) if size <= 10.0 => Self { protocol: "files", samples: 3, rests: true },
            Some(size) if size < 32.0 => Self { protocol: "files", samples: 2, rests: false },
            None if breaks_json => Self { protocol: "files", samples: 3, rests: true },
            Some(_) if breaks_json => Self { protocol: "files", samples: 1, rests: false },
            Some(_) | None => Self { protocol: "edit-plan", samples: 1, rests: false },
        }
    }
}

/// The number of parameters that a model's name gives: 1.5 for `qwen2.5-coder-1.5b-instruct`.
fn billions(model: &str) -> Option<f64> {
    let words = model.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
    words.filter_map(|word| word.to_ascii_lowercase().strip_suffix('b')?.parse().ok()).next_back()
}

/// Lists the server's models, those with the most similar name first.
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
    all.map(|(name, finding)| format!("{name} {}", word(finding))).join(", ")
}

fn word(finding: &Finding) -> &'static str {
    match finding {
        Finding::Yes => "yes",
        Finding::No(_) => "no",
        Finding::Unknown(_) => "unknown",
    }
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
            fenced_code: Finding::Yes,
            json_code: Finding::Yes,
            tokens_per_second: Some(8),
            context_tokens: None,
        }
    }

    #[test]
    fn small_models_get_fenced_blocks_and_several_samples() {
        let check = |model: &str, found: &Capabilities, protocol, samples, rests| {
            assert_eq!(Advice::of(model, found), Advice { protocol, samples, rests }, "{model}");
        };
        let breaks_json = Capabilities { json_code: Finding::No("broken".to_owned()), ..able() };
        check("qwen2.5-coder-1.5b-instruct-q4_k_m.gguf", &able(), "files", 3, true);
        check("qwen2.5-coder:7b", &able(), "files", 3, true);
        check("codestral-22B", &able(), "files", 2, false);
        check("llama-3.3-70b", &able(), "edit-plan", 1, false);
        check("gpt-5.2", &able(), "edit-plan", 1, false);
        check("gpt-5.2", &breaks_json, "files", 3, true);
        check("llama-3.3-70b", &breaks_json, "files", 1, false);
    }

    fn said(found: &Capabilities) -> Vec<String> {
        remarks("m at s", "m", found)
            .into_iter()
            .map(|remark| format!("{:?} {}", remark.grade, remark.detail))
            .collect()
    }

    #[test]
    fn a_server_that_can_do_it_all_is_told_in_two_lines() {
        let line = "Fine answers; json_schema yes, json_object yes, tools no, streaming yes, usage yes";
        let measured = "Fine writes code in fenced blocks: yes, in JSON: yes, 8 tokens a second; suggested: `protocol: \
                        edit-plan`, `samples: 1`";
        assert_eq!(said(&able()), [line, measured]);
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
        assert!(said[2].contains("does not list `m`; it has `other`"), "{said:?}");
        assert!(said[3].contains("plain text") && said[4].contains("reports no token counts"), "{said:?}");
    }

    #[test]
    fn what_could_not_be_found_out_is_no_complaint() {
        let slow = || Finding::Unknown("slow".to_owned());
        let busy = Capabilities { json_schema: slow(), json_object: slow(), usage: slow(), ..able() };
        assert_eq!(said(&busy).len(), 2);
    }

    #[test]
    fn a_server_that_is_not_there_is_said_once() {
        let gone = Capabilities { contact: Contact::Unreachable("refused".to_owned()), ..able() };
        assert_eq!(said(&gone), ["Flaw gives no answer: refused"]);
    }
}
