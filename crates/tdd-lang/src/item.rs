//! What the syntax tree of a source file says about its tests.

use tdd_core::digest::Digest;

/// The items of one source file that matter to the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Items {
    /// Its tests, in the order in which they stand.
    pub tests: Vec<TestItem>,
    /// Byte ranges of code that exists only for tests (`#[cfg(test)]` modules, a file below `tests/`).
    pub test_ranges: Vec<std::ops::Range<usize>>,
    /// Whether the file parses without an error.
    pub parses: bool,
}

/// One test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestItem {
    /// Its full name inside the file, as the runner spells the part below the file's module:
    /// `tests::adds`.
    pub name: String,
    /// The slug of a `@tdd-test-id:` comment within three lines above it.
    pub annotation: Option<String>,
    /// Its bytes, attributes and doc comments included.
    pub span: std::ops::Range<usize>,
    /// The line on which its name stands, from 1.
    pub line: usize,
    /// Digest of its tokens, attributes included, comments and white space left out.
    pub digest: Digest,
    /// What it asserts.
    pub assertions: Vec<Assertion>,
    /// Why it does not run, if it is marked so: the text of the marker.
    pub ignored: Option<String>,
    /// It is meant to panic.
    pub should_panic: bool,
}

/// One assertion of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assertion {
    /// What asserts: `assert_eq!`.
    pub kind: String,
    /// Its bytes.
    pub span: std::ops::Range<usize>,
    /// Digest of its tokens.
    pub digest: Digest,
}
