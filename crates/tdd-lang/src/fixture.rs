//! A repository held in memory, for tests.

use crate::language::Sources;

/// Files by path.
pub(crate) struct Memory {
    paths: Vec<String>,
    texts: Vec<String>,
}

/// A repository of these files.
pub(crate) fn memory(files: &[(&str, &str)]) -> Memory {
    let mut files = files.to_vec();
    files.sort_unstable();
    Memory {
        paths: files.iter().map(|(path, _)| (*path).to_owned()).collect(),
        texts: files.iter().map(|(_, text)| (*text).to_owned()).collect(),
    }
}

impl Sources for Memory {
    fn files(&self) -> &[String] {
        &self.paths
    }

    fn read(&self, path: &str) -> Option<String> {
        let at = self.paths.iter().position(|known| known == path)?;
        Some(self.texts[at].clone())
    }
}
