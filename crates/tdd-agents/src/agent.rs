//! Plays a role with a model: asks it, shows the files it requests, and turns its answer into edits.

use std::sync::Arc;
use std::time::Duration;

use tdd_core::change::Sort;
use tdd_core::config::Protocol;
use tdd_core::cycle::{Phase, Role, Turn};
use tdd_core::digest::Digest;
use tdd_core::event::LlmCall;
use tdd_core::gate::Edit;
use tdd_core::report::Cause;
use tdd_core::requirements::Progress;
use tdd_core::rule::Rule;
use tdd_core::seam::{
    Agent, AgentHost, Budget, Call, Feedback, File, HostFailed, OutOfTime, Reply, Setback, StepContext, StepResult,
};
use tdd_core::test_id::TestId;
use tdd_llm::client::{Answer, Ask};
use tdd_llm::error::LlmError;

use crate::brief::{self, Brief, Order};
use crate::failure::Failure;
use crate::files;
use crate::language;
use crate::later;
use crate::part::Part;
use crate::prompts::{AnswerFormat, Prompts};
use crate::reply::{self, ReplyError};
use crate::resolve::{self, Unresolved};
use crate::talk::{Stage, Talk};
use crate::tool_turn;

/// Requests for more files per conversation that do not count as an attempt.
const MAX_NEEDS: u32 = 3;
/// Consecutive answers without usable JSON after which protocol `auto` switches to fenced files.
const MAX_BROKEN: u32 = 2;
/// Files shown per request for more files.
const MAX_WANTED: usize = 10;

/// The model behind a role: a server, or a recording.
pub trait RoleModel {
    /// Returns the model's answer and the wall time of the call, retries included.
    fn ask(&self, ask: &Ask) -> Result<(Answer, Duration), LlmError>;
    /// Answers several requests, in their order; a server gets them at the same time.
    fn ask_all(&self, asks: &[Ask]) -> Vec<Result<(Answer, Duration), LlmError>>;
    /// Price of an answer in millionths of a US dollar.
    fn price(&self, answer: &Answer) -> u64;
    /// Spending limit for the whole run.
    fn budget(&self) -> Budget;
}

/// Why an agent's turn ended without a reply.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The server failed, or its answer is unusable.
    #[error(transparent)]
    Model(#[from] LlmError),
    /// The host could not carry out a request; the machine already knows why.
    #[error(transparent)]
    HostFailed(#[from] HostFailed),
}

/// A role whose replies come from a model.
pub struct ModelAgent<V> {
    role: Role,
    model: V,
    prompts: Arc<Prompts>,
    protocol: Protocol,
    context_bytes: usize,
    /// Candidate answers per attempt.
    pub(crate) samples: u32,
    /// Conversations of the current step, so that a repeated turn continues where it stopped.
    conversations: Vec<Conversation>,
    /// Set when the server rejects tools, even if the config asks for them.
    without_tools: bool,
    /// Consecutive answers without usable JSON; see [`MAX_BROKEN`].
    broken: u32,
    /// Why the last answer could not be parsed.
    unread: Option<ReplyError>,
    /// Tests that the tester sent together with one that had its turn.
    later: Vec<Vec<Edit>>,
    /// Whether the tester has listed tests in this run.
    has_listed: bool,
    /// Whether the last reply needed no answer of the model.
    is_from_list: bool,
}

/// The conversation about one turn of a step.
pub(crate) struct Conversation {
    step: u32,
    part: Part,
    targets: Vec<TestId>,
    pub talk: Talk,
    format: AnswerFormat,
    pub planned: bool,
    /// Requests for more files so far.
    file_requests: u32,
    /// The file of a fenced block that has no path.
    default_path: Option<String>,
    kata: String,
}

impl<V: RoleModel> ModelAgent<V> {
    /// Creates an agent for one role.
    pub fn new(role: Role, model: V, prompts: Arc<Prompts>, protocol: Protocol, context_bytes: usize) -> Self {
        Self {
            role,
            model,
            prompts,
            protocol,
            context_bytes,
            samples: 1,
            conversations: Vec::new(),
            without_tools: false,
            broken: 0,
            unread: None,
            later: Vec::new(),
            has_listed: false,
            is_from_list: false,
        }
    }

    /// Starts `auto` with fenced files if earlier runs with this model ended with them.
    #[must_use]
    pub fn known_to_answer_in_files(mut self, in_files: bool) -> Self {
        self.broken = if in_files { MAX_BROKEN } else { 0 };
        self
    }

    /// Draws this many candidate answers per attempt, and keeps the first that holds.
    #[must_use]
    pub fn with_samples(mut self, samples: u32) -> Self {
        self.samples = samples.max(1);
        self
    }

    /// Falls back to an edit plan, because every server supports it.
    fn format(&self) -> AnswerFormat {
        match self.protocol {
            Protocol::Tools if !self.without_tools => AnswerFormat::Tools,
            Protocol::Files => AnswerFormat::Files,
            Protocol::Auto if self.broken >= MAX_BROKEN => AnswerFormat::Files,
            Protocol::Tools | Protocol::EditPlan | Protocol::Auto => AnswerFormat::EditPlan,
        }
    }

    /// Counts consecutive broken answers. True if `auto` should repeat the request in another format, which costs no
    /// attempt.
    fn should_switch_format(&mut self, answer: &Result<Reply, ReplyError>, format: AnswerFormat) -> bool {
        match (answer, format) {
            (Err(error), AnswerFormat::EditPlan) if error.is_broken_json() => self.broken += 1,
            (Err(ReplyError::NoBlock), AnswerFormat::Files) | (Ok(_), AnswerFormat::EditPlan) => self.broken = 0,
            (Ok(_) | Err(_), AnswerFormat::EditPlan | AnswerFormat::Files | AnswerFormat::Tools) => {}
        }
        self.format() != format
    }

    /// Removes and returns the conversation about this turn, or begins one.
    fn take(&mut self, context: &StepContext, host: &mut dyn AgentHost) -> Result<Conversation, AgentError> {
        let format = self.format();
        self.conversations.retain(|known| known.format == format || !known.is_about(context));
        let known = self.conversations.iter().position(|known| known.is_about(context));
        match known {
            Some(at) => Ok(self.conversations.swap_remove(at)),
            None => self.begin(context, host),
        }
    }

    fn begin(&self, context: &StepContext, host: &mut dyn AgentHost) -> Result<Conversation, AgentError> {
        let turn = &context.turn;
        let targets = turn.targets();
        let (language, imports) = host.language()?;
        let stage = Stage {
            part: Part::on(turn),
            step: context.step_index,
            attempt: turn.attempt(),
            format: self.format(),
            language,
            imports,
            target: targets.first().or(context.wanted.as_ref()).cloned(),
            may_claim: targets.len() > 1,
            may_be_done: context.may_be_done,
            seems_done: context.progress.as_ref().is_some_and(Progress::is_complete),
            context_bytes: self.context_bytes,
            path: None,
        };
        let mut files = host.shown()?;
        let short = brief::short(context, &mut files, stage.format);
        let order = if short.is_some() { Order::CodeLast } else { Order::Stable };
        let shown = short.as_ref().unwrap_or(context);
        let brief = Brief { context: shown, files: &files, target: context.target.as_ref(), order };
        let written = brief.write(stage.brief_bytes(&self.prompts));
        if let Some(cut) = written.kata_cut {
            host.kata_cut(cut);
        }
        let (step, part, format) = (context.step_index, stage.part, stage.format);
        let default_path = default_path(context, part, &files).or_else(|| new_test_path(&stage, &files));
        let stage = Stage { path: default_path.clone(), ..stage };
        let talk = Talk::begin(stage, &self.prompts, &written);
        let kata = context.kata_description.clone();
        Ok(Conversation { step, part, targets, talk, format, planned: false, file_requests: 0, default_path, kata })
    }

    /// The next step without asking the model: a test that the tester sent before, or, if each requirement has a test
    /// by then, the end of the kata.
    fn next_of_list(
        &mut self,
        context: &StepContext,
        host: &mut dyn AgentHost,
    ) -> Result<Option<StepResult>, AgentError> {
        if !matches!(context.turn, Turn::Red { .. }) || context.wanted.is_some() {
            return Ok(None);
        }
        while !self.later.is_empty() {
            let edits = self.later.remove(0);
            if let Some(edits) = later::next(&edits, &context.kata_description, host)? {
                let summary = "add the next test of the tester's list".to_owned();
                return Ok(Some(StepResult { edits, notes: summary, is_listed: true, ..StepResult::default() }));
            }
        }
        let may_end = self.has_listed && context.may_be_done;
        Ok(match context.progress.as_ref().filter(|_| may_end) {
            Some(progress) => later::done(progress, host)?,
            None => None,
        })
    }

    /// Calls the model once and records the call.
    pub(crate) fn call(
        &self,
        context: &StepContext,
        host: &mut dyn AgentHost,
        purpose: &str,
        ask: &Ask,
    ) -> Result<Answer, AgentError> {
        host.waiting(purpose);
        let (answer, waited) = self.model.ask(ask)?;
        self.record(context, host, purpose, ask, &answer, waited)?;
        Ok(answer)
    }

    /// Calls the model with several requests at the same time, and records each answer. Truncated answers are left out.
    pub(crate) fn call_all(
        &self,
        context: &StepContext,
        host: &mut dyn AgentHost,
        purpose: &str,
        asks: &[Ask],
    ) -> Result<Vec<Answer>, AgentError> {
        host.waiting(purpose);
        let mut answers = Vec::new();
        for (ask, answer) in asks.iter().zip(self.model.ask_all(asks)) {
            match answer {
                Ok((answer, waited)) => {
                    self.record(context, host, purpose, ask, &answer, waited)?;
                    answers.push(answer);
                }
                Err(LlmError::Cut { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(answers)
    }

    fn record(
        &self,
        context: &StepContext,
        host: &mut dyn AgentHost,
        purpose: &str,
        ask: &Ask,
        answer: &Answer,
        waited: Duration,
    ) -> Result<(), AgentError> {
        let event = LlmCall {
            step: context.step_index,
            role: self.role,
            model: answer.model.clone(),
            purpose: purpose.to_owned(),
            prompt_tokens: answer.usage.prompt,
            cached_tokens: answer.usage.cached,
            completion_tokens: answer.usage.completion,
            micro_usd: self.model.price(answer),
            duration_ms: answer.duration_ms,
        };
        let prompt = serde_json::to_vec(&ask.messages).unwrap_or_default();
        let (key, prompt_digest) = (ask.key.clone(), Digest::of(prompt));
        let (retries, text) = (answer.retries, answer.content.clone());
        Ok(host.called(Call { event, key, prompt_digest, retries, waited, answer: text })?)
    }

    /// Asks for edits; as long as the model only asks for files, shows them and asks again.
    pub(crate) fn converse(
        &self,
        conversation: &mut Conversation,
        context: &StepContext,
        host: &mut dyn AgentHost,
    ) -> Result<Result<Reply, ReplyError>, AgentError> {
        loop {
            let ask = conversation.talk.ask_edit();
            let answer = match self.call(context, host, conversation.purpose(), &ask) {
                Err(AgentError::Model(LlmError::Cut { .. })) => return Ok(Err(ReplyError::Cut)),
                other => other?,
            };
            conversation.talk.answered(&answer.content);
            let reply = conversation.reply(&answer.content, host)?;
            if !conversation.planned {
                conversation.planned = true;
                host.planned(
                    &tool_turn::unsubmitted_plan(&tool_turn::words_before_code(&answer.content), &reply),
                    &[],
                )?;
            }
            let Ok(Reply::Result(result)) = &reply else { return Ok(reply) };
            if !result.only_asks() || conversation.file_requests == MAX_NEEDS {
                return Ok(reply);
            }
            conversation.file_requests += 1;
            let mut wanted = Vec::new();
            for path in result.need.iter().take(MAX_WANTED) {
                wanted.push((path.clone(), host.read(path)?));
            }
            conversation.talk.shown(&wanted);
        }
    }
}

/// The file of a fenced block without a path: the target's test file, or the only file of the kind this phase changes.
fn default_path(context: &StepContext, part: Part, files: &[File]) -> Option<String> {
    let wanted = match part.phase {
        Phase::Red | Phase::RethinkTest => Sort::Test,
        Phase::Green | Phase::Refactor => Sort::Production,
    };
    let named = context.target.as_ref().map(|target| &target.path).filter(|_| wanted == Sort::Test).cloned();
    let is_wanted = |file: &&File| file.sort == wanted && !brief::is_hidden(&file.path);
    let mut paths = files.iter().filter(is_wanted).map(|file| file.path.clone());
    named.or_else(|| paths.next().filter(|_| paths.next().is_none()))
}

/// The file of the first tests, called like what they test.
fn new_test_path(stage: &Stage, files: &[File]) -> Option<String> {
    let is_first = stage.part.phase == Phase::Red && !files.iter().any(|file| file.sort == Sort::Test);
    let package = stage.imports.as_ref().and_then(|line| line.strip_prefix("use ")?.split("::").next());
    let mut code = files.iter().filter(|file| file.sort == Sort::Production).map(|file| file.path.as_str());
    let only = code.next().filter(|_| code.next().is_none());
    let stem = only.and_then(|path| path.rsplit('/').next()?.split('.').next());
    language::test_path(&stage.language, package.or(stem)?).filter(|_| is_first)
}

impl<V: RoleModel> Agent for ModelAgent<V> {
    type Error = AgentError;

    fn role(&self) -> Role {
        self.role
    }

    fn plan(&mut self, context: &StepContext, host: &mut dyn AgentHost) -> Result<(), AgentError> {
        let mut conversation = self.take(context, host)?;
        // With tools and with files the first answer says what the model is about to do.
        if conversation.format == AnswerFormat::EditPlan && !conversation.planned {
            let ask = conversation.talk.ask_plan();
            let answer = self.call(context, host, "plan", &ask)?;
            conversation.talk.answered(&answer.content);
            conversation.planned = true;
            host.planned(&answer.content, &[])?;
        }
        self.conversations.push(conversation);
        Ok(())
    }

    fn edit(&mut self, context: &StepContext, host: &mut dyn AgentHost) -> Result<Reply, AgentError> {
        if let Some(result) = self.next_of_list(context, host)? {
            self.is_from_list = true;
            host.planned(&result.notes, &[])?;
            return Ok(Reply::Result(Box::new(result)));
        }
        self.is_from_list = false;
        let mut conversation = self.take(context, host)?;
        let answer = match conversation.format {
            AnswerFormat::EditPlan | AnswerFormat::Files => self.sample(&mut conversation, context, host),
            AnswerFormat::Tools => self.tool_turn(&mut conversation, context, host),
        };
        if let Err(AgentError::Model(LlmError::NoTools { .. })) = &answer {
            self.without_tools = true;
            self.plan(context, host)?;
            return self.edit(context, host);
        }
        let answer = answer?;
        if self.should_switch_format(&answer, conversation.format) {
            self.plan(context, host)?;
            return self.edit(context, host);
        }
        self.conversations.push(conversation);
        Ok(match answer {
            Ok(Reply::Result(mut result)) => {
                self.has_listed |= !result.later.is_empty();
                self.later.append(&mut result.later);
                Reply::Result(result)
            }
            Ok(reply) => reply,
            Err(error) => {
                let why = error.to_string();
                self.unread = Some(error);
                Reply::Unreadable(why)
            }
        })
    }

    fn hear(&mut self, turn: &Turn, news: &Feedback<'_>) {
        let part = Part::on(turn);
        let failure = |setback: &Setback<'_>, unread: &Option<ReplyError>| Failure::of(setback, unread.as_ref());
        let conversation = self.conversations.iter_mut().find(|known| known.part == part);
        match (news, conversation) {
            // The model did not say anything in this turn.
            (Feedback::Failed(_) | Feedback::StartOver(_), _) if self.is_from_list => {}
            // Small models seldom repair a wrong result, so that another answer is drawn in its place.
            (Feedback::Failed(setback), Some(conversation)) if self.samples > 1 && is_wrong_result(setback) => {
                conversation.talk.draw_again();
            }
            (Feedback::Failed(setback), Some(conversation)) => {
                conversation.talk.failed(&failure(setback, &self.unread));
            }
            (Feedback::StartOver(setback), Some(conversation)) => {
                conversation.talk.fresh(&failure(setback, &self.unread));
                conversation.planned = false;
            }
            (Feedback::MayBeDone, Some(conversation)) => conversation.talk.offer_done(),
            (Feedback::TurnOver, _) => self.conversations.retain(|known| known.part != part),
            (Feedback::StepOver, _) => self.conversations.clear(),
            (Feedback::Failed(_) | Feedback::StartOver(_) | Feedback::MayBeDone, None) => {}
        }
    }

    fn budget(&self) -> Budget {
        self.model.budget()
    }

    fn out_of_time(error: &AgentError) -> Option<OutOfTime> {
        match error {
            AgentError::Model(error @ LlmError::NoTime { .. }) => {
                let next = error.hint().unwrap_or_default().to_owned();
                Some(OutOfTime { reason: error.to_string(), next })
            }
            AgentError::Model(_) | AgentError::HostFailed(_) => None,
        }
    }
}

/// Whether the answer could be built and run, and a test says that its result is wrong.
fn is_wrong_result(setback: &Setback<'_>) -> bool {
    let refused = setback.refusal.filter(|refusal| refusal.rule == Rule::TargetPasses);
    let test = refused.and_then(|refusal| refusal.test.as_ref());
    let result = test.and_then(|test| setback.report.and_then(|report| report.get(test)));
    result.is_some_and(|result| result.outcome.cause() == Some(Cause::Assertion))
}

impl Conversation {
    /// The purpose of an edit call in the ledger.
    pub(crate) fn purpose(&self) -> &'static str {
        if self.format == AnswerFormat::Files { LlmCall::FILES } else { LlmCall::EDIT }
    }

    /// Reads an answer; the inner error says why it cannot be used.
    pub(crate) fn reply(&self, text: &str, host: &mut dyn AgentHost) -> Result<Result<Reply, ReplyError>, AgentError> {
        match self.read(text, host) {
            Ok(result) => Ok(Ok(Reply::Result(Box::new(result)))),
            Err(Unresolved::Reply(error)) => Ok(Err(error)),
            Err(Unresolved::HostFailed(failed)) => Err(failed.into()),
        }
    }

    fn read(&self, text: &str, host: &mut dyn AgentHost) -> Result<StepResult, Unresolved> {
        if self.format != AnswerFormat::Files {
            return resolve::plan(reply::read(text)?, self.part, host);
        }
        // Some models answer in JSON even when asked for fenced files.
        if let Ok(plan) = reply::read(text)
            && !plan.edits.is_empty()
        {
            return resolve::plan(plan, self.part, host);
        }
        let answer = match files::read(text, self.default_path.as_deref()) {
            Err(ReplyError::Cut) if self.part.phase == Phase::Red => {
                files::read(&later::whole_tests(text), self.default_path.as_deref())?
            }
            answer => answer?,
        };
        let is_nothing = answer.blocks.is_empty() && answer.result == StepResult::default();
        if is_nothing && self.part.must_edit {
            return Err(ReplyError::NoBlock.into());
        }
        let mut result = resolve::blocks(answer, self.part, host)?;
        if self.part.phase == Phase::Red {
            later::split(&mut result, &self.kata, host)?;
        }
        Ok(result)
    }

    fn is_about(&self, context: &StepContext) -> bool {
        (self.step, self.part, &self.targets) == (context.step_index, Part::on(&context.turn), &context.turn.targets())
    }
}
