//! What a change did between two trees, sorted into tests, test support, production, runner configuration and
//! documents.

use serde::Serialize;

use crate::digest::Digest;
use crate::event::TestRenamed;
use crate::signs::Place;
use crate::test_id::TestId;

/// The category of a path or an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Sort {
    /// Production code.
    Production,
    /// A test, or test support.
    Test,
    /// Runner configuration: manifests, toolchain, and the config of build, tests and linters.
    Steering,
    /// Documents and data.
    Document,
}

/// Facts about one test, from its source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TestFacts {
    /// Its id.
    pub id: TestId,
    /// The file it is in.
    pub path: String,
    /// The line of its name.
    pub line: usize,
    /// Digest of its tokens with its attributes.
    pub digest: Digest,
    /// Digest of its tokens without its name, which a rename or move does not change.
    pub body: Digest,
    /// Digests of its assertions, including repeats.
    pub assertions: Vec<Digest>,
    /// The marker that keeps it from running, if any.
    pub skipped: Option<Mark>,
    /// The conditions under which it exists.
    pub conditions: Vec<String>,
    /// It expects a panic.
    pub should_panic: bool,
    /// It returns a result, which can make it fail.
    pub returns_result: bool,
    /// An assertion depends on something outside the test.
    pub asks_production: bool,
}

/// A marker that keeps a test from running.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Mark {
    /// The marker as it is written.
    pub text: String,
    /// It applies under every condition, so the test never runs.
    pub always: bool,
}

impl Mark {
    /// A marker that applies under every condition.
    pub fn always(text: impl Into<String>) -> Self {
        Self { text: text.into(), always: true }
    }

    /// The strongest of several markers: the first that applies under every condition, else the first.
    pub fn strongest(marks: impl IntoIterator<Item = Self>) -> Option<Self> {
        let marks: Vec<Self> = marks.into_iter().collect();
        marks.iter().find(|mark| mark.always).or(marks.first()).cloned()
    }
}

impl TestFacts {
    /// Whether it can fail: it asserts, expects a panic, or returns a result.
    pub fn can_fail(&self) -> bool {
        !self.assertions.is_empty() || self.should_panic || self.returns_result
    }
}

#[cfg(test)]
impl TestFacts {
    /// A test that runs, depends on production, and has no assertions.
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

/// What happened to one test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestChange {
    /// It is new.
    Added(TestFacts),
    /// It is gone.
    Removed(TestFacts),
    /// It has another id and the same tokens.
    Moved {
        /// The old test.
        before: TestFacts,
        /// The new test.
        after: TestFacts,
    },
    /// Its tokens are different.
    Changed {
        /// The old test.
        before: TestFacts,
        /// The new test.
        after: TestFacts,
        /// Tokens were only added: the old ones are all there, in the same order.
        only_added: bool,
    },
}

impl TestChange {
    /// The test after the change, if it still exists.
    pub fn after(&self) -> Option<&TestFacts> {
        match self {
            Self::Added(after) | Self::Moved { after, .. } | Self::Changed { after, .. } => Some(after),
            Self::Removed(_) => None,
        }
    }

    /// The same, mutable: callers fill in what only the project knows.
    pub fn after_mut(&mut self) -> Option<&mut TestFacts> {
        match self {
            Self::Added(after) | Self::Moved { after, .. } | Self::Changed { after, .. } => Some(after),
            Self::Removed(_) => None,
        }
    }

    /// Whether it demands something new: a new test, or one that only gained assertions.
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

/// What happened to an item that is not a test.
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

/// A changed item of production code or of test support.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ItemChange {
    /// The file.
    pub path: String,
    /// The item for messages: "fn `add`", or the file itself.
    pub item: String,
    /// The line it begins on, in the tree that has it.
    pub line: usize,
    /// What happened to it.
    pub fate: ItemFate,
}

/// A change of runner configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SteeringChange {
    /// The file.
    pub path: String,
    /// What changed in it: "`lib.name`", "a new file".
    pub what: String,
    /// It is harmless: a new dependency from the registry.
    pub free: bool,
}

/// Everything that a change did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Changed tests.
    pub tests: Vec<TestChange>,
    /// Test support: helpers, constants, imports, macros, fixtures, snapshots.
    pub support: Vec<ItemChange>,
    /// New test code that changes what existing tests see, although they do not name it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub intrusions: Vec<ItemChange>,
    /// Production items.
    pub production: Vec<ItemChange>,
    /// Runner configuration.
    pub steering: Vec<SteeringChange>,
    /// Documents and data.
    pub documents: Vec<String>,
    /// Source files that do not parse, so their content is unknown.
    pub unreadable: Vec<Unreadable>,
}

/// A source file that does not parse.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unreadable {
    /// The file, and the line of the parse error.
    pub place: Place,
    /// The parser's message.
    pub problem: String,
    /// The text of the line.
    pub text: String,
}

impl Unreadable {
    /// A file whose text is unknown.
    pub fn not_text(path: &str) -> Self {
        let problem = "it is too large, or not UTF-8 text".to_owned();
        Self { place: Place::new(path, 1), problem, text: String::new() }
    }
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { place: Place { path, line }, problem, text } = self;
        if text.is_empty() {
            return write!(f, "`{path}` does not parse: line {line}: {problem}");
        }
        write!(f, "`{path}` does not parse: line {line}, `{text}`: {problem}")
    }
}

impl Change {
    /// Whether nothing at all changed.
    pub fn is_empty(&self) -> bool {
        self == &Self::default()
    }

    /// The tests that demand something new.
    pub fn new_demands(&self) -> impl Iterator<Item = &TestFacts> {
        self.tests.iter().filter(|change| change.asks_more()).filter_map(TestChange::after)
    }

    /// The renamed tests, as ledger events.
    pub fn renames(&self) -> impl Iterator<Item = TestRenamed> {
        self.tests.iter().filter_map(|test| match test {
            TestChange::Moved { before, after } => {
                Some(TestRenamed { from: before.id.clone(), test_id: after.id.clone() })
            }
            TestChange::Added(_) | TestChange::Removed(_) | TestChange::Changed { .. } => None,
        })
    }
}
