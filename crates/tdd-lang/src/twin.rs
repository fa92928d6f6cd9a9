//! Altered copies of a test, and of production code, as a language writes them for the counter-proof.

use std::ops::Range;

use tdd_core::digest::Digest;
use tdd_core::proof::Twin;
use tdd_core::test_id::TestId;

use crate::analysis::claims::Claim;
use crate::syntax::{FlatTree, splice};

/// How much an altered copy may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlterationMode {
    /// Expected values are changed; assertions without one are negated.
    ChangeValues,
    /// The same with other values: numbers further away that leave the same remainder by small numbers, texts of the
    /// same length, the last value of several. A rigged comparison may tell some values apart and not others.
    ChangeFar,
    /// Conditions are only negated: for a file in which changed values do not compile.
    NegateOnly,
}

impl AlterationMode {
    /// The modes in which each assertion is altered, if the copies are written in this one.
    pub(crate) fn each(self) -> &'static [Self] {
        match self {
            Self::ChangeValues => &[Self::ChangeValues, Self::ChangeFar],
            Self::ChangeFar => &[Self::ChangeFar],
            Self::NegateOnly => &[Self::NegateOnly],
        }
    }

    /// Whether expected values are changed.
    pub(crate) fn changes_values(self) -> bool {
        self != Self::NegateOnly
    }

    /// Another number, within the range of every type that a number like this may have.
    pub(crate) fn number<N: Into<u128>>(self, number: N) -> u128 {
        match (self, number.into()) {
            (Self::ChangeFar, number @ ..=67) => number + 60,
            (Self::ChangeFar, number) => number - 60,
            (_, number @ ..=126) => number + 1,
            (_, number) => number - 1,
        }
    }

    /// One of several possible changes.
    pub(crate) fn one_of<T>(self, mut changes: impl Iterator<Item = T>) -> Option<T> {
        if self == Self::ChangeFar { changes.last() } else { changes.next() }
    }

    /// A text literal with another last letter; `None` in other modes, and if no letter can safely be replaced.
    pub(crate) fn same_length(self, literal: &str) -> Option<String> {
        if self != Self::ChangeFar || literal.contains(['\\', '$', '{']) {
            return None;
        }
        let open = literal.find(['"', '\'', '`'])? + 1;
        let at = literal.rfind(|c: char| c.is_ascii_alphanumeric()).filter(|at| *at >= open)?;
        let other = match literal.as_bytes()[at] {
            b'9' => '8',
            b'z' => 'y',
            b'Z' => 'Y',
            byte => char::from(byte + 1),
        };
        Some(format!("{}{other}{}", &literal[..at], &literal[at + 1..]))
    }
}

/// A test's file with copies of the test, each under an unpredictable name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Twins {
    /// The whole file.
    pub source: String,
    /// The unchanged copy: it must pass.
    pub copy: TestId,
    /// An empty test: it must pass.
    pub passing_control: TestId,
    /// A test that fails by itself: it must fail.
    pub failing_control: TestId,
    /// For each kind of assertion that the test uses, a test that asserts something false with it: they must fail.
    pub false_assertions: Vec<(String, TestId)>,
    /// Copies with one alteration each: they must fail.
    pub twins: Vec<Twin>,
}

impl Twins {
    /// The ids of all added tests.
    pub fn ids(&self) -> Vec<TestId> {
        let own = [&self.copy, &self.passing_control, &self.failing_control].into_iter();
        let false_assertions = self.false_assertions.iter().map(|(_, id)| id);
        let twins = self.twins.iter().flat_map(|twin| [Some(&twin.id), twin.probe.as_ref()]).flatten();
        own.chain(false_assertions).chain(twins).cloned().collect()
    }
}

/// Makes names for copies that production code cannot predict.
#[derive(Debug)]
pub(crate) struct FreshNames {
    seed: u64,
    made: u64,
}

impl FreshNames {
    /// Names derived from this seed.
    pub fn new(seed: u64) -> Self {
        Self { seed, made: 0 }
    }

    /// The next name, with this prefix.
    pub fn next(&mut self, prefix: &str) -> String {
        self.made += 1;
        let digest = Digest::of([self.seed.to_le_bytes(), self.made.to_le_bytes()].concat());
        format!("{prefix}_{}", &digest.as_str()[..16])
    }
}

/// An alteration that turns an assertion into its opposite: the bytes to replace, and their new text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Opposite {
    pub edit: (Range<usize>, String),
    /// What is different, for people.
    pub what: String,
    /// The same bytes, replaced by an assertion that both sides print the same.
    pub probe: Option<(Range<usize>, String)>,
}

/// Leaves out alterations that repeat an earlier one.
pub(crate) fn without_repeats<O: PartialEq>(altered: impl Iterator<Item = O>) -> Vec<O> {
    let mut found: Vec<O> = Vec::new();
    for one in altered {
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

/// The edit that makes a claim false, and what it says; `longer` lengthens a text literal.
pub(crate) fn denied(
    tree: &FlatTree<'_>,
    claim: Claim,
    longer: impl FnOnce(usize) -> Option<(Range<usize>, String)>,
) -> Option<((Range<usize>, String), String)> {
    let (node, (range, other)) = match claim {
        Claim::Text(node) => (node, longer(node)?),
        Claim::Number(node, edit) => (node, edit),
    };
    let what = format!("expects `{other}` instead of `{}`", tree.text(node));
    Some(((range, other), what))
}

/// A part of a text with byte ranges replaced; the ranges count from the start of the whole text.
pub(crate) fn edited_part(text: &str, part: Range<usize>, edits: Vec<(Range<usize>, String)>) -> Option<String> {
    let within = |range: Range<usize>| range.start.saturating_sub(part.start)..range.end.saturating_sub(part.start);
    let edits = edits.into_iter().map(|(range, other)| (within(range), other)).collect();
    Some(splice(text.get(part.clone())?, edits))
}

/// The first false assertion of each kind, sorted by kind.
pub(crate) fn one_false_assertion_each(assertions: impl Iterator<Item = (String, String)>) -> Vec<(String, String)> {
    let mut assertions: Vec<(String, String)> = assertions.collect();
    assertions.sort();
    assertions.dedup_by(|one, other| one.0 == other.0);
    assertions
}

/// What a build in a scratch copy of the repository needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScratchNeeds {
    /// Environment variables that put the build's products into the given folder.
    pub env: Vec<(String, String)>,
    /// Files that the build reads although git ignores them, relative to the repository's root.
    pub files: Vec<String>,
    /// Folders that the build only reads although git ignores them; the scratch copy gets links to them.
    pub links: Vec<String>,
    /// Whether the project's runner would also find the tests of the scratch copy.
    pub runner_finds_copy: bool,
    /// Folders to link beside each file of a name: the topmost of these files, and the name of the folder.
    pub beside: Vec<(String, String)>,
}
