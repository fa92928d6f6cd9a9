//! Shows a run as it goes: a readable story for people, or every event as JSON.

use std::io;

use anstyle::Style;
use tdd_core::commit;
use tdd_core::cycle::{Phase, Role};
use tdd_core::event::{Committed, Event, Reverted, StepEnd, StepOutcome, StepStart};
use tdd_core::machine::StepLog;
use tdd_core::plan::{Dot, Dotted, TestStep};
use tdd_core::report::Cause;
use tdd_core::seam::{EventContext, Reporter, Rescued, StepResult};
use tdd_core::session::Session;
use tdd_core::test_id::TestId;
use tdd_exec::state::StateDir;
use tdd_exec::views::Views;

use crate::dots;
use crate::output::{BAD, BOLD, DIM, GOOD, Output, WARN, paint, print_raw, print_story, remark};
use crate::progress::Progress;

/// Longest line, unless it has no space to break at.
const WIDTH: usize = 100;
/// Most characters of a quoted text.
const MAX_SAID: usize = 400;

/// A label with its style, and the text after it.
type Line = (Style, &'static str, String);

/// Prints a run as a story, and writes each step's plan and log below `.tdd/`.
pub struct Story {
    output: Output,
    views: Views,
    waiting: Option<Progress>,
    /// The steps of the current plan, each with the dot shown last.
    steps: Vec<(TestStep, Option<Dot>)>,
}

impl Story {
    /// Creates a story. `steps` are those of the plan, if one is run.
    pub fn new(output: Output, state: &StateDir, steps: Vec<TestStep>) -> Self {
        let steps = steps.into_iter().map(|step| (step, None)).collect();
        Self { output, views: Views::new(state), waiting: None, steps }
    }

    /// The plan steps whose dot changed since it was last shown; at first all.
    fn changed_dots(&mut self, session: &Session) -> Vec<Dotted> {
        let mut changed = Vec::new();
        for (step, shown) in &mut self.steps {
            let dotted = step.dotted(session);
            if shown.replace(dotted.state) != Some(dotted.state) {
                changed.push(dotted);
            }
        }
        changed
    }

    /// The JSON line at the end of a plan: every step with its state.
    fn plan_document(&self, session: &Session) -> Option<String> {
        let steps: Vec<Dotted> = self.steps.iter().map(|(step, _)| step.dotted(session)).collect();
        (!steps.is_empty()).then(|| serde_json::json!({"type": "plan_steps", "steps": steps}).to_string())
    }

    /// Formats an event for people.
    fn formatted(&mut self, event: &Event, context: &EventContext<'_>) -> Vec<String> {
        let mut shown = Vec::new();
        if let Event::StepStart(start) = event {
            let free = context.session.machine_state().step().is_some_and(|step| step.free);
            shown.push(title(start, free));
        }
        for (style, label, text) in self.lines(event, context) {
            shown.push(format!("  {}{}", paint(style, format_args!("{label:<9}")), one_line(&text)));
        }
        if matches!(event, Event::RunStart(_) | Event::StepEnd(_)) {
            let changed = self.changed_dots(context.session);
            shown.extend(changed.iter().map(|dotted| dots::text(dotted).trim_end().to_owned()));
        }
        if matches!(event, Event::StepEnd(_)) {
            shown.push(String::new());
        }
        shown
    }

    fn lines(&self, event: &Event, context: &EventContext<'_>) -> Vec<Line> {
        match event {
            Event::PlanSubmitted(_) => vec![(DIM, "plan", first_words(context.plan))],
            Event::Reverted(it) => reverted(it, context.answer),
            Event::Stuck(stuck) => {
                vec![(WARN, "stuck", format!("the same failure {} times: the conversation starts afresh", stuck.times))]
            }
            Event::TestRevised(revised) => {
                let what = if revised.after.is_some() { "is revised" } else { "is withdrawn" };
                vec![(DIM, "thought", format!("`{}` {what}: {}", revised.test_id, revised.reason))]
            }
            Event::TestUpheld(upheld) => {
                vec![(DIM, "thought", format!("`{}` stays as it is: {}", upheld.test_id, upheld.reason))]
            }
            Event::Committed(commit) => kept(commit, context.message),
            Event::StepEnd(end) => ended(end, context.answer),
            Event::Resynced(resynced) => {
                vec![(DIM, "resynced", format!("at step {}: {}", resynced.step, resynced.reason))]
            }
            Event::Blocked(blocked) => vec![(BAD, "blocked", format!("{}: {}", blocked.test_id, blocked.reason))],
            Event::LlmCall(call) if self.output.is_verbose() => {
                let tokens = format!("{} + {} tokens", call.prompt_tokens, call.completion_tokens);
                let rest = format!("({} cached), {} ms", call.cached_tokens, call.duration_ms);
                vec![(DIM, "asked", format!("{} for its {}: {tokens} {rest}", call.model, call.purpose))]
            }
            _ => Vec::new(),
        }
    }
}

impl Reporter for Story {
    /// In JSON mode the ledger prints its own lines, so only the plan's steps are added at the end.
    fn event(&mut self, event: &Event, context: &EventContext<'_>) {
        let mut shown = Vec::new();
        if self.output.is_json() {
            let ends = matches!(event, Event::RunEnd(_));
            shown.extend(self.plan_document(context.session).filter(|_| ends));
        } else if !self.output.is_quiet() {
            shown = self.formatted(event, context);
        }
        for line in shown {
            // Write errors are reported when the program ends.
            let _printed = if self.output.is_json() { print_raw(&line) } else { print_story(&line, WIDTH) };
        }
    }

    fn working(&mut self, what: &str) {
        let line = self.waiting.get_or_insert_with(Progress::begin);
        line.say(what);
    }

    fn rested(&mut self) {
        self.waiting = None;
    }

    fn remark(&mut self, text: &str) {
        self.output.note(paint(WARN, text));
    }

    fn rescued(&mut self, rescued: &[Rescued]) {
        for Rescued { path, kept_as, on_disk } in rescued {
            let there = if *on_disk { "still in the file, and " } else { "" };
            let what = format!("your change to `{path}` during this step is {there}kept as {kept_as}");
            remark(paint(WARN, what));
        }
    }

    fn plan(&mut self, step: u32, role: Role, plan: &str) -> io::Result<()> {
        self.views.plan(step, role, plan)
    }

    fn log(&mut self, log: &StepLog) -> io::Result<()> {
        self.views.log(log)
    }
}

/// An attempt is "refused" if nothing was written, and "undone" if it was written and run.
fn reverted(reverted: &Reverted, answer: Option<&StepResult>) -> Vec<Line> {
    let (style, label) = if reverted.kept_as.is_some() { (WARN, "undone") } else { (BAD, "refused") };
    let passes_already = reverted.cause == Some(Cause::UnexpectedGreen) && !reverted.spent;
    let next = if passes_already { "; the tester must test something new" } else { "" };
    tried(answer).into_iter().chain([(style, label, format!("{}{next}", reverted.reason))]).collect()
}

fn kept(commit: &Committed, message: &str) -> Vec<Line> {
    let why = commit::bullets(message, "Rationale").join("; ");
    let kept = format!("{} {}", commit.commit.short(), commit.subject);
    vec![(GOOD, "kept", kept), (DIM, "because", why), (DIM, "seen", seen(message))]
}

fn ended(end: &StepEnd, answer: Option<&StepResult>) -> Vec<Line> {
    match end.outcome {
        StepOutcome::Nothing => vec![(DIM, "rests", rest(answer))],
        StepOutcome::Skipped => vec![(WARN, "skipped", "no attempt was accepted".to_owned())],
        StepOutcome::Done => {
            let done = answer.into_iter().flat_map(|answer| &answer.done);
            let done = done.map(|done| format!("{}: `{}`", done.requirement, done.test_id));
            done.map(|done| (GOOD, "done", done)).collect()
        }
        StepOutcome::Kept | StepOutcome::Stopped => Vec::new(),
    }
}

/// The model's summary of a failed attempt.
fn tried(answer: Option<&StepResult>) -> Option<Line> {
    let summary = &answer?.summary;
    (!summary.is_empty()).then(|| (DIM, "tried", summary.clone()))
}

fn title(start: &StepStart, free: bool) -> String {
    let what = match start.phase {
        Phase::Refactor if free => "does a task, in refactor mode".to_owned(),
        Phase::Red => "writes a failing test".to_owned(),
        Phase::Green => format!("makes {} pass", listed(&start.targets)),
        Phase::Refactor => "looks for something to improve".to_owned(),
        Phase::RethinkTest => format!("thinks {} over", listed(&start.targets)),
    };
    let mark = start.mark.as_ref().map(|mark| format!(" {}", paint(DIM, mark))).unwrap_or_default();
    format!("{} {what}{mark}", paint(BOLD, format_args!("step {} · {}", start.step, start.role)))
}

fn listed(tests: &[TestId]) -> String {
    tests.iter().map(|test| format!("`{test}`")).collect::<Vec<_>>().join(", ")
}

/// The test counts and their meaning. Omits the commands, which are in the commit and always the same.
fn seen(message: &str) -> String {
    let mut seen = commit::bullets(message, "Verification").into_iter();
    let counts = seen.next().map(|line| line.split_once("`: ").map_or(line, |(_, counts)| counts));
    counts.into_iter().chain(seen.next()).collect::<Vec<_>>().join("; ")
}

/// Why the refactorer changed nothing.
fn rest(answer: Option<&StepResult>) -> String {
    let texts = answer.into_iter().flat_map(|answer| [&answer.rationale, &answer.notes]);
    let why = texts.into_iter().find(|text| !text.trim().is_empty());
    why.map_or_else(|| "nothing worth it".to_owned(), |why| format!("nothing worth it: {why}"))
}

/// The first paragraph of a plan that is not a heading.
fn first_words(plan: &str) -> String {
    let paragraphs = plan.split("\n\n").map(str::trim);
    paragraphs.into_iter().find(|text| !text.is_empty() && !text.starts_with('#')).unwrap_or(plan).to_owned()
}

/// A text on one line, cut to [`MAX_SAID`].
fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_SAID) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_words_the_first_are_shown_on_one_line() {
        assert_eq!(one_line("a\r\n\tb  c"), "a b c");
        assert_eq!(one_line(&"ü".repeat(500)).chars().count(), MAX_SAID + 1);
    }

    #[test]
    fn of_a_plan_the_first_paragraph_is_shown() {
        assert_eq!(first_words("# Plan\n\nAdd it.\n\nThen rest."), "Add it.");
        assert_eq!(first_words("# Plan"), "# Plan");
    }
}
