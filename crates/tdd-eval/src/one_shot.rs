//! Asks a model for the whole solution in one answer, and once more with the output of the failing tests.

use tdd_agents::agent::RoleModel;
use tdd_agents::files;
use tdd_exec::process::Cancel;
use tdd_llm::client::{Answer, Ask, Form, Message};
use tdd_llm::error::LlmError;

use crate::error::TrialError;
use crate::exercise::Exercise;
use crate::folder::Files;
use crate::score::{self, Score};
use crate::trial::{Spent, Tried};

const SYSTEM: &str = "You are an experienced programmer. You solve a programming exercise.";
const FORM: &str = "Answer with the complete content of each file that you change, in a fenced code block with the \
                    file's path on the line before it. Keep the names and signatures of the stub. Write no tests.";

/// Asks once, and if `retry` is set and hidden tests fail, a second time with their output.
pub fn solve(exercise: &Exercise, model: &impl RoleModel, retry: bool, cancel: &Cancel) -> Result<Tried, TrialError> {
    let mut messages = vec![Message::system(SYSTEM), Message::user(task(exercise))];
    let mut spent = Spent::default();
    let (first, answer) = shot(exercise, model, "one-shot", &messages, &mut spent, cancel)?;
    let failing = match &first {
        Shot::Scored(score) if score.is_solved() => return Ok(Tried { shot: first, spent }),
        Shot::Scored(score) => format!("These tests fail:\n\n{}\nCorrect the code. {FORM}", score.output),
        Shot::Unreadable(reason) => format!("Your answer could not be used: {reason}. {FORM}"),
    };
    if !retry {
        return Ok(Tried { shot: first, spent });
    }
    messages.extend([Message::assistant(answer), Message::user(failing)]);
    let (second, _) = shot(exercise, model, "one-shot-retry", &messages, &mut spent, cancel)?;
    Ok(Tried { shot: second, spent })
}

/// What became of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shot {
    /// The hidden tests ran.
    Scored(Score),
    /// The answer holds no usable code.
    Unreadable(String),
}

fn shot(
    exercise: &Exercise,
    model: &impl RoleModel,
    key: &str,
    messages: &[Message],
    spent: &mut Spent,
    cancel: &Cancel,
) -> Result<(Shot, String), TrialError> {
    let (key, messages) = (key.to_owned(), messages.to_vec());
    let ask = Ask { key, messages, form: Form::Text, repeated: 0, max_tokens: None };
    spent.calls += 1;
    spent.attempts += 1;
    let answer = match model.ask(&ask) {
        Ok((answer, _)) => answer,
        Err(LlmError::Cancelled) => return Err(TrialError::Interrupted),
        // The model's own fault: it does not come to an end, or says what no server passes on.
        Err(error @ (LlmError::Cut { .. } | LlmError::Filtered)) => {
            return Ok((Shot::Unreadable(error.to_string()), "[…]".to_owned()));
        }
        Err(error) => return Err(error.into()),
    };
    let Answer { content, usage, .. } = answer;
    spent.prompt_tokens += usage.prompt;
    spent.completion_tokens += usage.completion;
    let shot = match solution(exercise, &content) {
        Ok(files) => Shot::Scored(score::score(exercise, &files, cancel)?),
        Err(reason) => Shot::Unreadable(reason),
    };
    Ok((shot, content))
}

/// The instructions and the stub.
fn task(exercise: &Exercise) -> String {
    let mut task = format!("{}\n\nThe files to complete:\n", exercise.instructions.trim_end());
    for path in exercise.solution_files() {
        let text = exercise.stub.get(path).map(String::as_str).unwrap_or_default();
        task += &format!("\n{path}\n```{}\n{}\n```\n", exercise.language, text.trim_end());
    }
    task + "\n" + FORM
}

/// The files of an answer. Of several blocks for one file the longest counts: the others show how to use it.
fn solution(exercise: &Exercise, answer: &str) -> Result<Files, String> {
    let paths = exercise.solution_files();
    let default = if let [only] = paths.as_slice() { Some(*only) } else { None };
    let answer = files::read(answer, default).map_err(|error| error.to_string())?;
    let mut solution = Files::new();
    for block in answer.blocks {
        let path = meant(&paths, block.path);
        let known = solution.get(&path).map_or(0, String::len);
        if block.content.len() > known {
            solution.insert(path, block.content);
        }
    }
    if solution.is_empty() { Err("there is no fenced code block in it".to_owned()) } else { Ok(solution) }
}

/// The stub's file of that name, if the model wrote another folder.
fn meant(paths: &[&str], written: String) -> String {
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let mut same = paths.iter().filter(|path| name(path) == name(&written));
    match (same.next(), same.next()) {
        (Some(path), None) => (*path).to_owned(),
        (_, _) => written,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exercise() -> Exercise {
        Exercise {
            name: "a".to_owned(),
            language: "rust",
            instructions: "Answer one.".to_owned(),
            stub: Files::from([("src/lib.rs".to_owned(), "pub fn f() -> u32 {\n    todo!()\n}\n".to_owned())]),
            hidden: Files::from([("tests/a.rs".to_owned(), "#[test]\nfn secret() {}\n".to_owned())]),
        }
    }

    fn check(answer: &str, expected: &str) {
        let found = solution(&exercise(), answer);
        let told: Vec<String> = match found {
            Ok(files) => files.into_iter().map(|(path, text)| format!("{path}: {text}")).collect(),
            Err(reason) => vec![reason],
        };
        assert_eq!(told, [expected], "{answer}");
    }

    #[test]
    fn the_task_shows_the_stub_and_no_hidden_test() {
        let task = task(&exercise());
        assert!(task.contains("src/lib.rs\n```rust\npub fn f() -> u32 {"), "{task}");
        assert!(!task.contains("secret"), "{task}");
    }

    #[test]
    fn an_answer_is_read_wherever_the_model_puts_its_path() {
        check("src/lib.rs\n```rust\nfn f() {}\n```\n", "src/lib.rs: fn f() {}\n");
        check("Sure!\n```rust\nfn f() {}\n```\nUse it:\n```\nf()\n```\n", "src/lib.rs: fn f() {}\n");
        check("lib.rs\n```rust\nfn f() {}\n```\n", "src/lib.rs: fn f() {}\n");
        check("I cannot.", "there is no fenced code block in it");
    }
}
