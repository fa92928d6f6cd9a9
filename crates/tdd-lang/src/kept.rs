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
