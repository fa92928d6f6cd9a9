//! The results file: one line per finished trial, so that a second start skips it.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use tdd_core::digest::Digest;

use crate::arm::Arm;
use crate::error::EvalError;
use crate::trial::Spent;

/// The result of one trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialResult {
    /// The exercise.
    pub exercise: String,
    /// Identifies the exercise's content.
    pub digest: Digest,
    /// The exercise's language.
    pub language: String,
    /// The arm.
    pub arm: Arm,
    /// The number of the run, from 1.
    pub run: u32,
    /// The seed of the evaluation.
    pub seed: u64,
    /// The model.
    pub model: String,
    /// Whether every hidden test passed.
    pub solved: bool,
    /// Hidden tests that passed.
    pub tests_passed: usize,
    /// All hidden tests; 0 if there was nothing to test.
    pub tests: usize,
    /// What the trial used up.
    #[serde(flatten)]
    pub spent: Spent,
    /// How long the trial took, tests included.
    pub duration_ms: u64,
    /// How the trial ended.
    pub end: String,
}

/// How every line begins.
const BEGINNING: &[u8] = b"{\"exercise\":";

/// What makes two trials the same.
pub(crate) type Key<'r> = (&'r str, Digest, Arm, u32, u64, &'r str);

impl TrialResult {
    /// Prompt and completion tokens.
    pub fn tokens(&self) -> u64 {
        self.spent.prompt_tokens.saturating_add(self.spent.completion_tokens)
    }

    /// What makes it the same trial as another.
    pub(crate) fn key(&self) -> Key<'_> {
        (&self.exercise, self.digest, self.arm, self.run, self.seed, &self.model)
    }
}

/// The results file, locked while an evaluation runs.
#[derive(Debug)]
pub struct Results {
    path: PathBuf,
    file: Mutex<File>,
    /// The results that were there at the start.
    pub earlier: Vec<TrialResult>,
    /// Bytes of a torn last line that were cut off.
    pub repaired: Option<u64>,
}

impl Results {
    /// Opens or creates the file and cuts off a torn last line.
    pub fn open(path: &Path) -> Result<Self, EvalError> {
        let fail = |action| move |source: io::Error| EvalError::Results { action, path: path.to_owned(), source };
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(fail("open"))?;
        }
        let mut file = File::options().read(true).append(true).create(true).open(path).map_err(fail("open"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(EvalError::Busy(path.to_owned())),
            Err(TryLockError::Error(source)) => return Err(fail("open")(source)),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(fail("read"))?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let (lines, torn) = bytes.split_at(whole);
        let not_ours = |(line, reason)| EvalError::NotAResult { path: path.to_owned(), line, reason };
        let earlier = read(lines).map_err(not_ours)?;
        if !torn.is_empty() {
            if !BEGINNING.starts_with(torn) && !torn.starts_with(BEGINNING) {
                return Err(not_ours((earlier.len() + 1, "it does not begin like one".to_owned())));
            }
            file.set_len(u64::try_from(whole).unwrap_or(u64::MAX)).map_err(fail("write"))?;
        }
        let repaired = u64::try_from(torn.len()).ok().filter(|bytes| *bytes > 0);
        Ok(Self { path: path.to_owned(), file: Mutex::new(file), earlier, repaired })
    }

    /// Appends a result and syncs it.
    pub fn append(&self, result: &TrialResult) -> Result<(), EvalError> {
        let fail = |source| EvalError::Results { action: "write", path: self.path.clone(), source };
        let line = serde_json::to_string(result).map_err(|error| fail(error.into()))? + "\n";
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(line.as_bytes()).and_then(|()| file.sync_data()).map_err(fail)
    }
}

fn read(bytes: &[u8]) -> Result<Vec<TrialResult>, (usize, String)> {
    let lines = bytes.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.trim_ascii().is_empty());
    lines.map(|(at, line)| serde_json::from_slice(line).map_err(|error| (at + 1, error.to_string()))).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub fn result(exercise: &str, arm: Arm, solved: bool) -> TrialResult {
        TrialResult {
            exercise: exercise.to_owned(),
            digest: Digest::of(exercise),
            language: "python".to_owned(),
            arm,
            run: 1,
            seed: 0,
            model: "m".to_owned(),
            solved,
            tests_passed: if solved { 3 } else { 1 },
            tests: 3,
            spent: Spent { prompt_tokens: 100, completion_tokens: 10, calls: 1, attempts: 1, ..Spent::default() },
            duration_ms: 60_000,
            end: "answered".to_owned(),
        }
    }

    #[test]
    fn a_torn_last_line_is_cut_off_and_the_rest_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/results.jsonl");
        let (one, two) = (result("a", Arm::Machine, true), result("b", Arm::OneShot, false));
        Results::open(&path).unwrap().append(&one).unwrap();
        let whole = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{whole}{{\"exercise\":\"bo")).unwrap();
        let results = Results::open(&path).unwrap();
        assert_eq!((results.earlier.as_slice(), results.repaired), (&[one.clone()][..], Some(15)));
        results.append(&two).unwrap();
        drop(results);
        assert_eq!(Results::open(&path).unwrap().earlier, [one, two]);
    }

    #[test]
    fn a_file_of_something_else_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.txt");
        for text in ["shopping:\n- milk\n", "milk"] {
            fs::write(&path, text).unwrap();
            let error = Results::open(&path).unwrap_err().to_string();
            assert!(error.starts_with("line 1 of `"), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn two_evaluations_do_not_write_to_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.jsonl");
        let _first = Results::open(&path).unwrap();
        assert!(matches!(Results::open(&path), Err(EvalError::Busy(_))));
    }
}
