//! Repeats or continues a call whose answer was cut off, so that a cut answer is never mistaken for a whole one.

use crate::client::{Answer, Ask, Finish, Form, LlmClient, Message, Usage};
use crate::error::LlmError;

/// Characters of a cut answer that are quoted when it is requested again; more would only lengthen the next answer.
const REMINDER: usize = 400;

/// Calls until the answer is whole. A text is continued at most `max_continuations` times and joined; any other format
/// is requested again once. The usage covers all calls.
pub async fn chat_whole<C>(client: &C, ask: &Ask, max_continuations: u32) -> Result<Answer, C::Error>
where
    C: LlmClient + Sync,
    C::Error: From<LlmError>,
{
    let is_text = ask.form == Form::Text;
    let mut more = if is_text { max_continuations } else { max_continuations.min(1) };
    let (mut ask, mut previous) = (ask.clone(), PreviousCalls::default());
    loop {
        let answer = client.chat(&ask).await?;
        match answer.finish {
            Finish::Stop | Finish::ToolCalls | Finish::Other(_) => return Ok(previous.with(answer)),
            Finish::Length if ask.max_tokens.is_some() => return Ok(previous.with(answer)),
            Finish::ContentFilter => return Err(LlmError::Filtered.into()),
            Finish::Length if more == 0 => {
                let completion = previous.with(answer).usage.completion;
                return Err(LlmError::Cut { completion }.into());
            }
            Finish::Length => more -= 1,
        }
        ask.messages.extend(follow_up(&ask.form, &answer.content));
        let answer = previous.with(answer);
        previous = PreviousCalls::of(answer, is_text);
    }
}

/// The messages after a cut answer. Two parts of a text can be joined; parts of JSON or tool calls rarely can.
fn follow_up(form: &Form, cut: &str) -> [Message; 2] {
    let again = "Your answer was cut off because it was too long. Answer again from the start";
    let ours = match form {
        Form::Text => {
            "Your answer was cut off. Continue exactly where it ended, without repeating anything.".to_owned()
        }
        // Repeats the schema's name, because a model or a test server may look only at the last message.
        Form::Schema { name, .. } => format!("{again}, with a shorter `{name}`."),
        Form::Tools(_) => format!("{again}, and be shorter."),
    };
    let theirs = match form {
        Form::Text if !cut.trim().is_empty() => cut.to_owned(),
        // Never empty: servers refuse a message without text, and two user messages in a row.
        Form::Text | Form::Schema { .. } | Form::Tools(_) => cut.chars().take(REMINDER).chain(" […]".chars()).collect(),
    };
    [Message::assistant(theirs), Message::user(ours)]
}

/// The sum of the previous calls.
#[derive(Default)]
struct PreviousCalls {
    content: String,
    usage: Usage,
    duration_ms: u64,
    retries: u32,
}

impl PreviousCalls {
    fn of(answer: Answer, keep_content: bool) -> Self {
        let Answer { content, usage, duration_ms, retries, .. } = answer;
        Self { content: if keep_content { content } else { String::new() }, usage, duration_ms, retries }
    }

    /// Adds the next answer to the previous ones.
    fn with(&mut self, answer: Answer) -> Answer {
        Answer {
            content: std::mem::take(&mut self.content) + &answer.content,
            usage: self.usage.plus(answer.usage),
            duration_ms: self.duration_ms.saturating_add(answer.duration_ms),
            retries: self.retries.saturating_add(answer.retries),
            ..answer
        }
    }
}
