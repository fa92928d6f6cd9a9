//! Proposes which requirements and examples have a passing test. A proposal, never a proof.

use std::collections::BTreeSet;

use super::significant::Significant;
use super::test_text::TestText;
use super::{Example, Layout, Requirements};
use crate::seam::Done;
use crate::test_id::TestId;

/// Which requirements seem to have a test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// All requirements, in the kata's order.
    pub requirements: Vec<Standing>,
    /// The examples that no test has yet and that are worth one, the next one first.
    pub examples: Vec<String>,
    /// How the kata states its requirements.
    pub layout: Layout,
}

/// A requirement, and the test that it seems to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Its number in the list, from 1.
    pub number: usize,
    /// Its text.
    pub text: String,
    /// The first test that seems to be about it.
    pub test: Option<TestId>,
}

impl Progress {
    /// The requirements that no test seems to be about.
    pub fn open(&self) -> impl Iterator<Item = &Standing> {
        self.requirements.iter().filter(|standing| standing.test.is_none())
    }

    /// Whether everything that the kata lists seems to have a test. Without a list, its examples count, or else its
    /// sentences.
    pub fn is_complete(&self) -> bool {
        match self.layout {
            Layout::Numbered | Layout::Bulleted => self.open().next().is_none(),
            Layout::Prose => !self.requirements.is_empty() && self.examples.is_empty() && self.open().next().is_none(),
        }
    }
}

impl Requirements {
    /// Which requirements seem to have a test: a tester named one for it, or a test holds the values of one of its
    /// examples, or a test's name has most of its words.
    pub fn progress(&self, tests: &[TestText], named: &[Done]) -> Progress {
        let standing = |at: usize| Standing {
            number: at + 1,
            text: self.list[at].clone(),
            test: self.test_of(at, tests, named).cloned(),
        };
        let requirements: Vec<Standing> = (0..self.list.len()).map(standing).collect();
        let is_closed = |at: usize| match self.layout {
            Layout::Numbered | Layout::Bulleted => requirements[at].test.is_some(),
            // A sentence may have several examples, and none of them stands for the others.
            Layout::Prose => named.iter().any(|claim| self.meant_by(&claim.requirement) == Some(at)),
        };
        let is_uncovered = |example: &&Example| {
            let settled = example.requirement.map_or_else(|| is_named(example, named), is_closed);
            !settled && !tests.iter().any(|test| example.is_in(test))
        };
        let mut uncovered: Vec<&Example> = self.examples.iter().filter(is_uncovered).collect();
        uncovered.sort_by_key(|example| example.requirement.unwrap_or(usize::MAX));
        let examples = uncovered.into_iter().map(|example| example.text.clone()).collect();
        Progress { requirements, examples, layout: self.layout }
    }

    fn test_of<'a>(&self, at: usize, tests: &'a [TestText], named: &'a [Done]) -> Option<&'a TestId> {
        let mut claims = named.iter().filter(|claim| self.meant_by(&claim.requirement) == Some(at));
        let mut examples =
            self.examples.iter().filter(|example| example.requirement == Some(at) && self.is_first(example));
        let words = Significant::of(first_sentence(&self.list[at]));
        let mut by_example = || examples.find_map(|example| tests.iter().find(|test| example.is_in(test)));
        let by_name = || tests.iter().find(|test| is_about(&words, &test.name));
        let by_claim = claims.next().map(|claim| &claim.test_id);
        by_claim.or_else(|| by_example().or_else(by_name).map(|test| &test.id))
    }

    /// The requirement that a tester's words mean: its number, or at least half of the words are its own.
    pub fn meant_by(&self, claim: &str) -> Option<usize> {
        if let Some(number) = number(claim) {
            return number.checked_sub(1).filter(|at| *at < self.list.len());
        }
        let claimed = Significant::of(claim);
        let shared = self.list.iter().map(|text| Significant::of(text).shared(&claimed));
        let (shared, at) = shared.zip(0..).max_by_key(|(shared, at)| (*shared, std::cmp::Reverse(*at)))?;
        (shared > 0 && 2 * shared >= claimed.words.len()).then_some(at)
    }

    /// Whether no example before it has the same values. A later requirement often repeats an earlier one's example.
    fn is_first(&self, example: &Example) -> bool {
        let sorted = |example: &Example| {
            let mut values = example.values.clone();
            values.sort_unstable();
            values
        };
        let own = sorted(example);
        self.examples
            .iter()
            .find(|other| sorted(other) == own)
            .is_some_and(|first| first.requirement == example.requirement)
    }
}

/// Whether a tester named a test for an example that belongs to no requirement.
fn is_named(example: &Example, named: &[Done]) -> bool {
    let words = |text: &str| -> BTreeSet<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    named.iter().any(|claim| words(&claim.requirement).is_superset(&words(&example.text)))
}

impl Example {
    /// Whether a test holds all values of the example.
    fn is_in(&self, test: &TestText) -> bool {
        let needed = |value: &String| self.values.iter().filter(|other| *other == value).count();
        self.values.iter().all(|value| test.tokens.get(value).is_some_and(|there| *there >= needed(value)))
    }
}

/// Whether a test's name has most words of a requirement: three of five, and at least two unless there is only one.
fn is_about(requirement: &Significant, name: &Significant) -> bool {
    let (shared, all) = (requirement.shared(name), requirement.words.len());
    requirement.negates == name.negates && shared >= all.min(2) && shared > 0 && 5 * shared >= 3 * all
}

fn first_sentence(text: &str) -> &str {
    text.split_once(". ").map_or(text, |(first, _)| first)
}

/// The number that a claim consists of or begins with: `2`, `#2`, `Requirement 2`, `2. One number`.
fn number(claim: &str) -> Option<usize> {
    let claim = claim.trim().to_lowercase();
    let labels = ["requirement", "req", "anforderung", "r", "#"];
    let plain =
        labels.iter().find_map(|label| claim.strip_prefix(label)).unwrap_or(&claim).trim_start_matches([' ', '#', '.']);
    let digits = plain.bytes().take_while(u8::is_ascii_digit).count();
    let after = &plain[digits..];
    let ends = after.trim().is_empty() || after.starts_with([')', ':']) || after.starts_with(". ") || after == ".";
    if ends { plain[..digits].parse().ok() } else { None }
}
