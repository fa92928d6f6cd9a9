//! Talks to the model of a role until it has an answer that can be judged.

use std::sync::Arc;
use std::time::Instant;

use tdd_agents::brief::{Brief, File, Target};
use tdd_agents::failure::Failure;
use tdd_agents::part::Part;
use tdd_agents::plan::EditPlan;
use tdd_agents::prompts::Way;
use tdd_agents::reply::{self, ReplyError};
use tdd_agents::talk::{Stage, Talk};
use tdd_core::change::Sort;
use tdd_core::config::Protocol;
use tdd_core::cycle::Turn;
use tdd_core::digest::Digest;
use tdd_core::event::{Event, LlmCall, PlanSubmitted};
use tdd_core::program;
use tdd_core::report::{Outcome, Report};
use tdd_core::seam::{StepContext, Vcs};
use tdd_core::test_id::TestId;
use tdd_exec::clock::WallClock;
use tdd_exec::sources::StoredSources;
use tdd_exec::vcs::GitVcs;
use tdd_lang::language::Sources;
use tdd_llm::client::{Answer, Ask};
use tdd_llm::error::LlmError;

use super::Machine;
use super::stand::Stand;
use crate::error::CliError;

/// A conversation with one role about one step.
pub struct Conversation {
    step: u32,
    part: Part,
    targets: Vec<TestId>,
    pub talk: Talk,
    way: Way,
    planned: bool,
    /// How often it asked for more files.
    asked: u32,
}

/// So many documents are offered that the last commit did not change; of what else there is, a model sees the name.
const MAX_DOCUMENTS: usize = 50;
/// So often in a step may a model ask for more files at no cost.
const MAX_NEEDS: u32 = 3;
/// Most bytes of the last commit's diff in a prompt.
const MAX_DIFF: usize = 20_000;
/// After so many arrivals in a row the tester is asked whether the kata is done.
pub const ASK_WHETHER_DONE: u32 = 3;

impl Machine<'_> {
    /// The role's answer to this attempt; an error if it cannot be read.
    pub fn ask(&mut self, stand: &Stand, turn: &Turn) -> Result<Result<EditPlan, ReplyError>, CliError> {
        let known = self.conversations.iter().position(|known| known.is_about(stand, turn));
        let mut conversation = match known {
            Some(at) => self.conversations.swap_remove(at),
            None => self.begin_talk(stand, turn)?,
        };
        self.open_log(stand, turn);
        let answer = match conversation.way {
            Way::EditPlan => self.converse(&mut conversation, stand, turn),
            Way::Tools => self.tool_turn(&mut conversation, stand, turn),
        };
        if let Err(CliError::Model(LlmError::NoTools { .. })) = &answer {
            self.without_tools.insert(turn.role());
            return self.ask(stand, turn);
        }
        self.conversations.push(conversation);
        answer
    }

    /// A part has said all that it has to say in this step.
    pub fn end_talk(&mut self, turn: &Turn) {
        self.conversations.retain(|known| known.part != Part::on(turn));
    }

    /// By tools where the configuration says so and the server takes them, by an edit plan elsewhere: that works
    /// with any server.
    fn way(&self, turn: &Turn) -> Way {
        let seat = self.trial.loaded.config.roles.get(turn.role());
        match seat.map(|seat| seat.protocol).unwrap_or_default() {
            Protocol::Tools if !self.without_tools.contains(&turn.role()) => Way::Tools,
            Protocol::Tools | Protocol::EditPlan | Protocol::Auto => Way::EditPlan,
        }
    }

    fn converse(
        &mut self,
        conversation: &mut Conversation,
        stand: &Stand,
        turn: &Turn,
    ) -> Result<Result<EditPlan, ReplyError>, CliError> {
        if !conversation.planned {
            let ask = conversation.talk.ask_plan();
            let answer = self.call(stand, turn, "plan", &ask)?;
            conversation.talk.answered(&answer.content);
            conversation.planned = true;
            self.note_plan(stand, turn, &answer.content)?;
            let digest = Digest::of(&answer.content);
            self.record(&[Event::PlanSubmitted(PlanSubmitted { step: stand.step, role: turn.role(), digest })])?;
        }
        loop {
            let ask = conversation.talk.ask_edit();
            let answer = match self.call(stand, turn, "edit", &ask) {
                Err(CliError::Model(LlmError::Cut { .. })) => return Ok(Err(ReplyError::Cut)),
                other => other?,
            };
            conversation.talk.answered(&answer.content);
            match reply::read(&answer.content) {
                Ok(plan) if plan.only_asks() && conversation.asked < MAX_NEEDS => {
                    conversation.asked += 1;
                    conversation.talk.shown(&self.wanted(&plan.need)?);
                }
                other => return Ok(other),
            }
        }
    }

    /// One call to the role's model, on the record.
    pub fn call(&mut self, stand: &Stand, turn: &Turn, purpose: &str, ask: &Ask) -> Result<Answer, CliError> {
        let progress = self.context.output.progress();
        progress.say(&format!("step {}: {} thinks ({purpose})", stand.step, turn.role()));
        let asked = Instant::now();
        let answer = self.voice.ask(turn.role(), ask)?;
        let waited = asked.elapsed();
        drop(progress);
        self.note_call(ask, &answer, waited);
        let event = LlmCall {
            step: stand.step,
            role: turn.role(),
            model: answer.model.clone(),
            purpose: purpose.to_owned(),
            prompt_tokens: answer.usage.prompt,
            cached_tokens: answer.usage.cached,
            completion_tokens: answer.usage.completion,
            micro_usd: self.voice.price(turn.role(), &answer),
            duration_ms: answer.duration_ms,
        };
        self.record(&[Event::LlmCall(event)])?;
        Ok(answer)
    }

    /// The files that a model asked to see, as they are in the tree.
    fn wanted(&self, paths: &[String]) -> Result<Vec<(String, Option<String>)>, CliError> {
        let base = StoredSources::new(&self.trial.repo, &self.trial.base)?;
        let shown = |path: &String| if program::is_ours(path) { None } else { base.read(path) };
        Ok(paths.iter().take(10).map(|path| (path.clone(), shown(path))).collect())
    }

    fn begin_talk(&self, stand: &Stand, turn: &Turn) -> Result<Conversation, CliError> {
        let config = &self.trial.loaded.config;
        let targets = turn.targets();
        let arrivals = self.trial.session().standing().arrivals();
        let any_test = stand.report.results().next().is_some();
        let base = StoredSources::new(&self.trial.repo, &self.trial.base)?;
        let stage = Stage {
            part: Part::on(turn),
            step: stand.step,
            attempt: turn.attempt(),
            way: self.way(turn),
            language: self.trial.language.name().to_owned(),
            imports: self.trial.language.imports(&self.trial.project, &base),
            target: targets.first().or_else(|| self.fixed(turn).map(|fixed| &fixed.test)).cloned(),
            may_claim: targets.len() > 1,
            may_be_done: any_test
                && self.mandate.target.is_none()
                && (self.order.until_done || arrivals >= ASK_WHETHER_DONE),
            context_bytes: usize::try_from(config.llm.context_bytes.get()).unwrap_or(usize::MAX),
        };
        let context = self.context_of(stand, turn)?;
        let files = self.files(&base, &context)?;
        let target = targets.first().map(|id| self.with_complaint(target(id, turn, &stand.report), turn));
        let brief = Brief { context: &context, files: &files, target: target.as_ref() };
        let written = brief.write(stage.brief_bytes(&self.prompts));
        let way = stage.way;
        let talk = Talk::begin(stage, &self.prompts, &written);
        Ok(Conversation { step: stand.step, part: Part::on(turn), targets, talk, way, planned: false, asked: 0 })
    }

    /// Who mends a test is told what is complained of in it, not why it fails, and so is who thinks one over that cannot
    /// fail; who thinks another one over, also what became of it with the last attempt: code that does what the kata says
    /// shows a wrong expectation.
    fn with_complaint(&self, target: Target, turn: &Turn) -> Target {
        match turn {
            Turn::Rethink { mend: true, .. } => {
                let said = self.complaint.clone().or_else(|| self.last_failure());
                Target { output: said.unwrap_or_default(), ..target }
            }
            Turn::Rethink { mend: false, test } if self.trial.session().standing().is_vacuous(test.id()) => {
                // Why it failed before there was any code says nothing of that.
                Target { output: self.last_failure().unwrap_or_default(), ..target }
            }
            Turn::Rethink { mend: false, .. } => {
                let met = self.last_failure().map(|met| format!("\n\nWith the last attempt to make it pass:\n{met}"));
                Target { output: target.output.trim_end().to_owned() + &met.unwrap_or_default(), ..target }
            }
            Turn::Red { .. } | Turn::Green { .. } | Turn::Refactor { .. } | Turn::Task { .. } => target,
        }
    }

    fn context_of(&self, stand: &Stand, turn: &Turn) -> Result<StepContext, CliError> {
        let vcs = GitVcs { repo: &self.trial.repo, author: &self.trial.loaded.config.commit, clock: WallClock };
        let state = vcs.read_state(MAX_DIFF)?;
        let mut files = state.files;
        if files.iter().any(|path| program::is_ours(path)) {
            Arc::make_mut(&mut files).retain(|path| !program::is_ours(path));
        }
        Ok(StepContext {
            role: turn.role(),
            step_index: stand.step,
            kata_description: self.told(turn.role()),
            git_last_commit_msg: state.last_commit_message,
            git_last_diff: state.last_diff,
            repo_snapshot_paths: files,
        })
    }

    /// The files that a brief may show: of documents and data, those that changed last and a few more.
    fn files(&self, base: &dyn Sources, context: &StepContext) -> Result<Vec<File>, CliError> {
        let (changed, locks) = (self.trial.last_changed()?, self.trial.lock_files());
        let kata = self.trial.loaded.config.kata_description.as_str();
        let paths = &context.repo_snapshot_paths;
        let sorts = self.trial.language.sorts(&self.trial.project, paths, base);
        let is_shown = |path: &str| path != kata && path != "tdd.yaml" && !locks.iter().any(|lock| lock == path);
        let (mut documents, sources): (Vec<_>, Vec<_>) = paths
            .iter()
            .zip(sorts)
            .filter(|(path, _)| is_shown(path))
            .partition(|(path, sort)| *sort == Sort::Document && !changed.contains(*path));
        // Those of the whole project before those of its parts.
        documents.sort_by_cached_key(|(path, _)| path.bytes().filter(|byte| *byte == b'/').count());
        documents.truncate(MAX_DOCUMENTS);
        let read = |(path, sort): (&String, Sort)| {
            let text = base.read(path)?;
            Some(File { path: path.clone(), text, sort, changed: changed.contains(path) })
        };
        Ok(sources.into_iter().chain(documents).filter_map(read).collect())
    }

    /// From now on the tester may say that the kata is done.
    pub fn offer_done(&mut self, turn: &Turn) {
        if let Some(conversation) = self.conversations.iter_mut().find(|known| known.part == Part::on(turn)) {
            conversation.talk.offer_done();
        }
    }

    /// What was wrong goes into the conversation, which begins anew if nothing is learned in it.
    pub fn hear_failure(&mut self, turn: &Turn, failure: &Failure, fresh: bool) {
        let Some(conversation) = self.conversations.iter_mut().find(|known| known.part == Part::on(turn)) else {
            return;
        };
        if fresh {
            conversation.talk.fresh(failure);
            conversation.planned = false;
        } else {
            conversation.talk.failed(failure);
        }
    }
}

impl Conversation {
    fn is_about(&self, stand: &Stand, turn: &Turn) -> bool {
        (self.step, self.part, &self.targets) == (stand.step, Part::on(turn), &turn.targets())
    }
}

/// The test that a turn is about, with what it said.
fn target(id: &TestId, turn: &Turn, report: &Report) -> Target {
    let cause = match turn {
        Turn::Green { tests, .. } => tests.iter().find(|test| test.id() == id).map(tdd_core::cycle::RedTest::cause),
        Turn::Rethink { test, .. } => Some(test.cause()),
        Turn::Red { .. } | Turn::Refactor { .. } | Turn::Task { .. } => None,
    };
    let said = report.get(id).and_then(|result| match &result.outcome {
        Outcome::Fail { message, .. } => Some(message.clone()),
        Outcome::Pass => None,
    });
    let obstacle = report.obstacles().iter().find(|obstacle| obstacle.tests.contains(id));
    Target {
        id: id.clone(),
        path: id.path().unwrap_or_default().to_owned(),
        cause: cause.unwrap_or(tdd_core::report::Cause::Assertion),
        output: said.or_else(|| obstacle.map(|obstacle| obstacle.message.clone())).unwrap_or_default(),
    }
}
