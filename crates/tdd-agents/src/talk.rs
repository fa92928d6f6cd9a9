//! One step's conversation with a model. It only grows, and starts over when it exceeds its byte limit.
//!
//! Sent messages never change, so each call starts with all of the previous call and the server's prefix cache hits.
//! The brief is a message of its own, so the last message holds only the request and the last failure. A short
//! assistant message separates the two, because some servers require alternating speakers.

use tdd_core::cycle::{Phase, Role};
use tdd_core::test_id::TestId;
use tdd_llm::client::{Ask, Form, Message, Speaker, ToolCall};

use crate::brief::{self, Written};
use crate::cut;
use crate::failure::Failure;
use crate::files;
use crate::part::Part;
use crate::prompts::{AnswerFormat, Prompts};
use crate::reply;
use crate::schema::{self, EDIT_PLAN, Files, Offers};
use crate::tools;

/// What a conversation is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The part that the model plays.
    pub part: Part,
    /// The number of the step.
    pub step: u32,
    /// The first attempt of the conversation, counted from 1.
    pub attempt: u32,
    /// The format in which the model answers.
    pub format: AnswerFormat,
    /// The project's language.
    pub language: String,
    /// How this project's tests import production code, if known: `use calc::…;`.
    pub imports: Option<String>,
    /// The test that the step is about.
    pub target: Option<TestId>,
    /// Whether a tester may declare the kata finished, because there are tests.
    pub may_be_done: bool,
    /// Whether each requirement of the kata seems to have a test.
    pub seems_done: bool,
    /// Whether an implementor may claim tests other than the target, because several are red.
    pub may_claim: bool,
    /// Most bytes of the whole conversation.
    pub context_bytes: usize,
    /// The file that the answer belongs in, if there is only one.
    pub path: Option<String>,
}

impl Stage {
    /// Byte limit of the brief: more than half of what the system prompt leaves.
    pub fn brief_bytes(&self, prompts: &Prompts) -> usize {
        let system = prompts.system(self.part, &self.language, self.format);
        brief_bytes(self.context_bytes, system.len())
    }
}

/// The smallest byte limit that any role's brief has in a project.
pub fn least_brief_bytes(prompts: &Prompts, language: &str, context_bytes: usize) -> usize {
    let parts = Phase::ALL
        .into_iter()
        .flat_map(|phase| [AnswerFormat::EditPlan, AnswerFormat::Tools].map(|format| (Part::of(phase), format)));
    let longest = parts.map(|(part, format)| prompts.system(part, language, format).len()).max();
    brief_bytes(context_bytes, longest.unwrap_or_default())
}

fn brief_bytes(context_bytes: usize, system: usize) -> usize {
    context_bytes.saturating_sub(system) / 10 * 6
}

/// One step's conversation.
#[derive(Clone, Debug)]
pub struct Talk {
    stage: Stage,
    offers: Offers,
    requests: Requests,
    /// System prompt, brief and a short acknowledgement: the start of every conversation of this step. With fenced files
    /// the first request follows the brief in the same message.
    opening: Vec<Message>,
    messages: Vec<Message>,
    /// Text to send with the next request.
    news: String,
    plan: String,
    /// Files that the model requested.
    shown: String,
    waiting: Option<Call>,
    renewed: Option<Renewed>,
    /// How often the model repeated a failed answer.
    repeated: u32,
}

/// A conversation exceeded its byte limit and started over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renewed {
    /// Bytes that it had.
    pub bytes: usize,
    /// Messages that it had.
    pub messages: usize,
}

/// The texts of the requests, the same every time.
#[derive(Clone, Debug)]
struct Requests {
    plan: String,
    act: String,
    fresh: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Plan,
    Edit,
    Tools,
}

/// Most tokens of a tester's list of tests: of a longer answer the first tests are taken.
const MAX_LIST_TOKENS: u32 = 400;

/// Files longer than this may be changed by `replace`.
const LONG_FILE: usize = 6_000;

/// Lets a tester finish the kata when no test is left to write.
const OR_DONE: &str =
    "If each requirement of the kata has a test that passes, send no edits instead, and name them all in `done`.";

/// The same, for fenced files.
const OR_DONE_LINES: &str = "If each requirement of the kata has a test that passes, send no block instead, but a line \
                             `done: requirement => test id` for each of them.";

/// Comes before them if the machine's own list has nothing open.
const SEEMS_DONE: &str = "Each requirement of the kata seems to have a test that passes.";

const NOD: &str = "I have read all of it.";

/// Small models tend to resend a refused answer.
const AGAIN: &str = "This answer is the same as the one before, and would fail the same way. Write something else.\n\n";

impl Talk {
    /// Begins a conversation without sending a request.
    pub fn begin(stage: Stage, prompts: &Prompts, brief: &Written) -> Self {
        let system = prompts.system(stage.part, &stage.language, stage.format);
        let imports = stage.imports.as_ref().filter(|_| stage.part.role == Role::Tester);
        let imports = imports.map(|line| format!(" Tests import production code with `{line}`.")).unwrap_or_default();
        let seems_done = stage.seems_done && stage.may_be_done && stage.part.phase == Phase::Red;
        let seems_done = if seems_done { format!(" {SEEMS_DONE}") } else { String::new() };
        let aim = |target: Option<&str>| {
            let short =
                stage.part.short_aim(stage.path.as_deref(), target).filter(|_| stage.format == AnswerFormat::Files);
            short.unwrap_or_else(|| stage.part.aim(&stage.language, target)) + &imports + &seems_done
        };
        let requests = Requests {
            // A target may be called `edit_plan`, a word that the request for a plan must not contain.
            plan: prompts.plan(&aim(None)),
            act: prompts.act(stage.part, &aim(stage.target.as_ref().map(TestId::as_str)), stage.format),
            fresh: prompts.fresh(),
        };
        let offers = Offers {
            need: !brief.omitted.is_empty(),
            done: stage.may_be_done && stage.part.phase == Phase::Red,
            claims: stage.may_claim && stage.part.phase == Phase::Green,
            files: if brief.longest > LONG_FILE { Files::Long } else { Files::Short },
        };
        let mut opening = vec![Message::system(system), Message::user(brief.text.clone())];
        if stage.format != AnswerFormat::Files {
            opening.push(Message::assistant(NOD));
        }
        Self {
            messages: opening.clone(),
            news: String::new(),
            plan: String::new(),
            shown: String::new(),
            waiting: None,
            renewed: None,
            repeated: 0,
            stage,
            offers,
            requests,
            opening,
        }
    }

    /// Asks for a plan in plain words.
    pub fn ask_plan(&mut self) -> Ask {
        self.request(Call::Plan);
        self.ask("plan", Form::Text)
    }

    /// Asks for edits, as an edit plan or as fenced files.
    pub fn ask_edit(&mut self) -> Ask {
        self.ask_edit_as("")
    }

    /// Asks once more for what [`Talk::ask_edit`] asked last, for candidate `number` of the same attempt. A later
    /// candidate gets a higher temperature.
    pub fn ask_sample(&mut self, number: u32) -> Ask {
        let ask = self.ask_edit_as(&format!("-sample-{number}"));
        Ask { repeated: ask.repeated + number - 1, ..ask }
    }

    /// Asks to repair the last answer within the same attempt.
    pub fn ask_repair(&mut self, message: &str, number: u32) -> Ask {
        self.say(message);
        self.ask_edit_as(&format!("-repair-{number}"))
    }

    /// The conversation before the last answer to a request for edits: the request waits for an answer.
    #[must_use]
    pub fn without_last_answer(&self) -> Self {
        let mut before = self.clone();
        let is_answered = before.waiting.is_none() && before.messages.len() > before.opening.len();
        if is_answered && before.messages.last().is_some_and(|last| last.role == Speaker::Assistant) {
            before.messages.pop();
            before.waiting = Some(Call::Edit);
        }
        before
    }

    /// Drops the failed answer; the next request asks the same again, at a higher temperature.
    pub fn draw_again(&mut self) {
        *self = self.without_last_answer();
        self.stage.attempt += 1;
        self.repeated += 1;
    }

    fn ask_edit_as(&mut self, suffix: &str) -> Ask {
        self.request(Call::Edit);
        let attempt = self.stage.attempt;
        if self.stage.format == AnswerFormat::Files {
            return self.ask(&format!("files-{attempt}{suffix}"), Form::Text);
        }
        let schema = schema::edit_plan(self.stage.part, self.offers);
        let form = Form::Schema { name: EDIT_PLAN.to_owned(), schema };
        self.ask(&format!("edit-{attempt}{suffix}"), form)
    }

    /// Asks for tool calls, or for more of them after their results.
    pub fn ask_tools(&mut self) -> Ask {
        self.request(Call::Tools);
        self.ask(&format!("tools-{}", self.stage.attempt), Form::Tools(tools::tools(self.stage.part)))
    }

    /// Adds an answer in text.
    pub fn answered(&mut self, text: &str) {
        if self.waiting == Some(Call::Plan) {
            text.trim().clone_into(&mut self.plan);
        }
        // Some servers refuse a message without content.
        self.hear(Message::assistant(if text.trim().is_empty() { "(no answer)" } else { text }));
    }

    /// Adds an answer with tool calls.
    pub fn called(&mut self, text: &str, calls: Vec<ToolCall>) {
        self.hear(Message { tool_calls: calls, ..Message::assistant(text) });
    }

    /// Adds a tool call's result. A call that was written into the text gets its result as text.
    pub fn add_tool_result(&mut self, call: &ToolCall, result: &str) {
        let result = cut::head_and_tail(result, self.stage.context_bytes / 5);
        if call.id.starts_with(tools::WRITTEN) {
            self.say(&format!("`{}` says:\n{result}", call.name));
        } else {
            self.messages.push(Message::tool(call.id.clone(), result));
        }
    }

    /// Adds the failure of an attempt; the next request is a new attempt.
    pub fn failed(&mut self, failure: &Failure) {
        self.stage.attempt += 1;
        let words = failure.words(self.stage.context_bytes / 5);
        let again = if self.repeats_itself() { AGAIN } else { "" };
        self.repeated += u32::from(!again.is_empty());
        self.say(&format!("{again}{words}"));
    }

    /// Whether the last answer equals the one before it, or asks for the same edits.
    fn repeats_itself(&self) -> bool {
        let mut answers = self.messages.iter().rev().filter(|message| message.role == Speaker::Assistant);
        let (Some(last), Some(before)) = (answers.next(), answers.next()) else { return false };
        let edits = |message: &Message| reply::read(&message.content).map(|plan| plan.edits).unwrap_or_default();
        let blocks = |message: &Message| files::read(&message.content, Some("")).map(|answer| answer.blocks);
        last == before
            || match self.stage.format {
                AnswerFormat::Files => blocks(last).is_ok_and(|own| !own.is_empty() && Ok(own) == blocks(before)),
                AnswerFormat::EditPlan | AnswerFormat::Tools => !edits(last).is_empty() && edits(last) == edits(before),
            }
    }

    /// Adds files that the model requested, `None` if there is no such file. Does not count as an attempt.
    pub fn shown(&mut self, files: &[(String, Option<String>)]) {
        let room = self.stage.context_bytes / 4 / files.len().max(1);
        let sections = files.iter().map(|(path, text)| match text {
            Some(text) => brief::shown(path, &cut::head(text, room)),
            None => format!("\n## {}\n\nThere is no such file.\n", path.escape_debug()),
        });
        let sections: String = sections.collect();
        self.say(&format!("Here is what you asked for.\n{sections}"));
        self.shown += &sections;
    }

    /// Starts over after repeated failures: drops the conversation and asks for another approach.
    pub fn fresh(&mut self, failure: &Failure) {
        self.reset();
        self.plan.clear();
        self.shown.clear();
        self.repeated += 1;
        self.stage.attempt += 1;
        let words = failure.words(self.stage.context_bytes / 5);
        self.news = format!("{}\n\n{words}", self.requests.fresh);
    }

    /// Lets a tester declare the kata finished from the next request on.
    pub fn offer_done(&mut self) {
        self.offers.done = self.stage.part.phase == Phase::Red;
    }

    /// Returns once whether the last request made the conversation start over.
    pub fn renewed(&mut self) -> Option<Renewed> {
        self.renewed.take()
    }

    fn ask(&self, what: &str, form: Form) -> Ask {
        let key = format!("step-{}-{}-{what}", self.stage.step, self.stage.part.name);
        let is_list = self.stage.format == AnswerFormat::Files && self.stage.part.phase == Phase::Red;
        let max_tokens = is_list.then_some(MAX_LIST_TOKENS);
        Ask { key, messages: self.messages.clone(), form, repeated: self.repeated, max_tokens }
    }

    /// Adds the next request. A request that was not answered is repeated unchanged.
    fn request(&mut self, call: Call) {
        if self.waiting == Some(call) && self.news.is_empty() {
            return;
        }
        let mut text = self.next_message(call);
        if self.bytes() + text.len() > self.stage.context_bytes && self.messages.len() > self.opening.len() {
            self.renew();
            text = self.next_message(call);
        }
        self.news.clear();
        self.waiting = Some(call);
        match self.messages.last_mut() {
            _ if text.is_empty() => {}
            Some(last) if last.role == Speaker::User => last.content = format!("{}\n\n{text}", last.content.trim_end()),
            Some(_) | None => self.messages.push(Message::user(text)),
        }
    }

    /// The next request; empty after tool results, because those need no further words.
    fn next_message(&self, call: Call) -> String {
        let results = self.messages.last().is_some_and(|last| last.role == Speaker::Tool);
        let request = match call {
            Call::Tools if results && self.news.is_empty() => return String::new(),
            Call::Plan => self.requests.plan.clone(),
            Call::Edit | Call::Tools if self.offers.done => {
                let or_done = if self.stage.format == AnswerFormat::Files { OR_DONE_LINES } else { OR_DONE };
                format!("{} {or_done}", self.requests.act)
            }
            Call::Edit | Call::Tools => self.requests.act.clone(),
        };
        if self.news.is_empty() { request } else { format!("{}\n\n{request}", self.news) }
    }

    fn hear(&mut self, message: Message) {
        self.waiting = None;
        self.messages.push(message);
    }

    fn say(&mut self, text: &str) {
        if !self.news.is_empty() {
            self.news += "\n\n";
        }
        self.news += text.trim_end();
    }

    /// Starts over and keeps what still matters: the plan, requested files, the last tool results and unsent text.
    fn renew(&mut self) {
        self.renewed = Some(Renewed { bytes: self.bytes(), messages: self.messages.len() });
        let from = self.messages.iter().rposition(|message| message.role != Speaker::Tool).map_or(0, |at| at + 1);
        let results = self.messages[from..].iter().map(|message| message.content.as_str());
        let results = results.collect::<Vec<_>>().join("\n\n");
        let room = self.stage.context_bytes / 10;
        let plan = cut::head(&self.plan, room);
        let plan = if plan.is_empty() { plan } else { format!("Your plan was:\n\n{plan}") };
        let kept = [
            plan,
            cut::head_and_tail(&results, 2 * room),
            cut::head(&self.shown, room),
            std::mem::take(&mut self.news),
        ];
        self.reset();
        for text in kept.iter().filter(|text| !text.is_empty()) {
            self.say(text);
        }
    }

    fn reset(&mut self) {
        self.messages = self.opening.clone();
        self.news.clear();
        self.waiting = None;
    }

    fn bytes(&self) -> usize {
        let calls = |message: &Message| {
            message.tool_calls.iter().map(|call| call.arguments.len() + call.name.len()).sum::<usize>()
        };
        self.messages.iter().map(|message| message.content.len() + calls(message)).sum()
    }
}

#[cfg(test)]
#[path = "talk_tests.rs"]
mod tests;
