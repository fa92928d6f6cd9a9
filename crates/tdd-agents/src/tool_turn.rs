//! A turn by tool calls: each wish gets its answer at once, edits are gathered, and the whole is judged at its end.

use tdd_core::gate::{self, Action, Edit, Files};
use tdd_core::rule::Refusal;
use tdd_core::seam::{Desk, Granted, Reply, StepContext, StepResult};
use tdd_llm::client::ToolCall;

use crate::agent::{AgentError, Conversation, ModelAgent, Voice};
use crate::reply::{self, ReplyError};
use crate::tools;
use crate::wish::Wish;

/// Tool calls in one turn before the turn ends.
const MAX_CALLS: usize = 60;
/// Most lines that a search or a list gives.
const MAX_LINES: usize = 200;

/// What a turn has gathered.
#[derive(Default)]
struct Gathered {
    files: Files,
    result: StepResult,
    finished: bool,
}

impl<V: Voice> ModelAgent<V> {
    /// Lets the model call tools until it ends its turn; what it gathered is a result like any other.
    pub(crate) fn tool_turn(
        &self,
        conversation: &mut Conversation,
        context: &StepContext,
        desk: &mut dyn Desk,
    ) -> Result<Result<Reply, ReplyError>, AgentError> {
        let mut gathered = Gathered::default();
        for _ in 0..MAX_CALLS {
            let ask = conversation.talk.ask_tools();
            let answer = self.call(context, desk, "tools", &ask)?;
            let written = answer.tool_calls.is_empty();
            let calls = if written { tools::written_calls(&answer.content) } else { answer.tool_calls };
            if calls.is_empty() {
                conversation.talk.answered(&answer.content);
                return Ok(reply::read(&answer.content).map(|result| Reply::Result(Box::new(result))));
            }
            if written {
                conversation.talk.answered(&answer.content);
            } else {
                conversation.talk.called(&answer.content, calls.clone());
            }
            for call in &calls {
                let result = serve(call, &mut gathered, desk)?;
                conversation.talk.told(call, &result);
            }
            if gathered.finished {
                break;
            }
        }
        gathered.result.edits = edits_of(&gathered.files);
        Ok(Ok(Reply::Result(Box::new(gathered.result))))
    }
}

/// The answer to one call.
fn serve(call: &ToolCall, gathered: &mut Gathered, desk: &mut dyn Desk) -> Result<String, AgentError> {
    let wish = match tools::wish(call) {
        Ok(wish) => wish,
        Err(error) => return Ok(format!("error: {error}")),
    };
    Ok(match wish {
        Wish::Read { path } => read(gathered, desk, &path)?
            .unwrap_or_else(|| format!("there is no text file `{path}`; `list_files` names them")),
        Wish::List { under } => {
            let files = names(gathered, desk)?;
            lines(files.into_iter().filter(|file| is_under(file, under.as_deref())))
        }
        Wish::Search { text, under } => search(gathered, desk, &text, under.as_deref())?,
        Wish::Plan { text } => {
            desk.planned(&text)?;
            "noted".to_owned()
        }
        Wish::Claim { test, target } => match desk.claim(&test, &target)? {
            Granted::Yes => {
                gathered.result.claims.push(test);
                "claimed".to_owned()
            }
            Granted::No(refusal) => told(&refusal),
        },
        Wish::Edit(edit) => gather(&edit, gathered, desk)?,
        Wish::RunTests { .. } => "the tests are run once, when you finish; then you are told".to_owned(),
        Wish::Finish(finish) => {
            gathered.finished = true;
            let claims = std::mem::take(&mut gathered.result.claims);
            gathered.result = StepResult { claims, ..*finish };
            "your turn is over".to_owned()
        }
    })
}

/// An edit joins the others if the gate lets all of them through.
fn gather(edit: &Edit, gathered: &mut Gathered, desk: &mut dyn Desk) -> Result<String, AgentError> {
    let now = match with_edit(edit, gathered, desk)? {
        Ok(files) => files,
        Err(refusal) => {
            desk.refused(&refusal, std::slice::from_ref(&edit.path))?;
            return Ok(told(&refusal));
        }
    };
    Ok(match desk.judge(&now, std::slice::from_ref(&edit.path))? {
        Granted::Yes => {
            gathered.files = now;
            format!("`{}` is as you wish; it is written when you finish", edit.path)
        }
        Granted::No(refusal) => told(&refusal),
    })
}

/// The files as they would be with one more edit.
fn with_edit(edit: &Edit, gathered: &Gathered, desk: &mut dyn Desk) -> Result<Result<Files, Refusal>, AgentError> {
    if let Err(refusal) = gate::check_edits(std::slice::from_ref(edit), "") {
        return Ok(Err(refusal));
    }
    let mut paths = vec![edit.path.clone()];
    if let Action::Rename { to } = &edit.action {
        paths.push(to.clone());
    }
    let mut now = Vec::new();
    for path in paths {
        let text = read(gathered, desk, &path)?;
        now.push((path, text));
    }
    let text_of = |path: &str| now.iter().find(|(known, _)| known == path).and_then(|(_, text)| text.clone());
    let edited = match gate::preview(std::slice::from_ref(edit), text_of) {
        Ok(edited) => edited,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let mut files = gathered.files.clone();
    files.extend(edited);
    let mut kept = Files::new();
    for (path, text) in files {
        if text != desk.read(&path)? {
            kept.insert(path, text);
        }
    }
    Ok(Ok(kept))
}

/// A file as it is with what was gathered.
fn read(gathered: &Gathered, desk: &mut dyn Desk, path: &str) -> Result<Option<String>, AgentError> {
    match gathered.files.get(path) {
        Some(text) => Ok(text.clone()),
        None => Ok(desk.read(path)?),
    }
}

fn names(gathered: &Gathered, desk: &mut dyn Desk) -> Result<Vec<String>, AgentError> {
    let mut names: Vec<String> = desk.files()?;
    names.retain(|name| gathered.files.get(name) != Some(&None));
    let new = gathered.files.iter().filter(|(_, text)| text.is_some()).map(|(name, _)| name.clone());
    names.extend(new);
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

fn search(gathered: &Gathered, desk: &mut dyn Desk, text: &str, under: Option<&str>) -> Result<String, AgentError> {
    let mut hits = Vec::new();
    for file in names(gathered, desk)?.into_iter().filter(|file| is_under(file, under)) {
        let content = read(gathered, desk, &file)?.unwrap_or_default();
        let found = content.lines().enumerate().filter(|(_, line)| line.contains(text));
        hits.extend(found.map(|(at, line)| format!("{file}:{}: {}", at + 1, line.trim())));
        if hits.len() > MAX_LINES {
            break;
        }
    }
    Ok(lines(hits.into_iter()))
}

fn told(refusal: &Refusal) -> String {
    format!("refused\nRule: {}\nReason: {}\nNext: {}", refusal.rule, refusal.reason, refusal.next)
}

fn edits_of(files: &Files) -> Vec<Edit> {
    let action = |text: &Option<String>| match text {
        Some(content) => Action::Upsert { content: content.clone() },
        None => Action::Delete,
    };
    files.iter().map(|(path, text)| Edit { path: path.clone(), action: action(text) }).collect()
}

fn is_under(file: &str, under: Option<&str>) -> bool {
    let Some(folder) = under.map(|folder| folder.trim_matches('/')).filter(|folder| !folder.is_empty()) else {
        return true;
    };
    folder == "." || file.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn lines(all: impl Iterator<Item = String>) -> String {
    let mut shown: Vec<String> = all.take(MAX_LINES + 1).collect();
    match shown.len() {
        0 => "nothing".to_owned(),
        more if more > MAX_LINES => {
            shown.truncate(MAX_LINES);
            shown.push("… and more; ask for less".to_owned());
            shown.join("\n")
        }
        _ => shown.join("\n"),
    }
}
