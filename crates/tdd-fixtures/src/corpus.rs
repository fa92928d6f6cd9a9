//! Writes the cases of the corpora into a sandbox: the project before a change, and the attempted change.
//!
//! `corpus/README.md` says which files a case may have.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{Sandbox, must};

/// Path prefixes of the corpora; Rust's cases have none.
pub const LANGUAGES: [&str; 4] = ["", "python/", "javascript/", "go/"];

/// The folder of all corpora.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// The names of the cases in a folder such as `python/honest`, sorted.
pub fn names(kind: &str) -> Vec<String> {
    let entries = must(&format!("list {kind}"), fs::read_dir(folder().join(kind)));
    let mut names: Vec<String> =
        entries.map(|entry| must("read", entry).file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// A case's expected results.
pub fn expected(case: &str) -> Value {
    let path = folder().join(case).join("expected.json");
    let text = must(&format!("read {}", path.display()), fs::read_to_string(&path));
    must(&format!("understand {}", path.display()), serde_json::from_str(&text))
}

impl Sandbox {
    /// Writes the base of a case: its language's skeleton, the folders listed under `before` in `expected.json`, its
    /// own `before/` and `before.patch`.
    pub fn lay_base(&self, case: &str) {
        self.lay(&format!("corpus/{}skeleton", language(case)));
        self.lay_shared(case, "before");
    }

    /// Writes the attempt of a case: the folders listed under `attempt` in `expected.json`, its own `attempt/` and
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

/// The path prefix of a case's corpus.
fn language(case: &str) -> &'static str {
    LANGUAGES.into_iter().skip(1).find(|language| case.starts_with(language)).unwrap_or_default()
}
