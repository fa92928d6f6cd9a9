//! Which lines of production code the tests executed, and which lines a change added.

use std::collections::{BTreeMap, BTreeSet};

/// The lines with code in the measured files. A file that is missing here was not measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    files: BTreeMap<String, BTreeMap<usize, bool>>,
}

impl Coverage {
    /// Notes that a file was measured, even if it has no code.
    pub fn measured(&mut self, path: &str) {
        self.files.entry(path.to_owned()).or_default();
    }

    /// Notes a line (from 1) with code. A line that was executed once stays executed.
    pub fn saw(&mut self, path: &str, line: usize, executed: bool) {
        *self.files.entry(path.to_owned()).or_default().entry(line).or_default() |= executed;
    }

    /// Adds the measurements of other files.
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

/// The coverage of a change, and the lines it added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measurement {
    /// What its tests executed.
    pub coverage: Coverage,
    /// The lines that the change added, by file.
    pub added: BTreeMap<String, BTreeSet<usize>>,
}

impl Measurement {
    /// Whether the change added this line.
    pub fn is_added(&self, path: &str, line: usize) -> bool {
        self.added.get(path).is_some_and(|lines| lines.contains(&line))
    }
}
