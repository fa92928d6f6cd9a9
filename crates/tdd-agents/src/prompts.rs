//! The built-in prompts and a project's overrides of them.

use std::collections::{BTreeMap, BTreeSet};

use tdd_core::cycle::Phase;

use crate::files::FILES_ANSWER;
use crate::language;
use crate::part::Part;
use crate::schema::EDIT_PLAN;

/// All prompts, complete and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompts {
    texts: BTreeMap<&'static str, String>,
}

/// The format in which a model answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerFormat {
    /// One JSON object.
    EditPlan,
    /// Fenced blocks, each headed by its path.
    Files,
    /// Tool calls.
    Tools,
}

/// Why a project's prompt override is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PromptError {
    /// No prompt has this name.
    #[error("there is no prompt `{name}`; the prompts are {known}")]
    Unknown {
        /// The unknown name.
        name: String,
        /// The existing names.
        known: String,
    },
    /// The override is empty.
    #[error("the prompt `{name}` is empty; delete the file to use the built-in prompt")]
    Empty {
        /// The prompt.
        name: &'static str,
    },
    /// The override has an unknown placeholder.
    #[error("the prompt `{prompt}` has the placeholder `{{{{{placeholder}}}}}`; it may have {known}")]
    Placeholder {
        /// The prompt.
        prompt: &'static str,
        /// The unknown placeholder.
        placeholder: String,
        /// The placeholders that this prompt may have.
        known: String,
    },
    /// The override lacks, or contains, the word that distinguishes an edit call from a plan call.
    #[error("the prompt `{name}` must{} name `{word}`", if *.must { "" } else { " not" })]
    Name {
        /// The prompt.
        name: &'static str,
        /// The word.
        word: &'static str,
        /// True if the word is required, false if it is forbidden.
        must: bool,
    },
}

/// Name, text and allowed placeholders of each prompt.
const OURS: [(&str, &str, &[&str]); 17] = [
    ("act", include_str!("../prompts/act.md"), &["aim"]),
    ("answer", include_str!("../prompts/answer.md"), &["example", "actions", "language"]),
    ("edit", include_str!("../prompts/edit.md"), &["aim"]),
    ("executor", include_str!("../prompts/executor.md"), &SYSTEM),
    ("files", include_str!("../prompts/files.md"), &["example"]),
    ("fresh", include_str!("../prompts/fresh.md"), &[]),
    ("implementor", include_str!("../prompts/implementor.md"), &SYSTEM),
    ("implementor-files", include_str!("../prompts/implementor-files.md"), &SYSTEM),
    ("mend", include_str!("../prompts/mend.md"), &SYSTEM),
    ("plan", include_str!("../prompts/plan.md"), &["aim"]),
    ("refactorer", include_str!("../prompts/refactorer.md"), &SYSTEM),
    ("rethink", include_str!("../prompts/rethink.md"), &SYSTEM),
    ("send", include_str!("../prompts/send.md"), &["aim"]),
    ("send-code", include_str!("../prompts/send-code.md"), &["aim"]),
    ("tester", include_str!("../prompts/tester.md"), &SYSTEM),
    ("tester-files", include_str!("../prompts/tester-files.md"), &SYSTEM),
    ("tools", include_str!("../prompts/tools.md"), &["language"]),
];

const SYSTEM: [&str; 4] = ["language", "places", "answer", "example"];

impl Default for Prompts {
    fn default() -> Self {
        Self { texts: OURS.into_iter().map(|(name, text, _)| (name, text.to_owned())).collect() }
    }
}

impl Prompts {
    /// The built-in prompts with a project's overrides applied.
    pub fn new(overrides: BTreeMap<String, String>) -> Result<Self, PromptError> {
        let mut prompts = Self::default();
        let own: BTreeSet<String> = overrides.keys().cloned().collect();
        for (name, text) in overrides {
            let Some((ours, _, placeholders)) = OURS.into_iter().find(|(ours, _, _)| *ours == name) else {
                return Err(PromptError::Unknown { name, known: listed(OURS.iter().map(|(ours, _, _)| *ours)) });
            };
            check(ours, &text, placeholders)?;
            // The override of a role holds for fenced files too, unless there is one for them.
            let in_files = OURS.into_iter().find(|(name, _, _)| name.strip_suffix("-files") == Some(ours));
            if let Some((name, _, _)) = in_files.filter(|(name, _, _)| !own.contains(*name)) {
                prompts.texts.insert(name, text.clone());
            }
            prompts.texts.insert(ours, text);
        }
        Ok(prompts)
    }

    /// The system prompt of a part. It is the same in every step, so that the server's prefix cache hits.
    pub fn system(&self, part: Part, language: &str, format: AnswerFormat) -> String {
        let title = language::title(language);
        let answer = match format {
            AnswerFormat::EditPlan => {
                let example = language::example(language, part);
                self.filled("answer", &[("example", &example), ("actions", &actions(part)), ("language", title)])
            }
            AnswerFormat::Files => self.filled("files", &[("example", &language::files_example(language, part))]),
            AnswerFormat::Tools => self.filled("tools", &[("language", title)]),
        };
        let places = language::places(language);
        let name = match (format, part.name) {
            (AnswerFormat::Files, "tester") => "tester-files",
            (AnswerFormat::Files, "implementor") => "implementor-files",
            (_, name) => name,
        };
        let example = language::code_example(language, part);
        let values =
            [("language", title), ("places", places), ("answer", answer.trim_end()), ("example", example.trim_end())];
        self.filled(name, &values)
    }

    /// The request for a plan.
    pub fn plan(&self, aim: &str) -> String {
        self.filled("plan", &[("aim", aim)])
    }

    /// The request for edits or tool calls.
    pub fn act(&self, part: Part, aim: &str, format: AnswerFormat) -> String {
        let name = match format {
            AnswerFormat::EditPlan => "edit",
            AnswerFormat::Files if part.phase == Phase::Green => "send-code",
            AnswerFormat::Files => "send",
            AnswerFormat::Tools => "act",
        };
        self.filled(name, &[("aim", aim)])
    }

    /// The request for a different approach.
    pub fn fresh(&self) -> String {
        self.filled("fresh", &[])
    }

    fn filled(&self, name: &str, values: &[(&str, &str)]) -> String {
        let text = self.texts.get(name).map(String::as_str).unwrap_or_default();
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, placeholder, after)) = next_placeholder(rest) {
            out += before;
            out += values.iter().find(|(name, _)| *name == placeholder).map_or("", |(_, value)| value);
            rest = after;
        }
        out += rest;
        out.trim_end().to_owned()
    }
}

fn check(name: &'static str, text: &str, placeholders: &[&str]) -> Result<(), PromptError> {
    if text.trim().is_empty() {
        return Err(PromptError::Empty { name });
    }
    let mut rest = text;
    while let Some((_, placeholder, after)) = next_placeholder(rest) {
        if !placeholders.contains(&placeholder) {
            let known = if placeholders.is_empty() { "none".to_owned() } else { listed(placeholders.iter().copied()) };
            return Err(PromptError::Placeholder { prompt: name, placeholder: placeholder.to_owned(), known });
        }
        rest = after;
    }
    let words: &[(&'static str, bool)] = match name {
        "edit" => &[(EDIT_PLAN, true)],
        "send" | "send-code" => &[(FILES_ANSWER, true)],
        "plan" => &[(EDIT_PLAN, false), (FILES_ANSWER, false)],
        _ => &[],
    };
    match words.iter().find(|(word, must)| text.contains(word) != *must) {
        None => Ok(()),
        Some((word, must)) => Err(PromptError::Name { name, word, must: *must }),
    }
}

/// Splits a text at its first `{{word}}`. Other double brackets count as text.
fn next_placeholder(text: &str) -> Option<(&str, &str, &str)> {
    text.match_indices("{{").find_map(|(at, _)| {
        let (word, after) = text[at + 2..].split_once("}}")?;
        let word = word.trim();
        let named = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        named.then_some((&text[..at], word, after))
    })
}

fn actions(part: Part) -> String {
    let descriptions = part.actions.iter().map(|action| match *action {
        "upsert" => "`upsert` (`content` is the whole file, with all that stays)",
        "replace" => "`replace` for long files (`content` replaces `find`, which must occur in the file exactly once)",
        "rename" => "`rename` (moves the file to the path in `to`)",
        _ => "`delete`",
    });
    descriptions.collect::<Vec<_>>().join(", ")
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &str, text: &str) -> Result<Prompts, PromptError> {
        Prompts::new(BTreeMap::from([(name.to_owned(), text.to_owned())]))
    }

    fn wrong(name: &str, text: &str, expected: &str) {
        assert_eq!(with(name, text).unwrap_err().to_string(), expected);
    }

    #[test]
    fn our_own_prompts_keep_the_rules_for_prompts() {
        let ours = OURS.into_iter().map(|(name, text, _)| (name.to_owned(), text.to_owned())).collect();
        assert_eq!(Prompts::new(ours), Ok(Prompts::default()));
        for phase in Phase::ALL {
            for format in [AnswerFormat::EditPlan, AnswerFormat::Files, AnswerFormat::Tools] {
                let text = Prompts::default().system(Part::of(phase), "rust", format);
                assert!(!text.contains("{{") && text.len() < 4_000, "{text}");
            }
        }
    }

    #[test]
    fn the_instructions_of_every_part_are_pinned() {
        let red = tdd_core::test_id::TestId::native("tests/a.rs", "adds");
        let test = tdd_core::cycle::RedTest::proven(red, tdd_core::report::Cause::Assertion).unwrap();
        for (who, part) in [
            ("a_tester", Part::of(Phase::Red)),
            ("an_implementor", Part::of(Phase::Green)),
            ("a_refactorer", Part::of(Phase::Refactor)),
            ("a_rethink", Part::of(Phase::RethinkTest)),
            ("who_mends", Part::on(&tdd_core::cycle::Turn::Rethink { test, mend: true })),
            ("an_executor", Part::on(&tdd_core::cycle::Turn::Task { attempt: 1 })),
        ] {
            let instructions = Prompts::default().system(part, "rust", AnswerFormat::EditPlan);
            insta::assert_snapshot!(format!("the_instructions_of_{who}_are_pinned"), instructions);
        }
    }

    #[test]
    fn the_instructions_for_tools_and_another_language_are_pinned() {
        insta::assert_snapshot!(Prompts::default().system(Part::of(Phase::Refactor), "cobol", AnswerFormat::Tools));
    }

    #[test]
    fn a_projects_own_prompt_takes_the_place_of_ours() {
        let prompts = with("tester", "Be brief in {{ language }}. {{}} {{ x y }}\n\n{{answer}}\n").unwrap();
        let text = prompts.system(Part::of(Phase::Red), "rust", AnswerFormat::EditPlan);
        assert!(text.starts_with("Be brief in Rust. {{}} {{ x y }}\n\n# How to answer"), "{text}");
        assert!(prompts.system(Part::of(Phase::Green), "rust", AnswerFormat::EditPlan).contains("the implementor"));
    }

    #[test]
    fn what_a_placeholder_becomes_is_not_read_again() {
        let prompts = with("edit", "{{aim}} edit_plan").unwrap();
        assert_eq!(prompts.act(Part::of(Phase::Red), "{{aim}}", AnswerFormat::EditPlan), "{{aim}} edit_plan");
    }

    #[test]
    fn a_prompt_that_cannot_be_used_is_told_why() {
        let known = "`act`, `answer`, `edit`, `executor`, `files`, `fresh`, `implementor`, `implementor-files`, `mend`, `plan`, `refactorer`, `rethink`, `send`, `send-code`, `tester`, `tester-files`, `tools`";
        wrong("testr", "x", &format!("there is no prompt `testr`; the prompts are {known}"));
        wrong("tester", " \n", "the prompt `tester` is empty; delete the file to use the built-in prompt");
        let expected =
            "the prompt `tester` has the placeholder `{{lang}}`; it may have `language`, `places`, `answer`, `example`";
        wrong("tester", "{{language}} {{lang}}", expected);
        wrong("fresh", "{{aim}}", "the prompt `fresh` has the placeholder `{{aim}}`; it may have none");
        wrong("plan", "Send the edit_plan.", "the prompt `plan` must not name `edit_plan`");
        wrong("edit", "Send it.", "the prompt `edit` must name `edit_plan`");
        wrong("send", "Send it.", "the prompt `send` must name `files_answer`");
    }
}
