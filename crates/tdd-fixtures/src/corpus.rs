//! Lays the cases of the corpora out: what stood before a change, and the attempt at it.
//!
//! `corpus/README.md` says which files a case may have.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{Sandbox, must};

/// The languages that have a corpus of their own, as the beginnings of the names of their cases. Rust's has none.
pub const LANGUAGES: [&str; 4] = ["", "python/", "javascript/", "go/"];

/// The folder of all corpora.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// The cases of a folder such as `python/honest`, by their names in it, sorted.
pub fn names(kind: &str) -> Vec<String> {
    let entries = must(&format!("list {kind}"), fs::read_dir(folder().join(kind)));
    let mut names: Vec<String> =
        entries.map(|entry| must("read", entry).file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// What a case expects of the machine.
pub fn expected(case: &str) -> Value {
    let path = folder().join(case).join("expected.json");
    let text = must(&format!("read {}", path.display()), fs::read_to_string(&path));
    must(&format!("understand {}", path.display()), serde_json::from_str(&text))
}

impl Sandbox {
    /// Lays the base of a case: its language's skeleton, the folders that `before` of `expected.json` lists, its own
    /// `before/` and `before.patch`.
    pub fn lay_base(&self, case: &str) {
        self.lay(&format!("corpus/{}skeleton", language(case)));
        self.lay_shared(case, "before");
    }

    /// Lays the attempt of a case: the folders that `attempt` of `expected.json` lists, its own `attempt/` and
    /// `attempt.patch`.
    pub fn lay_attempt(&self, case: &str) {
        self.lay_shared(case, "attempt");
    }

    fn lay_shared(&self, case: &str, side: &str) {
        let expected = expected(case);
        for shared in expected[side].as_array().into_iter().flatten().filter_map(Value::as_str) {
            let shared = format!("corpus/{}{shared}", language(case));
            assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(&shared).is_dir(), "{case}: there is no {shared}");
            self.lay(&shared);
        }
        self.lay(&format!("corpus/{case}/{side}"));
        let patch = folder().join(case).join(format!("{side}.patch"));
        if patch.is_file() {
            self.git(&["apply", &patch.to_string_lossy()]);
        }
    }
}

/// The corpus that a case belongs to.
fn language(case: &str) -> &'static str {
    LANGUAGES.into_iter().skip(1).find(|language| case.starts_with(language)).unwrap_or_default()
}
