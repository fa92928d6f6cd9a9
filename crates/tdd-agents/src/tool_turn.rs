//! Runs a turn of tool calls: answers each call, collects the edits, and runs the tests at most once per message.

use std::collections::BTreeSet;

use tdd_core::event::PlannedStep;
use tdd_core::gate::{self, Action, Edit, Files};
use tdd_core::report::Report;
use tdd_core::rule::Refusal;
use tdd_core::seam::{AgentHost, GateAnswer, Reply, StepContext, StepResult, Trial};
use tdd_core::test_id::TestId;
use tdd_llm::client::ToolCall;

use crate::agent::{AgentError, Conversation, ModelAgent, RoleModel};
use crate::reply::{self, ReplyError};
use crate::tool_request::ToolRequest;
use crate::tools;
use crate::trial;

/// Model calls in one turn before the turn ends.
const MAX_CALLS: usize = 60;
/// Most lines of a search or list result.
const MAX_LINES: usize = 200;

/// Most trial runs of the tests in one turn.
const MAX_TRIALS: usize = 10;

/// What the model's calls have produced so far.
#[derive(Default)]
struct TurnState {
    files: Files,
    result: StepResult,
    finished: bool,
    /// The model's first words, used as its plan if it submits none.
    first_words: String,
    trials: usize,
}

/// The answer to one tool call.
enum CallResult {
    /// The text of the answer.
    Said(String),
    /// These tests, or all if empty, run after the other calls of the message.
    Tests(Vec<TestId>),
}

impl<V: RoleModel> ModelAgent<V> {
    /// Serves tool calls until the model ends its turn. If it submits no plan, its first words are recorded as the
    /// plan.
    pub(crate) fn tool_turn(
        &self,
        conversation: &mut Conversation,
        context: &StepContext,
        host: &mut dyn AgentHost,
    ) -> Result<Result<Reply, ReplyError>, AgentError> {
        let mut gathered = TurnState::default();
        let reply = self.call_tools(conversation, context, host, &mut gathered)?;
        if !conversation.planned {
            conversation.planned = true;
            host.planned(&unsubmitted_plan(&gathered.first_words, &reply), &[])?;
        }
        Ok(reply)
    }

    fn call_tools(
        &self,
        conversation: &mut Conversation,
        context: &StepContext,
        host: &mut dyn AgentHost,
        gathered: &mut TurnState,
    ) -> Result<Result<Reply, ReplyError>, AgentError> {
        for _ in 0..MAX_CALLS {
            let ask = conversation.talk.ask_tools();
            let answer = self.call(context, host, "tools", &ask)?;
            if gathered.first_words.is_empty() {
                gathered.first_words = words_before_code(&answer.content);
            }
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
            let mut served = Vec::new();
            for call in &calls {
                served.push(serve(call, gathered, conversation, host)?);
            }
            let results = run_batch(served, gathered, host)?;
            for (call, result) in calls.iter().zip(results) {
                conversation.talk.add_tool_result(call, &result);
            }
            if gathered.finished {
                break;
            }
        }
        let result = StepResult { edits: edits_of(&gathered.files), ..std::mem::take(&mut gathered.result) };
        Ok(Ok(Reply::Result(Box::new(result))))
    }
}

/// Answers one tool call.
fn serve(
    call: &ToolCall,
    gathered: &mut TurnState,
    conversation: &mut Conversation,
    host: &mut dyn AgentHost,
) -> Result<CallResult, AgentError> {
    let wish = match tools::read_call(call) {
        Ok(wish) => wish,
        Err(error) => return Ok(CallResult::Said(format!("error: {error}"))),
    };
    Ok(CallResult::Said(match wish {
        ToolRequest::RunTests { tests } => return Ok(CallResult::Tests(tests)),
        ToolRequest::Read { path } => read(gathered, host, &path)?
            .unwrap_or_else(|| format!("there is no text file `{path}`; `list_files` names them")),
        ToolRequest::List { under } => {
            let files = names(gathered, host)?;
            lines(files.into_iter().filter(|file| is_under(file, under.as_deref())))
        }
        ToolRequest::Search { text, under } => search(gathered, host, &text, under.as_deref())?,
        ToolRequest::Plan { text, steps } => {
            conversation.planned = true;
            host.planned(&submitted_plan(&text, &steps), &steps)?;
            "noted".to_owned()
        }
        ToolRequest::Claim { test, target } => match host.claim(&test, &target)? {
            GateAnswer::Yes => {
                gathered.result.claims.push(test);
                "claimed".to_owned()
            }
            GateAnswer::No(refusal) => refusal_text(&refusal),
        },
        ToolRequest::Edit(edit) => gather(&edit, gathered, host)?,
        ToolRequest::Finish(finish) => {
            gathered.finished = true;
            let claims = std::mem::take(&mut gathered.result.claims);
            gathered.result = StepResult { claims, ..*finish };
            "your turn is over".to_owned()
        }
    }))
}

/// Completes the answers to one message. All requested tests run once, with the edits of the whole message.
fn run_batch(
    served: Vec<CallResult>,
    gathered: &mut TurnState,
    host: &mut dyn AgentHost,
) -> Result<Vec<String>, AgentError> {
    let selections: Vec<&Vec<TestId>> = served.iter().filter_map(CallResult::tests).collect();
    let all = selections.iter().any(|tests| tests.is_empty());
    let named: BTreeSet<&TestId> = selections.iter().copied().flatten().collect();
    let only: Vec<TestId> = if all { Vec::new() } else { named.into_iter().cloned().collect() };
    let trial = if selections.is_empty() { None } else { Some(try_tests(&only, gathered, host)?) };
    let answer = |served: CallResult| match (served, &trial) {
        (CallResult::Said(text), _) => text,
        (CallResult::Tests(tests), Some(Ok(report))) => trial::results(report, &tests),
        (CallResult::Tests(_), Some(Err(why))) => why.clone(),
        (CallResult::Tests(_), None) => String::new(),
    };
    Ok(served.into_iter().map(answer).collect())
}

/// Runs the tests; the inner error says why they did not run.
fn try_tests(
    only: &[TestId],
    gathered: &mut TurnState,
    host: &mut dyn AgentHost,
) -> Result<Result<Report, String>, AgentError> {
    if gathered.trials >= MAX_TRIALS {
        let why = format!(
            "the tests were run {MAX_TRIALS} times in this turn, and that is the limit; call `finish`, and the \
             machine runs them again"
        );
        return Ok(Err(why));
    }
    gathered.trials += 1;
    Ok(match host.run_tests(&gathered.files, only)? {
        Trial::Ran(report) => Ok(report),
        Trial::Refused(refusal) => Err(refusal_text(&refusal)),
        Trial::Withheld => {
            Err("`gate.auto_test` is off in `tdd.yaml`: results are not shown; call `finish` to get the verdict".into())
        }
    })
}

impl CallResult {
    fn tests(&self) -> Option<&Vec<TestId>> {
        match self {
            Self::Said(_) => None,
            Self::Tests(tests) => Some(tests),
        }
    }
}

/// Formats a plan for people: its text, then its steps.
fn submitted_plan(text: &str, steps: &[PlannedStep]) -> String {
    let line = |(at, step): (usize, &PlannedStep)| {
        let about = match (&step.test_id, &step.test_file_path) {
            (Some(id), Some(path)) => format!(" (`{id}` in `{path}`)"),
            (Some(id), None) => format!(" (`{id}`)"),
            (None, Some(path)) => format!(" (in `{path}`)"),
            (None, None) => String::new(),
        };
        format!("{}. {}{about}\n", at + 1, reply::one_line(&step.text))
    };
    let steps: String = steps.iter().enumerate().map(line).collect();
    match (text.trim(), steps.as_str()) {
        (text, "") => text.to_owned(),
        ("", steps) => steps.to_owned(),
        (text, steps) => format!("{text}\n\n{steps}"),
    }
}

/// The plan of a model that did not submit one.
pub(crate) fn unsubmitted_plan(first_words: &str, reply: &Result<Reply, ReplyError>) -> String {
    let result = match reply {
        Ok(Reply::Result(result)) => Some(result),
        Ok(Reply::Unreadable(_)) | Err(_) => None,
    };
    let result_text = result.into_iter().flat_map(|result| [result.summary.trim(), result.rationale.trim()]);
    let result_text = result_text.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n");
    match (first_words, result_text.as_str()) {
        ("", "") => "The model said nothing about what it means to do.".to_owned(),
        ("", result_text) => result_text.to_owned(),
        (first_words, _) => first_words.to_owned(),
    }
}

/// The text of an answer before any code or tool call.
pub(crate) fn words_before_code(content: &str) -> String {
    let end = ["```", "{", "<tool_call"].iter().filter_map(|sign| content.find(sign)).min();
    let words = content[..end.unwrap_or(content.len())].trim();
    // The path of a fenced block stands alone on the line before it.
    let (before, last) = words.rsplit_once('\n').unwrap_or(("", words));
    if end.is_some() && !last.trim().contains(' ') { before.trim().to_owned() } else { words.to_owned() }
}

/// Adds an edit if the gate accepts it together with the earlier ones.
fn gather(edit: &Edit, gathered: &mut TurnState, host: &mut dyn AgentHost) -> Result<String, AgentError> {
    let now = match with_edit(edit, gathered, host)? {
        Ok(files) => files,
        Err(refusal) => {
            host.refused(&refusal, std::slice::from_ref(&edit.path))?;
            return Ok(refusal_text(&refusal));
        }
    };
    Ok(match host.judge(&now, std::slice::from_ref(&edit.path))? {
        GateAnswer::Yes => {
            gathered.files = now;
            format!("the edit of `{}` is accepted; it is written when you finish", edit.path)
        }
        GateAnswer::No(refusal) => refusal_text(&refusal),
    })
}

/// The files after one more edit.
fn with_edit(
    edit: &Edit,
    gathered: &TurnState,
    host: &mut dyn AgentHost,
) -> Result<Result<Files, Refusal>, AgentError> {
    if let Err(refusal) = gate::check_edits(std::slice::from_ref(edit), "") {
        return Ok(Err(refusal));
    }
    let mut paths = vec![edit.path.clone()];
    if let Action::Rename { to } = &edit.action {
        paths.push(to.clone());
    }
    let mut now = Vec::new();
    for path in paths {
        let text = read(gathered, host, &path)?;
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
        if text != host.read(&path)? {
            kept.insert(path, text);
        }
    }
    Ok(Ok(kept))
}

/// A file with the edits collected so far.
fn read(gathered: &TurnState, host: &mut dyn AgentHost, path: &str) -> Result<Option<String>, AgentError> {
    match gathered.files.get(path) {
        Some(text) => Ok(text.clone()),
        None => Ok(host.read(path)?),
    }
}

fn names(gathered: &TurnState, host: &mut dyn AgentHost) -> Result<Vec<String>, AgentError> {
    let mut names: Vec<String> = host.files()?;
    names.retain(|name| gathered.files.get(name) != Some(&None));
    let new = gathered.files.iter().filter(|(_, text)| text.is_some()).map(|(name, _)| name.clone());
    names.extend(new);
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

fn search(
    gathered: &TurnState,
    host: &mut dyn AgentHost,
    text: &str,
    under: Option<&str>,
) -> Result<String, AgentError> {
    let mut hits = Vec::new();
    for file in names(gathered, host)?.into_iter().filter(|file| is_under(file, under)) {
        let content = read(gathered, host, &file)?.unwrap_or_default();
        let found = content.lines().enumerate().filter(|(_, line)| line.contains(text));
        hits.extend(found.map(|(at, line)| format!("{file}:{}: {}", at + 1, line.trim())));
        if hits.len() > MAX_LINES {
            break;
        }
    }
    Ok(lines(hits.into_iter()))
}

fn refusal_text(refusal: &Refusal) -> String {
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
            shown.push("… the rest is left out; ask for less".to_owned());
            shown.join("\n")
        }
        _ => shown.join("\n"),
    }
}
