//! What the syntax tree of a source file says about its tests.

use std::collections::BTreeMap;
use std::ops::Range;

use tdd_core::change::Mark;
use tdd_core::digest::Digest;
use tdd_core::report::{Cause, Obstacle};
use tdd_core::test_id::TestId;

/// The items of one source file that matter to the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Items {
    /// Its tests, in the order in which they stand.
    pub tests: Vec<TestItem>,
    /// Byte ranges of code that exists only for tests (`#[cfg(test)]` modules, a file below `tests/`).
    /// Sorted; none holds another.
    pub test_ranges: Vec<Range<usize>>,
    /// Modules that it declares but that stand in other files, in the order of their declarations.
    pub modules: Vec<ModuleItem>,
    /// How many functions with a body stand outside the code that exists only for tests.
    pub functions: usize,
    /// Whether its documentation may hold examples that are run as tests.
    pub doc_tests_possible: bool,
    /// Whether the file parses without an error.
    pub parses: bool,
}

impl Items {
    /// The names of the modules that stand in other files and exist only for tests.
    pub fn test_modules(&self) -> impl Iterator<Item = &str> {
        self.modules.iter().filter(|module| module.test_only).map(|module| module.name.as_str())
    }
}

/// One test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestItem {
    /// Its full name inside the file, as the runner spells the part below the file's module:
    /// `tests::adds`.
    pub name: String,
    /// What follows `@tdd-test-id:` in a comment within three lines above it, as it is written;
    /// whether that is a slug is for the reader of the id to say.
    pub annotation: Option<String>,
    /// Its bytes, attributes and doc comments included.
    pub span: Range<usize>,
    /// The line on which its name stands, from 1.
    pub line: usize,
    /// Digest of its tokens, attributes included, comments and white space left out.
    pub digest: Digest,
    /// The same without its name.
    pub body: Digest,
    /// What it asserts.
    pub assertions: Vec<Assertion>,
    /// Digests of the cases that it is run with, where each is written on its own.
    pub cases: Vec<Digest>,
    /// What keeps it from running, if it is marked so.
    pub ignored: Option<Mark>,
    /// The conditions under which it is compiled into a test build, outermost first; empty if always.
    pub cfg: Vec<String>,
    /// It is meant to panic.
    pub should_panic: bool,
    /// What the panic's message must contain.
    pub expected_panic: Option<String>,
    /// It returns something that decides its outcome, such as a `Result`.
    pub returns_result: bool,
}

impl TestItem {
    /// Its id in this file: that of its annotation if it has a good one.
    pub(crate) fn id(&self, path: &str) -> TestId {
        let slug = self.annotation.as_deref();
        slug.and_then(|slug| TestId::annotation(slug).ok()).unwrap_or_else(|| TestId::native(path, &self.name))
    }
}

impl TestItem {
    /// The text of the marker that keeps it from running.
    pub(crate) fn skipped(&self) -> Option<String> {
        self.ignored.as_ref().map(|mark| mark.text.clone())
    }

    /// Whether a marker keeps it from running under every condition.
    pub fn never_runs(&self) -> bool {
        self.ignored.as_ref().is_some_and(|mark| mark.always)
    }
}

/// One assertion of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assertion {
    /// What asserts: `assert_eq!`, without the path before it.
    pub kind: String,
    /// Its bytes.
    pub span: Range<usize>,
    /// Digest of its tokens.
    pub digest: Digest,
    /// It stands in a closure, an async block, an inner function or a macro's definition, and so runs
    /// only if somebody calls that.
    pub in_closure: bool,
}

/// A module that is declared here and stands in another file: `mod a;`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleItem {
    /// Its name with the inline modules around it: `tests::deep`.
    pub name: String,
    /// The file that a `#[path]` attribute names, as it is written.
    pub path: Option<String>,
    /// The folder that the inline modules around it make: `tests/` for `tests::deep`; empty if none.
    pub folder: String,
    /// Whether [`ModuleItem::folder`] starts at the file's own folder because an inline module has a
    /// `#[path]`, instead of at the folder in which the file's submodules are.
    pub folder_from_path: bool,
    /// Whether it exists only for tests.
    pub test_only: bool,
    /// The conditions under which it is compiled into a test build, outermost first; empty if always.
    pub cfg: Vec<String>,
}

/// The slugs that were given to tests so far, each with the place of its test.
#[derive(Debug, Default)]
pub(crate) struct Slugs(BTreeMap<String, String>);

impl Slugs {
    /// Takes in the annotation of a test, if it has one: what is wrong with it.
    pub fn add(&mut self, path: &str, test: &TestItem) -> Option<Obstacle> {
        let slug = test.annotation.as_ref()?;
        let place = format!("{path}:{}", test.line);
        let first = self.0.insert(slug.clone(), place.clone());
        bad_annotation(slug, first, place)
    }
}

/// What is wrong with a slug at this place, which may have been given before.
fn bad_annotation(slug: &str, first: Option<String>, place: String) -> Option<Obstacle> {
    let message = match first {
        Some(first) => format!("the test id `{slug}` is given twice, at {first} and at {place}; rename one of them"),
        None if TestId::annotation(slug).is_ok() => return None,
        None => format!("`{slug}` at {place} cannot be a test id; use letters, digits, `-`, `_` and `.`"),
    };
    let subject = format!("@tdd-test-id: {slug}");
    Some(Obstacle { place: Some(place), ..Obstacle::new(subject, Cause::LoadFailure, message) })
}
