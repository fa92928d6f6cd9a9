//! Signs of anti-patterns that a language finds in tests and production code.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::change::Unreadable;

/// Where an item or a test is: its file, and the line of its name.
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

/// The signs found in one test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestSigns {
    /// Where it is.
    pub at: Place,
    /// Its name.
    pub name: String,
    /// It asserts, directly or through a test helper, or by its expected panic or its result.
    pub asserts: bool,
    /// How many assertions it has.
    pub assertions: usize,
    /// The mocks that it makes.
    pub mocks: Vec<String>,
    /// What its assertions are about, one name per connected group.
    pub subjects: Vec<String>,
    /// The literals of its comparisons.
    pub samples: Vec<Sample>,
    /// The production items that it reaches, directly or indirectly.
    pub reaches: BTreeSet<Place>,
    /// The production items that it calls by name, with that name.
    pub asks: BTreeMap<Place, String>,
}

/// The literals of one comparison in a test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Input literals.
    pub inputs: BTreeSet<String>,
    /// Expected literals.
    pub expected: BTreeSet<String>,
}

/// A place where production code checks whether it is under test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sensing {
    /// The item with the check.
    pub item: Place,
    /// The line of the check.
    pub line: usize,
    /// The check, for messages: "`cfg!(test)`".
    pub what: String,
}

/// A place where production code compares with literals and returns literals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The item.
    pub item: Place,
    /// The line of the comparison.
    pub line: usize,
    /// The literals it compares with.
    pub compared: BTreeSet<String>,
    /// The literals it returns.
    pub returned: BTreeSet<String>,
}

/// All signs found in some files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signs {
    /// Their tests.
    pub tests: Vec<TestSigns>,
    /// Where their production code checks whether it is under test.
    pub sensing: Vec<Sensing>,
    /// Where their production code answers literals with literals.
    pub answers: Vec<Answer>,
    /// Their production items that nothing refers to.
    pub unreferenced: BTreeSet<Place>,
    /// The production items that examples in their documentation may reach, by file.
    pub documented: BTreeMap<String, BTreeSet<Place>>,
    /// The files that do not parse.
    pub unreadable: Vec<Unreadable>,
}
