//! Reduces an answer to one edit per file. Merges blocks and repeated edits of a file, and treats a test file that
//! merely omits older tests as an addition.

use tdd_core::cycle::Phase;
use tdd_core::gate::{Action, Edit};
use tdd_core::merge::MergeError;
use tdd_core::seam::{AgentHost, HostFailed, StepResult};

use crate::files::FilesAnswer;
use crate::part::Part;
use crate::reply::ReplyError;

/// Why an answer could not be reduced to edits.
#[derive(Debug)]
pub(crate) enum Unresolved {
    /// The model's answer is invalid.
    Reply(ReplyError),
    /// The host failed.
    HostFailed(HostFailed),
}

impl From<HostFailed> for Unresolved {
    fn from(closed: HostFailed) -> Self {
        Self::HostFailed(closed)
    }
}

impl From<ReplyError> for Unresolved {
    fn from(error: ReplyError) -> Self {
        Self::Reply(error)
    }
}

/// Turns fenced blocks into edits. Items that a block does not mention stay, except when a refactorer sends a whole
/// file.
pub(crate) fn blocks(answer: FilesAnswer, part: Part, host: &mut dyn AgentHost) -> Result<StepResult, Unresolved> {
    let FilesAnswer { blocks, mut result } = answer;
    let mut written: Vec<(String, String)> = Vec::new();
    for block in blocks {
        let at = written.iter().position(|(path, _)| *path == block.path);
        let now = match at {
            Some(at) => Some(written[at].1.clone()),
            None => host.read(&block.path)?,
        };
        let is_whole = block.item.is_none() && part.phase == Phase::Refactor && at.is_none();
        let text = match now.filter(|_| !is_whole) {
            None => block.content,
            Some(file) => merged(&block.path, &file, block.content, &mut result.notes, host)?,
        };
        match at {
            Some(at) => written[at].1 = text,
            None => written.push((block.path, text)),
        }
    }
    result.edits.extend(written.into_iter().map(|(path, content)| Edit { path, action: Action::Upsert { content } }));
    Ok(result)
}

/// Combines a plan's edits into one per file.
pub(crate) fn plan(mut plan: StepResult, part: Part, host: &mut dyn AgentHost) -> Result<StepResult, Unresolved> {
    let mut single: Vec<Edit> = Vec::new();
    for (at, edit) in plan.edits.iter().enumerate() {
        match single.iter().position(|known| known.path == edit.path) {
            None => single.push(edit.clone()),
            Some(known) if single[known] == *edit => {}
            Some(known) => {
                let content = joined(&single[known], edit, at + 1, &mut plan.notes, host)?;
                single[known].action = Action::Upsert { content };
            }
        }
    }
    if part.phase == Phase::Red {
        for edit in &mut single {
            as_addition(edit, &mut plan.notes, host)?;
        }
    }
    plan.edits = single;
    Ok(plan)
}

/// The file after two edits.
fn joined(
    first: &Edit,
    second: &Edit,
    number: usize,
    notes: &mut String,
    host: &mut dyn AgentHost,
) -> Result<String, Unresolved> {
    let twice = || ReplyError::Twice { second: number, path: second.path.clone() };
    let before = match &first.action {
        Action::Upsert { content } => content.clone(),
        Action::Replace { find, content } => {
            let file = host.read(&first.path)?.ok_or_else(twice)?;
            replaced(&file, find, content).ok_or_else(|| not_once(first, find))?
        }
        Action::Create { .. } | Action::Delete | Action::Rename { .. } => return Err(twice().into()),
    };
    match &second.action {
        Action::Upsert { content } => merged(&second.path, &before, content.clone(), notes, host),
        Action::Replace { find, content } => {
            Ok(replaced(&before, find, content).ok_or_else(|| not_once(second, find))?)
        }
        Action::Create { .. } | Action::Delete | Action::Rename { .. } => Err(twice().into()),
    }
}

/// Returns `None` unless `find` occurs exactly once.
fn replaced(file: &str, find: &str, content: &str) -> Option<String> {
    (file.matches(find).count() == 1).then(|| file.replacen(find, content, 1))
}

fn not_once(edit: &Edit, find: &str) -> ReplyError {
    ReplyError::NotOnce { path: edit.path.clone(), find: crate::reply::one_line(find) }
}

fn merged(
    path: &str,
    file: &str,
    answer: String,
    notes: &mut String,
    host: &mut dyn AgentHost,
) -> Result<String, Unresolved> {
    match host.merge(path, file, &answer) {
        None | Some(Err(MergeError::Broken { which: "the file", .. })) => Ok(answer),
        Some(Ok(merged)) => {
            if !merged.kept.is_empty() {
                note(notes, path, &merged.kept);
            }
            Ok(merged.text)
        }
        Some(Err(MergeError::Broken { line, .. })) => {
            let text = answer.lines().nth(line.saturating_sub(1)).unwrap_or_default();
            Err(ReplyError::Broken { path: path.to_owned(), line, text: crate::reply::one_line(text) }.into())
        }
        Some(Err(MergeError::Ambiguous(item))) => Err(ReplyError::Ambiguous { path: path.to_owned(), item }.into()),
    }
}

/// If the content of a test file only adds items and omits old ones, keeps the old ones.
fn as_addition(edit: &mut Edit, notes: &mut String, host: &mut dyn AgentHost) -> Result<(), HostFailed> {
    let Action::Upsert { content } = &edit.action else { return Ok(()) };
    let Some(file) = host.read(&edit.path)? else { return Ok(()) };
    let merged = host.merge(&edit.path, &file, content).and_then(Result::ok);
    if let Some(merged) = merged.filter(tdd_core::merge::Merged::only_adds) {
        note(notes, &edit.path, &merged.kept);
        edit.action = Action::Upsert { content: merged.text };
    }
    Ok(())
}

/// Records in the notes that the answer was merged.
fn note(notes: &mut String, path: &str, kept: &[String]) {
    if !notes.is_empty() {
        notes.push('\n');
    }
    *notes += &format!("the answer for `{path}` was taken as an addition; kept: {}", kept.join(", "));
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use tdd_core::event::PlannedStep;
    use tdd_core::gate::Files;
    use tdd_core::merge::Merged;
    use tdd_core::rule::Refusal;
    use tdd_core::seam::{Call, File, GateAnswer, KataCut, Trial};
    use tdd_core::test_id::TestId;

    use super::*;
    use crate::files;

    /// A host whose files have lines as items; a line with a bracket does not parse.
    struct Lines(BTreeMap<String, String>);

    impl AgentHost for Lines {
        fn read(&mut self, path: &str) -> Result<Option<String>, HostFailed> {
            Ok(self.0.get(path).cloned())
        }

        fn merge(&mut self, _: &str, file: &str, answer: &str) -> Option<Result<Merged, MergeError>> {
            if let Some(at) = answer.lines().position(|line| line.contains('(')) {
                return Some(Err(MergeError::Broken { which: "the answer", line: at + 1 }));
            }
            let new = answer.lines().filter(|line| !file.lines().any(|own| own == *line));
            let added: Vec<String> = new.map(str::to_owned).collect();
            let kept = file.lines().filter(|own| !answer.lines().any(|line| line == *own)).map(str::to_owned).collect();
            let text = added.iter().fold(file.to_owned(), |text, line| format!("{text}{line}\n"));
            Some(Ok(Merged { text, added, kept, replaced: Vec::new() }))
        }

        fn one_by_one(&mut self, files: &Files) -> Result<Vec<Files>, HostFailed> {
            Ok(vec![files.clone()])
        }

        fn files(&mut self) -> Result<Vec<String>, HostFailed> {
            Err(HostFailed)
        }

        fn shown(&mut self) -> Result<Vec<File>, HostFailed> {
            Err(HostFailed)
        }

        fn language(&mut self) -> Result<(String, Option<String>), HostFailed> {
            Err(HostFailed)
        }

        fn judge(&mut self, _: &Files, _: &[String]) -> Result<GateAnswer, HostFailed> {
            Err(HostFailed)
        }

        fn refused(&mut self, _: &Refusal, _: &[String]) -> Result<(), HostFailed> {
            Err(HostFailed)
        }

        fn claim(&mut self, _: &TestId, _: &str) -> Result<GateAnswer, HostFailed> {
            Err(HostFailed)
        }

        fn planned(&mut self, _: &str, _: &[PlannedStep]) -> Result<(), HostFailed> {
            Err(HostFailed)
        }

        fn run_tests(&mut self, _: &Files, _: &[TestId]) -> Result<Trial, HostFailed> {
            Err(HostFailed)
        }

        fn kata_cut(&mut self, _: KataCut) {}

        fn waiting(&mut self, _: &str) {}

        fn called(&mut self, _: Call) -> Result<(), HostFailed> {
            Err(HostFailed)
        }
    }

    fn host() -> Lines {
        Lines(BTreeMap::from([("t.py".to_owned(), "one\ntwo\n".to_owned())]))
    }

    fn upsert(path: &str, content: &str) -> Edit {
        Edit { path: path.to_owned(), action: Action::Upsert { content: content.to_owned() } }
    }

    fn replace(find: &str, content: &str) -> Edit {
        let (find, content) = (find.to_owned(), content.to_owned());
        Edit { path: "t.py".to_owned(), action: Action::Replace { find, content } }
    }

    /// The resulting edits, or the error that the model is shown.
    fn planned(phase: Phase, edits: &[Edit]) -> Result<Vec<Edit>, String> {
        let result = StepResult { edits: edits.to_vec(), ..StepResult::default() };
        told(plan(result, Part::of(phase), &mut host()))
    }

    fn told(result: Result<StepResult, Unresolved>) -> Result<Vec<Edit>, String> {
        match result {
            Ok(result) => Ok(result.edits),
            Err(Unresolved::Reply(error)) => Err(error.to_string()),
            Err(Unresolved::HostFailed(_)) => panic!("closed"),
        }
    }

    #[test]
    fn several_edits_of_one_file_are_one() {
        let (one, two) = (replace("one", "1"), replace("two", "2"));
        assert_eq!(planned(Phase::Green, &[one.clone(), two]), Ok(vec![upsert("t.py", "1\n2\n")]));
        assert_eq!(planned(Phase::Green, &[one.clone(), one.clone()]), Ok(vec![one.clone()]));
        let (first, second) = (upsert("n.py", "a\n"), upsert("n.py", "b\n"));
        assert_eq!(planned(Phase::Green, &[first, second]), Ok(vec![upsert("n.py", "a\nb\n")]));
        let wrong = planned(Phase::Green, &[one.clone(), replace("three", "3")]).unwrap_err();
        assert!(wrong.contains("`three` does not occur in `t.py` exactly once"), "{wrong}");
        let delete = Edit { path: "t.py".to_owned(), action: Action::Delete };
        assert!(planned(Phase::Green, &[one, delete]).unwrap_err().contains("edit 2 changes `t.py` again"));
    }

    #[test]
    fn a_test_file_that_lacks_older_tests_is_an_addition_for_the_tester_alone() {
        let rewritten = [upsert("t.py", "three\n")];
        assert_eq!(planned(Phase::Red, &rewritten), Ok(vec![upsert("t.py", "one\ntwo\nthree\n")]));
        assert_eq!(planned(Phase::Green, &rewritten), Ok(rewritten.to_vec()));
        let whole = [upsert("t.py", "one\ntwo\nthree\n")];
        assert_eq!(planned(Phase::Red, &whole), Ok(whole.to_vec()));
    }

    #[test]
    fn blocks_of_one_file_are_one_edit_and_keep_what_they_do_not_mention() {
        let text = "t.py\n```\nthree\n```\nt.py\n```\nfour\n```\nn.py\n```\nnew\n```\n";
        let read = |phase| told(blocks(files::read(text, None).unwrap(), Part::of(phase), &mut host()));
        let (both, new) = (upsert("t.py", "one\ntwo\nthree\nfour\n"), upsert("n.py", "new\n"));
        assert_eq!(read(Phase::Green), Ok(vec![both, new.clone()]));
        assert_eq!(read(Phase::Refactor), Ok(vec![upsert("t.py", "three\nfour\n"), new]));
    }

    #[test]
    fn code_that_does_not_parse_is_told_with_its_line() {
        let answer = files::read("t.py\n```\nthree\nfour(\n```\n", None).unwrap();
        let told = told(blocks(answer, Part::of(Phase::Red), &mut host())).unwrap_err();
        assert_eq!(told, "the code for `t.py` does not parse at its line 2: `four(`");
    }

    #[test]
    fn what_was_kept_stands_in_the_notes() {
        let result = StepResult { edits: vec![upsert("t.py", "three\n")], ..StepResult::default() };
        let Ok(plan) = plan(result, Part::of(Phase::Red), &mut host()) else { panic!() };
        assert_eq!(plan.notes, "the answer for `t.py` was taken as an addition; kept: one, two");
    }
}
