//! A role played by a model: it talks to the model until it has an answer that can be judged.

use std::sync::Arc;
use std::time::Duration;

use tdd_core::config::Protocol;
use tdd_core::cycle::{Role, Turn};
use tdd_core::digest::Digest;
use tdd_core::event::LlmCall;
use tdd_core::seam::{Agent, Budget, Call, Closed, Desk, News, OutOfTime, Reply, Setback, StepContext};
use tdd_core::test_id::TestId;
use tdd_llm::client::{Answer, Ask};
use tdd_llm::error::LlmError;

use crate::brief::Brief;
use crate::failure::Failure;
use crate::part::Part;
use crate::prompts::{Prompts, Way};
use crate::reply::{self, ReplyError};
use crate::talk::{Stage, Talk};

/// How often in a step a model may ask for more files at no cost.
const MAX_NEEDS: u32 = 3;
/// How many files it may ask for at once.
const MAX_WANTED: usize = 10;

/// What answers for a role: a model at a server, or a recording of one.
pub trait Voice {
    /// What the model answers, and how long it was waited for.
    fn ask(&self, ask: &Ask) -> Result<(Answer, Duration), LlmError>;
    /// What an answer cost, in millionths of a US dollar.
    fn price(&self, answer: &Answer) -> u64;
    /// What all answers may cost.
    fn budget(&self) -> Budget;
}

/// Why a model gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The server or its answer.
    #[error(transparent)]
    Model(#[from] LlmError),
    /// The machine could not carry out a request, and knows why.
    #[error(transparent)]
    Closed(#[from] Closed),
}

/// A role played by a model.
pub struct ModelAgent<V> {
    role: Role,
    voice: V,
    prompts: Arc<Prompts>,
    protocol: Protocol,
    context_bytes: usize,
    /// Those of the step under way: a role that is asked again goes on where it was.
    conversations: Vec<Conversation>,
    /// The server takes no tools, whatever is configured.
    without_tools: bool,
    /// Why the last answer could not be read.
    unread: Option<ReplyError>,
}

/// A conversation about one step.
pub(crate) struct Conversation {
    step: u32,
    part: Part,
    targets: Vec<TestId>,
    pub talk: Talk,
    way: Way,
    pub planned: bool,
    /// How often it asked for more files.
    asked: u32,
}

impl<V: Voice> ModelAgent<V> {
    /// A role with its model.
    pub fn new(role: Role, voice: V, prompts: Arc<Prompts>, protocol: Protocol, context_bytes: usize) -> Self {
        let (conversations, without_tools, unread) = (Vec::new(), false, None);
        Self { role, voice, prompts, protocol, context_bytes, conversations, without_tools, unread }
    }

    /// By tools where the configuration says so and the server takes them, by an edit plan elsewhere: that works
    /// with any server.
    fn way(&self) -> Way {
        match self.protocol {
            Protocol::Tools if !self.without_tools => Way::Tools,
            Protocol::Tools | Protocol::EditPlan | Protocol::Auto => Way::EditPlan,
        }
    }

    /// Takes the conversation about this turn out of the list, or begins a new one.
    fn take(&mut self, context: &StepContext, desk: &mut dyn Desk) -> Result<Conversation, AgentError> {
        let known = self.conversations.iter().position(|known| known.is_about(context));
        match known {
            Some(at) => Ok(self.conversations.swap_remove(at)),
            None => self.begin(context, desk),
        }
    }

    fn begin(&self, context: &StepContext, desk: &mut dyn Desk) -> Result<Conversation, AgentError> {
        let turn = &context.turn;
        let targets = turn.targets();
        let (language, imports) = desk.language()?;
        let stage = Stage {
            part: Part::on(turn),
            step: context.step_index,
            attempt: turn.attempt(),
            way: self.way(),
            language,
            imports,
            target: targets.first().or(context.wanted.as_ref()).cloned(),
            may_claim: targets.len() > 1,
            may_be_done: context.may_be_done,
            context_bytes: self.context_bytes,
        };
        let files = desk.shown()?;
        let brief = Brief { context, files: &files, target: context.target.as_ref() };
        let written = brief.write(stage.brief_bytes(&self.prompts));
        if let Some(cut) = written.kata_cut {
            desk.kata_cut(cut);
        }
        let (step, part, way) = (context.step_index, stage.part, stage.way);
        let talk = Talk::begin(stage, &self.prompts, &written);
        Ok(Conversation { step, part, targets, talk, way, planned: false, asked: 0 })
    }

    /// One call to the model, on the record.
    pub(crate) fn call(
        &self,
        context: &StepContext,
        desk: &mut dyn Desk,
        purpose: &str,
        ask: &Ask,
    ) -> Result<Answer, AgentError> {
        desk.waiting(purpose);
        let (answer, waited) = self.voice.ask(ask)?;
        let event = LlmCall {
            step: context.step_index,
            role: self.role,
            model: answer.model.clone(),
            purpose: purpose.to_owned(),
            prompt_tokens: answer.usage.prompt,
            cached_tokens: answer.usage.cached,
            completion_tokens: answer.usage.completion,
            micro_usd: self.voice.price(&answer),
            duration_ms: answer.duration_ms,
        };
        let prompt = serde_json::to_vec(&ask.messages).unwrap_or_default();
        let (key, prompt_digest) = (ask.key.clone(), Digest::of(prompt));
        let (retries, said) = (answer.retries, answer.content.clone());
        desk.called(Call { event, key, prompt_digest, retries, waited, answer: said })?;
        Ok(answer)
    }

    /// Asks for an edit plan, and shows the files that the model wants to see first.
    fn converse(
        &self,
        conversation: &mut Conversation,
        context: &StepContext,
        desk: &mut dyn Desk,
    ) -> Result<Result<Reply, ReplyError>, AgentError> {
        loop {
            let ask = conversation.talk.ask_edit();
            let answer = match self.call(context, desk, "edit", &ask) {
                Err(AgentError::Model(LlmError::Cut { .. })) => return Ok(Err(ReplyError::Cut)),
                other => other?,
            };
            conversation.talk.answered(&answer.content);
            match reply::read(&answer.content) {
                Ok(result) if result.only_asks() && conversation.asked < MAX_NEEDS => {
                    conversation.asked += 1;
                    let mut wanted = Vec::new();
                    for path in result.need.iter().take(MAX_WANTED) {
                        wanted.push((path.clone(), desk.read(path)?));
                    }
                    conversation.talk.shown(&wanted);
                }
                other => return Ok(other.map(|result| Reply::Result(Box::new(result)))),
            }
        }
    }
}

impl<V: Voice> Agent for ModelAgent<V> {
    type Error = AgentError;

    fn role(&self) -> Role {
        self.role
    }

    fn plan(&mut self, context: &StepContext, desk: &mut dyn Desk) -> Result<(), AgentError> {
        let mut conversation = self.take(context, desk)?;
        if conversation.way == Way::EditPlan && !conversation.planned {
            let ask = conversation.talk.ask_plan();
            let answer = self.call(context, desk, "plan", &ask)?;
            conversation.talk.answered(&answer.content);
            conversation.planned = true;
            desk.planned(&answer.content, &[])?;
        }
        self.conversations.push(conversation);
        Ok(())
    }

    fn edit(&mut self, context: &StepContext, desk: &mut dyn Desk) -> Result<Reply, AgentError> {
        let mut conversation = self.take(context, desk)?;
        let answer = match conversation.way {
            Way::EditPlan => self.converse(&mut conversation, context, desk),
            Way::Tools => self.tool_turn(&mut conversation, context, desk),
        };
        if let Err(AgentError::Model(LlmError::NoTools { .. })) = &answer {
            self.without_tools = true;
            self.plan(context, desk)?;
            return self.edit(context, desk);
        }
        self.conversations.push(conversation);
        Ok(match answer? {
            Ok(reply) => reply,
            Err(error) => {
                let why = error.to_string();
                self.unread = Some(error);
                Reply::Unreadable(why)
            }
        })
    }

    fn hear(&mut self, turn: &Turn, news: &News<'_>) {
        let part = Part::on(turn);
        let failure = |setback: &Setback<'_>, unread: &Option<ReplyError>| Failure::of(setback, unread.as_ref());
        let conversation = self.conversations.iter_mut().find(|known| known.part == part);
        match (news, conversation) {
            (News::Failed(setback), Some(conversation)) => {
                conversation.talk.failed(&failure(setback, &self.unread));
            }
            (News::StartOver(setback), Some(conversation)) => {
                conversation.talk.fresh(&failure(setback, &self.unread));
                conversation.planned = false;
            }
            (News::MayBeDone, Some(conversation)) => conversation.talk.offer_done(),
            (News::TurnOver, _) => self.conversations.retain(|known| known.part != part),
            (News::StepOver, _) => self.conversations.clear(),
            (News::Failed(_) | News::StartOver(_) | News::MayBeDone, None) => {}
        }
    }

    fn budget(&self) -> Budget {
        self.voice.budget()
    }

    fn out_of_time(error: &AgentError) -> Option<OutOfTime> {
        match error {
            AgentError::Model(error @ LlmError::NoTime { .. }) => {
                let next = error.hint().unwrap_or_default().to_owned();
                Some(OutOfTime { reason: error.to_string(), next })
            }
            AgentError::Model(_) | AgentError::Closed(_) => None,
        }
    }
}

impl Conversation {
    fn is_about(&self, context: &StepContext) -> bool {
        (self.step, self.part, &self.targets) == (context.step_index, Part::on(&context.turn), &context.turn.targets())
    }
}
