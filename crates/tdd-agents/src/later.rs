//! Tests that a tester sent together: which of them comes first, and which of the others are worth a turn of their own.

use tdd_core::gate::{Action, Edit, Files};
use tdd_core::merge::Merged;
use tdd_core::report::{Cause, Outcome};
use tdd_core::requirements::{self, Layout, Progress, Standing};
use tdd_core::seam::{AgentHost, Done, HostFailed, StepResult, Trial};
use tdd_core::test_id::TestId;

/// Tests of one answer that are looked at.
const MAX_TESTS: usize = 8;

/// Leaves one new test in an answer and puts the others aside. Tests whose values all stand in the kata come first,
/// because small models often make up wrong ones.
pub(crate) fn split(result: &mut StepResult, kata: &str, host: &mut dyn AgentHost) -> Result<(), HostFailed> {
    let mut files = Files::new();
    for edit in &result.edits {
        let Action::Upsert { content } = &edit.action else { return Ok(()) };
        files.insert(edit.path.clone(), Some(content.clone()));
    }
    let mut parts = Vec::new();
    for part in host.one_by_one(&files)?.into_iter().take(MAX_TESTS) {
        parts.push((!is_from_kata(&part, kata, host)?, edits_of(&part)));
    }
    parts.sort_by_key(|(is_made_up, _)| *is_made_up);
    let mut parts = parts.into_iter().map(|(_, edits)| edits);
    result.edits = parts.next().unwrap_or_default();
    result.later = parts.collect();
    Ok(())
}

/// The beginning of an answer that breaks off in a fenced block, without the test that it breaks off in.
pub(crate) fn whole_tests(text: &str) -> String {
    let whole = text.trim_end().rfind("\n\n").map_or("", |end| &text[..end]);
    format!("{}\n```\n", whole.trim_end())
}

/// The edits of a test that was put aside, for the files as they are now; `None` if it is not worth a turn any more. A
/// test that fails must take its values from the kata: there is code by now that does what the kata says, and so the
/// test is as likely to be wrong.
pub(crate) fn next(edits: &[Edit], kata: &str, host: &mut dyn AgentHost) -> Result<Option<Vec<Edit>>, HostFailed> {
    let mut files = Files::new();
    for edit in edits {
        let Action::Upsert { content } = &edit.action else { return Ok(None) };
        let text = match host.read(&edit.path)? {
            None => content.clone(),
            Some(now) => match host.merge(&edit.path, &now, content) {
                Some(Ok(Merged { text, added, replaced, .. })) if replaced.is_empty() && !added.is_empty() => text,
                Some(_) | None => return Ok(None),
            },
        };
        files.insert(edit.path.clone(), Some(text));
    }
    let is_worth_it = match host.run_tests(&files, &[])? {
        Trial::Withheld => true,
        Trial::Refused(_) => false,
        Trial::Ran(report) => {
            let failed = report.results().filter_map(|result| match &result.outcome {
                Outcome::Pass | Outcome::Fail { cause: Cause::Skipped, .. } => None,
                Outcome::Fail { cause, .. } => Some(*cause),
            });
            let causes: Vec<Cause> = failed.chain(report.obstacles().iter().map(|it| it.cause)).collect();
            causes.is_empty() || causes.iter().all(|cause| cause.is_valid_red()) && is_from_kata(&files, kata, host)?
        }
    };
    Ok(is_worth_it.then(|| edits_of(&files)))
}

/// The claim that the kata is done, if nothing that it lists is open. Sentences are no list: there each test stands for
/// what its name says.
pub(crate) fn done(progress: &Progress, host: &mut dyn AgentHost) -> Result<Option<StepResult>, HostFailed> {
    let done: Vec<Done> = match progress.layout {
        Layout::Numbered | Layout::Bulleted if progress.open().next().is_none() => {
            let claim =
                |it: &Standing| it.test.clone().map(|test_id| Done { requirement: it.number.to_string(), test_id });
            progress.requirements.iter().filter_map(claim).collect()
        }
        Layout::Prose if progress.examples.is_empty() => match host.run_tests(&Files::new(), &[])? {
            Trial::Ran(report) => {
                let passing = report.results().filter(|result| result.outcome == Outcome::Pass);
                let claim = |id: &TestId| Done { requirement: id.short_name().replace('_', " "), test_id: id.clone() };
                passing.map(|result| claim(&result.id)).collect()
            }
            Trial::Refused(_) | Trial::Withheld => Vec::new(),
        },
        Layout::Numbered | Layout::Bulleted | Layout::Prose => Vec::new(),
    };
    let notes = "each test of the tester's list had its turn, and nothing that the kata lists is open".to_owned();
    Ok((!done.is_empty()).then(|| StepResult { done, notes, ..StepResult::default() }))
}

/// Whether all values in the lines that these files add stand in the kata.
fn is_from_kata(files: &Files, kata: &str, host: &mut dyn AgentHost) -> Result<bool, HostFailed> {
    for (path, text) in files {
        let before = host.read(path)?.unwrap_or_default();
        let new = text.iter().flat_map(|text| text.lines()).filter(|line| !before.lines().any(|old| old == *line));
        if !requirements::gives_all_values(kata, &new.collect::<Vec<_>>().join("\n")) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn edits_of(files: &Files) -> Vec<Edit> {
    let upsert = |(path, text): (&String, &Option<String>)| {
        text.as_ref().map(|content| Edit { path: path.clone(), action: Action::Upsert { content: content.clone() } })
    };
    files.iter().filter_map(upsert).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_breaks_off_keeps_its_whole_tests() {
        let whole = "tests/test_a.py\n```python\nfrom a import f\n\n\ndef test_a():\n    assert f(1) == 1";
        let cut = format!("{whole}\n\n\ndef test_b():\n    assert f(2) == 2\n    assert f(3) ==");
        assert_eq!(whole_tests(&cut), format!("{whole}\n```\n"));
        assert_eq!(whole_tests("a.py\n```python\nx = 1"), "\n```\n", "nothing is whole");
    }
}
