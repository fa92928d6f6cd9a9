//! What a change did between two trees, sorted into tests, what tests use, production, steering and the rest.

use serde::Serialize;

use crate::digest::Digest;
use crate::event::TestRenamed;
use crate::signs::Place;
use crate::test_id::TestId;

/// What a path or an item is to the law.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Sort {
    /// What is being built.
    Production,
    /// A test, or what tests use.
    Test,
    /// What steers building, running or checking: manifests, toolchain, runner and lint configuration.
    Steering,
    /// Documents and data.
    Document,
}

/// One test as its source shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TestFacts {
    /// Its id.
    pub id: TestId,
    /// The file that it stands in.
    pub path: String,
    /// The line of its name.
    pub line: usize,
    /// Digest of its tokens with its attributes.
    pub digest: Digest,
    /// Digest of its tokens without its name: what is left the same when it is renamed or moved.
    pub body: Digest,
    /// Digests of its assertions, each as often as it stands there.
    pub assertions: Vec<Digest>,
    /// What keeps it from running, if it is marked so.
    pub skipped: Option<Mark>,
    /// The conditions under which it exists.
    pub conditions: Vec<String>,
    /// It is meant to panic.
    pub should_panic: bool,
    /// Its result decides, too: it returns one.
    pub returns_result: bool,
    /// An assertion depends on something that is not the test's own.
    pub asks_production: bool,
}

/// What keeps a test from running.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Mark {
    /// The marker as it is written.
    pub text: String,
    /// It holds under every condition: the test runs nowhere.
    pub always: bool,
}

impl Mark {
    /// A marker that holds under every condition.
    pub fn always(text: impl Into<String>) -> Self {
        Self { text: text.into(), always: true }
    }

    /// Of several markers the one that counts most: the first that holds under every condition, else the first.
    pub fn strongest(marks: impl IntoIterator<Item = Self>) -> Option<Self> {
        let marks: Vec<Self> = marks.into_iter().collect();
        marks.iter().find(|mark| mark.always).or(marks.first()).cloned()
    }
}

impl TestFacts {
    /// Whether it could fail at all: it asserts, is meant to panic, or returns a result.
    pub fn can_fail(&self) -> bool {
        !self.assertions.is_empty() || self.should_panic || self.returns_result
    }
}

#[cfg(test)]
impl TestFacts {
    /// A test that runs, asks something of production, and has no assertion yet.
    pub(crate) fn plain(path: &str, name: &str) -> Self {
        Self {
            id: TestId::native(path, name),
            path: path.to_owned(),
            line: 1,
            digest: Digest::of(name),
            body: Digest::of(name),
            assertions: Vec::new(),
            skipped: None,
            conditions: Vec::new(),
            should_panic: false,
            returns_result: false,
            asks_production: true,
        }
    }
}

/// What became of one test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestChange {
    /// It is new.
    Added(TestFacts),
    /// It is gone.
    Removed(TestFacts),
    /// It is there under another id with the same tokens.
    Moved {
        /// As it was.
        before: TestFacts,
        /// As it is.
        after: TestFacts,
    },
    /// Its tokens are different.
    Changed {
        /// As it was.
        before: TestFacts,
        /// As it is.
        after: TestFacts,
        /// All that was there is still there, in its order: only something was put in between.
        only_added: bool,
    },
}

impl TestChange {
    /// The test as it is now, if it is.
    pub fn after(&self) -> Option<&TestFacts> {
        match self {
            Self::Added(after) | Self::Moved { after, .. } | Self::Changed { after, .. } => Some(after),
            Self::Removed(_) => None,
        }
    }

    /// The same, to be completed by what only a project knows.
    pub fn after_mut(&mut self) -> Option<&mut TestFacts> {
        match self {
            Self::Added(after) | Self::Moved { after, .. } | Self::Changed { after, .. } => Some(after),
            Self::Removed(_) => None,
        }
    }

    /// Whether it asks for something that was not asked for before: a new test, or one that only gained
    /// assertions.
    pub fn asks_more(&self) -> bool {
        match self {
            Self::Added(_) => true,
            Self::Changed { before, after, only_added } => {
                *only_added && after.assertions.len() > before.assertions.len()
            }
            Self::Removed(_) | Self::Moved { .. } => false,
        }
    }
}

/// What became of an item that is not a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ItemFate {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It is different.
    Changed,
}

/// An item of production code, or of what tests use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ItemChange {
    /// The file.
    pub path: String,
    /// What it is, for people: "fn `add`", or the file itself.
    pub item: String,
    /// The line that it begins on, in the tree where it is.
    pub line: usize,
    /// What became of it.
    pub fate: ItemFate,
}

/// A difference in what steers building, running or checking.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SteeringChange {
    /// The file.
    pub path: String,
    /// What changed in it: "`lib.name`", "a new file".
    pub what: String,
    /// A new dependency from the registry is nobody's harm.
    pub free: bool,
}

/// All that a change did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Tests.
    pub tests: Vec<TestChange>,
    /// What tests use: helpers, constants, imports, macros, fixtures, snapshots.
    pub support: Vec<ItemChange>,
    /// Production.
    pub production: Vec<ItemChange>,
    /// Steering.
    pub steering: Vec<SteeringChange>,
    /// Documents and data.
    pub documents: Vec<String>,
    /// Files of a language that do not parse, so that nothing can be said about what is in them.
    pub unreadable: Vec<Unreadable>,
}

/// A file of a language that does not parse.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unreadable {
    /// The file, and the line on which the parser stumbled.
    pub place: Place,
    /// What the parser says.
    pub problem: String,
    /// What stands on the line.
    pub text: String,
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { place: Place { path, line }, problem, text } = self;
        write!(f, "`{path}` does not parse: line {line}, `{text}`: {problem}")
    }
}

impl Change {
    /// Whether nothing at all changed.
    pub fn is_empty(&self) -> bool {
        self == &Self::default()
    }

    /// The tests that ask for more than before.
    pub fn new_demands(&self) -> impl Iterator<Item = &TestFacts> {
        self.tests.iter().filter(|change| change.asks_more()).filter_map(TestChange::after)
    }

    /// The tests that have another name now, as the ledger is to know them.
    pub fn renames(&self) -> impl Iterator<Item = TestRenamed> {
        self.tests.iter().filter_map(|test| match test {
            TestChange::Moved { before, after } => {
                Some(TestRenamed { from: before.id.clone(), test_id: after.id.clone() })
            }
            TestChange::Added(_) | TestChange::Removed(_) | TestChange::Changed { .. } => None,
        })
    }
}
