//! Which lines of production code a run of the tests executed, and which lines of it a change brought.

use std::collections::{BTreeMap, BTreeSet};

/// The lines with code of the files that were measured. A file that is not here was not measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    files: BTreeMap<String, BTreeMap<usize, bool>>,
}

impl Coverage {
    /// This file was measured, whether or not there is code in it.
    pub fn measured(&mut self, path: &str) {
        self.files.entry(path.to_owned()).or_default();
    }

    /// This line (from 1) holds code. Once executed is executed.
    pub fn saw(&mut self, path: &str, line: usize, executed: bool) {
        *self.files.entry(path.to_owned()).or_default().entry(line).or_default() |= executed;
    }

    /// Takes in what was measured of other files.
    pub fn add(&mut self, other: Self) {
        self.files.extend(other.files);
    }

    /// The lines of a file that hold code, and whether they were executed; `None` if that was not measured.
    pub fn of(&self, path: &str) -> Option<&BTreeMap<usize, bool>> {
        self.files.get(path)
    }

    /// All files that were measured.
    pub fn files(&self) -> impl Iterator<Item = (&str, &BTreeMap<usize, bool>)> {
        self.files.iter().map(|(path, lines)| (path.as_str(), lines))
    }
}

/// A change whose tests were watched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measurement {
    /// What they executed.
    pub coverage: Coverage,
    /// The lines that the change brought, by file.
    pub added: BTreeMap<String, BTreeSet<usize>>,
}

impl Measurement {
    /// Whether the change brought this line.
    pub fn is_added(&self, path: &str, line: usize) -> bool {
        self.added.get(path).is_some_and(|lines| lines.contains(&line))
    }
}
