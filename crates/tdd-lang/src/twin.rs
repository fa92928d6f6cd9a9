//! Altered copies of a test, and of production code, as a language writes them for the counter-proof.

use std::ops::Range;

use tdd_core::digest::Digest;
use tdd_core::proof::Twin;
use tdd_core::test_id::TestId;

use crate::syntax::splice;

/// How much an altered copy may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boldness {
    /// Expected values are changed where there are some; what has none is negated.
    ChangeValues,
    /// Conditions are negated only: for a file in which changed values do not compile.
    NegateOnly,
}

/// A test's file with copies of the test in it, each under a name that nobody could know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Twins {
    /// The whole file.
    pub source: String,
    /// The test as it is: it must pass.
    pub copy: TestId,
    /// A test that does nothing: it must pass.
    pub sound: TestId,
    /// A test that breaks by itself: it must fail.
    pub broken: TestId,
    /// For each assertion macro that the test uses, a plain untruth told with it: they must fail.
    pub untruths: Vec<(String, TestId)>,
    /// Copies with one alteration each: they must fail.
    pub twins: Vec<Twin>,
}

impl Twins {
    /// Every test that was added.
    pub fn ids(&self) -> Vec<TestId> {
        let own = [&self.copy, &self.sound, &self.broken].into_iter();
        let untruths = self.untruths.iter().map(|(_, id)| id);
        let twins = self.twins.iter().flat_map(|twin| [Some(&twin.id), twin.probe.as_ref()]).flatten();
        own.chain(untruths).chain(twins).cloned().collect()
    }
}

/// Makes names for copies that production code cannot know beforehand.
#[derive(Debug)]
pub(crate) struct FreshNames {
    seed: u64,
    made: u64,
}

impl FreshNames {
    /// Names that depend on this seed.
    pub fn new(seed: u64) -> Self {
        Self { seed, made: 0 }
    }

    /// The next name, with this in front.
    pub fn next(&mut self, prefix: &str) -> String {
        self.made += 1;
        let digest = Digest::of([self.seed.to_le_bytes(), self.made.to_le_bytes()].concat());
        format!("{prefix}_{}", &digest.as_str()[..16])
    }
}

/// The opposite of an assertion: which bytes of the file change, and to what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Opposite {
    pub edit: (Range<usize>, String),
    /// What is different, for people.
    pub what: String,
    /// The same bytes for an assertion that both sides print the same.
    pub probe: Option<(Range<usize>, String)>,
}

/// A part of a text with some bytes replaced, each range as it is in the whole text.
pub(crate) fn edited_part(text: &str, part: Range<usize>, edits: Vec<(Range<usize>, String)>) -> Option<String> {
    let within = |range: Range<usize>| range.start.saturating_sub(part.start)..range.end.saturating_sub(part.start);
    let edits = edits.into_iter().map(|(range, other)| (within(range), other)).collect();
    Some(splice(text.get(part.clone())?, edits))
}

/// The first of all untruths for each way to assert, sorted by their names.
pub(crate) fn one_untruth_each(told: impl Iterator<Item = (String, String)>) -> Vec<(String, String)> {
    let mut told: Vec<(String, String)> = told.collect();
    told.sort();
    told.dedup_by(|one, other| one.0 == other.0);
    told
}

/// A file of production code that gives other answers than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// The whole file.
    pub source: String,
    /// What was changed, for people.
    pub what: String,
}

impl Mutant {
    /// A file with these edits, each with what it changes; of two that overlap, only the first is made.
    pub(crate) fn of(source: &str, edits: impl Iterator<Item = (Range<usize>, String, String)>) -> Option<Self> {
        let mut made: Vec<(Range<usize>, String)> = Vec::new();
        let mut said = Vec::new();
        for (range, text, what) in edits {
            if made.iter().all(|(known, _)| known.end <= range.start || range.end <= known.start) {
                made.push((range, text));
                said.push(what);
            }
        }
        (!made.is_empty()).then(|| Self { source: splice(source, made), what: said.join(", ") })
    }
}

/// What a build in a scratch copy of the repository needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScratchNeeds {
    /// Variables that keep the build's products in the folder that was named.
    pub env: Vec<(String, String)>,
    /// Files that the build reads even where they are ignored, relative to the repository's root.
    pub files: Vec<String>,
    /// Folders that it reads and never writes, ignored as they are: the copy gets links to them.
    pub links: Vec<String>,
    /// The runner would find the tests of the copy beside those of the project.
    pub is_found: bool,
    /// The same for folders beside each file of a name: the topmost of those files, and the name of the folder.
    pub beside: Vec<(String, String)>,
}
