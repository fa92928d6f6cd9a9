//! Decides, part by part, whether a changed test still does everything that it did; shared by all languages.

use tdd_core::digest::Digest;

/// A statement or other part of a test: the digest of its words, and separately the digests of its table rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub words: Digest,
    pub rows: Vec<Digest>,
    /// Whether the part only asserts.
    pub asserts: bool,
}

impl Part {
    /// Whether `other` is the same part, perhaps with more rows.
    pub fn is_kept_in(&self, other: &Self) -> bool {
        let mut left = other.rows.iter();
        self.words == other.words && self.rows.iter().all(|row| left.any(|other| other == row))
    }
}

/// A test, split into parts.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    /// What precedes the body: the signature and the decorators.
    pub head: Vec<Part>,
    /// The statements of its body.
    pub statements: Vec<Part>,
    /// Parts outside of the test that hold its tables.
    pub apart: Vec<Part>,
}

impl Parts {
    /// Whether the new test still does everything that this one does: it has the same statements in the same order, and
    /// only assertions are inserted before the last of them, so that nothing new can skip them. Tables may gain rows.
    pub fn are_kept_in(&self, new: &Self) -> bool {
        let is_head_kept =
            self.head.len() == new.head.len() && self.head.iter().zip(&new.head).all(|(old, new)| old.is_kept_in(new));
        is_head_kept && are_somewhere(&self.apart, &new.apart) && are_kept(&self.statements, &new.statements)
    }
}

/// Whether all old statements are in the new list in the same order, with only assertions inserted before the last of
/// them, so that nothing new can skip them.
pub(crate) fn are_kept(old: &[Part], new: &[Part]) -> bool {
    let mut left = new.iter();
    old.iter().all(|wanted| {
        let next = left.find(|found| wanted.is_kept_in(found) || !found.asserts);
        next.is_some_and(|found| wanted.is_kept_in(found))
    })
}

/// Whether each old part is kept somewhere in the new list, in any order.
pub(crate) fn are_somewhere(old: &[Part], new: &[Part]) -> bool {
    old.iter().all(|wanted| new.iter().any(|found| wanted.is_kept_in(found)))
}
