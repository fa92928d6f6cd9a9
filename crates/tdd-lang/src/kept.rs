//! Tells whether a test that grew still does all that it did, part by part: what all languages share.

use tdd_core::digest::Digest;

/// A statement of a test, or something else of it: its words, and apart from them the rows of its tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub words: Digest,
    pub rows: Vec<Digest>,
    /// It asserts and does nothing else.
    pub asserts: bool,
}

impl Part {
    /// Whether another one says the same, with more rows at the most.
    pub fn is_kept_in(&self, other: &Self) -> bool {
        let mut left = other.rows.iter();
        self.words == other.words && self.rows.iter().all(|row| left.any(|other| other == row))
    }
}

/// A test in parts.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    /// What stands before its body: the line that defines it, and its decorators.
    pub head: Vec<Part>,
    /// The statements of its body.
    pub statements: Vec<Part>,
    /// What holds tables of it elsewhere.
    pub apart: Vec<Part>,
}

impl Parts {
    /// Whether another test still does all that this one does: its statements stand there in the same order, with
    /// nothing but assertions before the last of them, so that nothing keeps them from being run. Tables may gain rows.
    pub fn are_kept_in(&self, new: &Self) -> bool {
        let is_head_kept =
            self.head.len() == new.head.len() && self.head.iter().zip(&new.head).all(|(old, new)| old.is_kept_in(new));
        is_head_kept && are_somewhere(&self.apart, &new.apart) && are_kept(&self.statements, &new.statements)
    }
}

/// Whether all statements stand in another list in the same order, with nothing but assertions before the last of them,
/// so that nothing keeps them from being run.
pub(crate) fn are_kept(old: &[Part], new: &[Part]) -> bool {
    let mut left = new.iter();
    old.iter().all(|wanted| {
        let next = left.find(|found| wanted.is_kept_in(found) || !found.asserts);
        next.is_some_and(|found| wanted.is_kept_in(found))
    })
}

/// Whether each has its like in another list, in whatever order.
pub(crate) fn are_somewhere(old: &[Part], new: &[Part]) -> bool {
    old.iter().all(|wanted| new.iter().any(|found| wanted.is_kept_in(found)))
}
