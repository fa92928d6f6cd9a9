//! The signs by which anti-patterns are known, as a language sees them in tests and production code.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

/// Where an item or a test stands: its file, and the line of its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Place {
    /// The file, from the repository's root.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
}

impl Place {
    /// This line of this file.
    pub fn new(path: &str, line: usize) -> Self {
        Self { path: path.to_owned(), line }
    }
}

/// What a language sees in one test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestSigns {
    /// Where it stands.
    pub at: Place,
    /// Its name.
    pub name: String,
    /// It, or something of the tests' own that it calls, asserts; or its panic or its result does.
    pub asserts: bool,
    /// How many assertions it has.
    pub assertions: usize,
    /// The mocks that it makes.
    pub mocks: Vec<String>,
    /// What its assertions are about, one name for all that hangs together.
    pub subjects: Vec<String>,
    /// Values that it spells out.
    pub samples: Vec<Sample>,
    /// The production items that it may lead to, however far.
    pub reaches: BTreeSet<Place>,
    /// The production items that it calls by name, with that.
    pub asks: BTreeMap<Place, String>,
}

/// The literals of one comparison in a test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// What goes in.
    pub inputs: BTreeSet<String>,
    /// What is to come out.
    pub expected: BTreeSet<String>,
}

/// A place in production code that asks whether it is under test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sensing {
    /// The item that asks.
    pub item: Place,
    /// The line where it does.
    pub line: usize,
    /// How, for people: "`cfg!(test)`".
    pub what: String,
}

/// A place in production code that compares with literals and answers with literals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The item.
    pub item: Place,
    /// The line of the comparison.
    pub line: usize,
    /// What it compares with.
    pub compared: BTreeSet<String>,
    /// What it answers.
    pub returned: BTreeSet<String>,
}

/// All that a language sees in some files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signs {
    /// Their tests.
    pub tests: Vec<TestSigns>,
    /// Where their production code asks whether it is under test.
    pub sensing: Vec<Sensing>,
    /// Where their production code answers literals with literals.
    pub answers: Vec<Answer>,
    /// Their production items that nothing refers to.
    pub unreferenced: BTreeSet<Place>,
    /// The production items that the examples of their documentation may lead to, by file.
    pub documented: BTreeMap<String, BTreeSet<Place>>,
    /// The files that do not parse.
    pub unreadable: Vec<String>,
}
