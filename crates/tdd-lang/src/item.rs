//! The tests and modules of a source file, read from its syntax tree.

use std::collections::BTreeMap;
use std::ops::Range;

use tdd_core::change::Mark;
use tdd_core::digest::Digest;
use tdd_core::report::{Cause, Obstacle};
use tdd_core::test_id::TestId;

/// The tests, test-only ranges and module declarations of one source file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Items {
    /// The file's tests, in source order.
    pub tests: Vec<TestItem>,
    /// Byte ranges of test-only code (`#[cfg(test)]` modules, a file below `tests/`). Sorted and not nested.
    pub test_ranges: Vec<Range<usize>>,
    /// Modules declared in this file whose code is in another file, in source order.
    pub modules: Vec<ModuleItem>,
    /// Number of functions with a body outside test-only code.
    pub functions: usize,
    /// Whether the doc comments may hold examples that run as tests.
    pub doc_tests_possible: bool,
    /// Whether the file parses without an error.
    pub parses: bool,
}

impl Items {
    /// Names of the test-only modules whose code is in another file.
    pub fn test_modules(&self) -> impl Iterator<Item = &str> {
        self.modules.iter().filter(|module| module.test_only).map(|module| module.name.as_str())
    }
}

/// One test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestItem {
    /// The test's full name below the file's module, as the runner spells it: `tests::adds`.
    pub name: String,
    /// The text after `@tdd-test-id:` in a comment at most three lines above the test, not validated.
    pub annotation: Option<String>,
    /// Byte range of the test, with attributes and doc comments.
    pub span: Range<usize>,
    /// Line of the test's name, from 1.
    pub line: usize,
    /// Digest of the test's tokens: with attributes, without comments and white space.
    pub digest: Digest,
    /// The same digest without the test's name.
    pub body: Digest,
    /// The test's assertions.
    pub assertions: Vec<Assertion>,
    /// Digests of the test's cases, if each case is written separately.
    pub cases: Vec<Digest>,
    /// The mark that keeps the test from running, such as `#[ignore]`.
    pub ignored: Option<Mark>,
    /// The conditions under which a test build compiles the test, outermost first; empty if always.
    pub cfg: Vec<String>,
    /// Whether the test expects a panic.
    pub should_panic: bool,
    /// Text that the panic message must contain.
    pub expected_panic: Option<String>,
    /// Whether the test returns a value that decides its outcome, such as a `Result`.
    pub returns_result: bool,
}

impl TestItem {
    /// The test's id in this file: its annotation if that is a valid slug, else path and name.
    pub fn id(&self, path: &str) -> TestId {
        let slug = self.annotation.as_deref();
        slug.and_then(|slug| TestId::annotation(slug).ok()).unwrap_or_else(|| TestId::native(path, &self.name))
    }
}

impl TestItem {
    /// Text of the mark that keeps the test from running.
    pub(crate) fn skipped(&self) -> Option<String> {
        self.ignored.as_ref().map(|mark| mark.text.clone())
    }

    /// Whether the test is skipped unconditionally.
    pub fn never_runs(&self) -> bool {
        self.ignored.as_ref().is_some_and(|mark| mark.always)
    }
}

/// One assertion of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assertion {
    /// Name of the assertion macro or function, without its path: `assert_eq!`.
    pub kind: String,
    /// Byte range of the assertion.
    pub span: Range<usize>,
    /// Digest of the assertion's tokens.
    pub digest: Digest,
    /// Whether the assertion is in a closure, an async block, an inner function or a macro definition, and so runs only
    /// if that is called.
    pub in_closure: bool,
}

/// A module declared here whose code is in another file: `mod a;`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleItem {
    /// The module's name, with the inline modules around it: `tests::deep`.
    pub name: String,
    /// The file that a `#[path]` attribute names, as written.
    pub path: Option<String>,
    /// The folder that the inline modules around it add: `tests/` for `tests::deep`; empty without inline modules.
    pub folder: String,
    /// Whether [`ModuleItem::folder`] is relative to the file's own folder, because an inline module has a `#[path]`.
    /// Otherwise it is relative to the folder of the file's submodules.
    pub folder_from_path: bool,
    /// Whether the module is test-only.
    pub test_only: bool,
    /// The conditions under which a test build compiles the module, outermost first; empty if always.
    pub cfg: Vec<String>,
}

/// The annotation slugs seen so far, each with the place of its test.
#[derive(Debug, Default)]
pub(crate) struct Slugs(BTreeMap<String, String>);

impl Slugs {
    /// Records a test's annotation. Returns an obstacle if the slug is invalid or already taken.
    pub fn add(&mut self, path: &str, test: &TestItem) -> Option<Obstacle> {
        let slug = test.annotation.as_ref()?;
        let place = format!("{path}:{}", test.line);
        let first = self.0.insert(slug.clone(), place.clone());
        bad_annotation(slug, first, place)
    }
}

/// The problem with a slug at `place`, if any; `first` is where the same slug occurred before.
fn bad_annotation(slug: &str, first: Option<String>, place: String) -> Option<Obstacle> {
    let message = match first {
        Some(first) => format!("the test id `{slug}` is given twice, at {first} and at {place}; rename one of them"),
        None if TestId::annotation(slug).is_ok() => return None,
        None => format!("`{slug}` at {place} cannot be a test id; use letters, digits, `-`, `_` and `.`"),
    };
    let subject = format!("@tdd-test-id: {slug}");
    Some(Obstacle { place: Some(place), ..Obstacle::new(subject, Cause::LoadFailure, message) })
}
