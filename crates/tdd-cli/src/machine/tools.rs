//! A turn by tool calls: each wish gets its answer at once, edits are gathered, and the whole is judged at its end.

use tdd_agents::plan::EditPlan;
use tdd_agents::reply::{self, ReplyError};
use tdd_agents::tools;
use tdd_agents::wish::{Finish, Wish};
use tdd_core::cycle::Turn;
use tdd_core::digest::Digest;
use tdd_core::event::{EditClaim, EditRefused, Event, PlanSubmitted};
use tdd_core::gate::{self, Edit, Files, Verdict};
use tdd_core::program;
use tdd_core::rule::Refusal;
use tdd_exec::sources::{ChangedSources, StoredSources};
use tdd_lang::language::Sources;
use tdd_llm::client::ToolCall;

use super::ask::Conversation;
use super::stand::Stand;
use super::{Machine, hands};
use crate::error::CliError;

/// A turn that is not finished after so many calls is over.
const MAX_CALLS: usize = 60;
/// Most lines that a search or a list gives.
const MAX_LINES: usize = 200;

/// What a turn has gathered.
#[derive(Default)]
struct Gathered {
    files: Files,
    plan: EditPlan,
    finished: bool,
}

impl Machine<'_> {
    /// Lets the model call tools until it ends its turn; what it gathered is an edit plan like any other.
    pub fn tool_turn(
        &mut self,
        conversation: &mut Conversation,
        stand: &Stand,
        turn: &Turn,
    ) -> Result<Result<EditPlan, ReplyError>, CliError> {
        let mut gathered = Gathered::default();
        for _ in 0..MAX_CALLS {
            let ask = conversation.talk.ask_tools();
            let answer = self.call(stand, turn, "tools", &ask)?;
            let written = answer.tool_calls.is_empty();
            let calls = if written { tools::written_calls(&answer.content) } else { answer.tool_calls };
            if calls.is_empty() {
                conversation.talk.answered(&answer.content);
                return Ok(reply::read(&answer.content));
            }
            if written {
                conversation.talk.answered(&answer.content);
            } else {
                conversation.talk.called(&answer.content, calls.clone());
            }
            for call in &calls {
                let result = self.serve(call, &mut gathered, stand, turn)?;
                conversation.talk.told(call, &result);
            }
            if gathered.finished {
                break;
            }
        }
        gathered.plan.edits = hands::edits_of(&gathered.files);
        Ok(Ok(gathered.plan))
    }

    /// The answer to one call.
    fn serve(
        &mut self,
        call: &ToolCall,
        gathered: &mut Gathered,
        stand: &Stand,
        turn: &Turn,
    ) -> Result<String, CliError> {
        let wish = match tools::wish(call) {
            Ok(wish) => wish,
            Err(error) => return Ok(format!("error: {error}")),
        };
        match wish {
            Wish::Read { path } => self.looking(gathered, |sources| read(sources, &path)),
            Wish::List { under } => self.looking(gathered, |sources| list(sources, under.as_deref())),
            Wish::Search { text, under } => self.looking(gathered, |sources| search(sources, &text, under.as_deref())),
            Wish::Plan { text } => {
                self.note_plan(stand, turn, &text)?;
                let (step, role, digest) = (stand.step, turn.role(), Digest::of(&text));
                self.record(&[Event::PlanSubmitted(PlanSubmitted { step, role, digest })])?;
                Ok("noted".to_owned())
            }
            Wish::Claim { test, target } => match gate::judge_claim(self.trial.session(), &test) {
                Ok(()) => {
                    gathered.plan.claims.push(test.clone());
                    self.record(&[Event::EditClaim(EditClaim { test_id: test, edit_target: target })])?;
                    Ok("claimed".to_owned())
                }
                Err(refusal) => Ok(told(&refusal)),
            },
            Wish::Edit(edit) => self.gather(edit, gathered, stand, turn),
            Wish::RunTests { .. } => Ok("the tests are run once, when you finish; then you are told".to_owned()),
            Wish::Finish(finish) => {
                gathered.finished = true;
                say(&mut gathered.plan, finish);
                Ok("your turn is over".to_owned())
            }
        }
    }

    /// An edit joins the others if the gate lets all of them through.
    fn gather(&mut self, edit: Edit, gathered: &mut Gathered, stand: &Stand, turn: &Turn) -> Result<String, CliError> {
        match self.with_edit(&edit, &gathered.files)? {
            Ok(files) => {
                gathered.files = files;
                Ok(format!("`{}` is as you wish; it is written when you finish", edit.path))
            }
            Err(refusal) => {
                let (step, attempt, rule, reason) = (stand.step, turn.attempt(), refusal.rule, refusal.reason.clone());
                let refused = EditRefused { step, attempt, rule, reason, paths: vec![edit.path] };
                self.record(&[Event::EditRefused(refused)])?;
                Ok(told(&refusal))
            }
        }
    }

    fn with_edit(&self, edit: &Edit, files: &Files) -> Result<Result<Files, Refusal>, CliError> {
        if let Verdict::Refuse(refusal) = gate::judge_edits(std::slice::from_ref(edit), self.limits().kata) {
            return Ok(Err(refusal));
        }
        let base = StoredSources::new(&self.trial.repo, &self.trial.base)?;
        let now = ChangedSources::new(&base, files);
        let edited = match gate::preview(std::slice::from_ref(edit), |path| now.read(path)) {
            Ok(edited) => edited,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let mut files = files.clone();
        files.extend(edited);
        files.retain(|path, text| *text != base.read(path));
        Ok(match self.judge_files(&files)? {
            Verdict::Permit(_) => Ok(files),
            Verdict::Refuse(refusal) => Err(refusal),
        })
    }

    fn looking(&self, gathered: &Gathered, look: impl FnOnce(&dyn Sources) -> String) -> Result<String, CliError> {
        let base = StoredSources::new(&self.trial.repo, &self.trial.base)?;
        Ok(look(&ChangedSources::new(&base, &gathered.files)))
    }
}

fn told(refusal: &Refusal) -> String {
    format!("refused\nRule: {}\nReason: {}\nNext: {}", refusal.rule, refusal.reason, refusal.next)
}

fn say(plan: &mut EditPlan, finish: Finish) {
    plan.summary = finish.summary;
    plan.rationale = finish.rationale;
    plan.commit_message = finish.commit_message;
    plan.notes = finish.notes;
    plan.reason = finish.reason;
    plan.spec_source = finish.spec_source;
    plan.done = finish.done;
}

fn read(sources: &dyn Sources, path: &str) -> String {
    sources
        .read(path)
        .filter(|_| !program::is_ours(path))
        .unwrap_or_else(|| format!("there is no text file `{path}`; `list_files` names them"))
}

fn list(sources: &dyn Sources, under: Option<&str>) -> String {
    lines(sources.files().iter().filter(|file| is_under(file, under)).cloned())
}

fn search(sources: &dyn Sources, text: &str, under: Option<&str>) -> String {
    let files = sources.files().iter().filter(|file| is_under(file, under));
    let hits = files.flat_map(|file| {
        let content = sources.read(file).unwrap_or_default();
        let hits = content.lines().enumerate().filter(|(_, line)| line.contains(text));
        hits.map(|(at, line)| format!("{file}:{}: {}", at + 1, line.trim())).collect::<Vec<_>>()
    });
    lines(hits)
}

fn is_under(file: &str, under: Option<&str>) -> bool {
    if program::is_ours(file) {
        return false;
    }
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
