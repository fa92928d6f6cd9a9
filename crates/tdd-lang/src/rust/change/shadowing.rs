//! Finds tests whose meaning changed although their tokens did not: a new test item has taken the name of something
//! they call.

use std::collections::BTreeSet;

use tdd_core::digest::Digest;

use crate::item::TestItem;

use super::file::File;
use super::piece::Piece;

/// The new names that a file's tests can use, in its root and in its modules.
#[derive(Debug, Default)]
pub(super) struct NewNames<'f> {
    in_root: BTreeSet<&'f str>,
    in_modules: BTreeSet<&'f str>,
    /// Methods of the tests' own traits: one that takes `self` by value comes before the method of a production type.
    methods: BTreeSet<&'f str>,
}

impl<'f> NewNames<'f> {
    /// The names that this file defines and did not define before. An item takes precedence over a glob import.
    pub fn of(before: &File, after: &'f File) -> Self {
        let any = |piece| name(piece).or(imported(piece).map(|(_, name)| name));
        let known: BTreeSet<&str> = before.pieces.iter().filter_map(any).collect();
        let new: Vec<&Piece> = after.pieces.iter().filter(|piece| piece.for_tests).collect();
        let is_new = |name: &&str| !known.contains(name);
        let own: BTreeSet<&str> = new.iter().filter_map(|piece| name(piece)).filter(is_new).collect();
        let known_methods: BTreeSet<&str> = before.pieces.iter().filter_map(method).map(|(_, name)| name).collect();
        let is_own = |owner: &str| new.iter().any(|piece| piece.label == format!("trait `{owner}`"));
        let methods = new.iter().filter_map(|piece| method(piece)).filter(|(owner, _)| is_own(owner));
        let methods = methods.map(|(_, name)| name).filter(|name| !known_methods.contains(name));
        let mut names = Self { methods: methods.collect(), ..Self::default() };
        for piece in new {
            let imported = imported(piece).filter(|(from, _)| own.contains(from)).map(|(_, name)| name);
            let place = if piece.scope == Digest::zero() { &mut names.in_root } else { &mut names.in_modules };
            place.extend(name(piece).or(imported).filter(is_new));
        }
        names
    }

    /// Whether a test uses one of the new names.
    pub fn shadows(&self, file: &File, test: &TestItem) -> bool {
        let names = if test.name.contains("::") { &self.in_modules } else { &self.in_root };
        let calls = |token: usize| {
            let is_called = matches!(file.text(token + 1), "(" | "::");
            let is_member = token.checked_sub(1).is_some_and(|before| matches!(file.text(before), "." | "::"));
            is_member && is_called && self.methods.contains(file.text(token))
        };
        !(names.is_empty() && self.methods.is_empty())
            && file
                .inside(&test.span)
                .any(|token| names.contains(file.text(token)) && is_use(file, token) || calls(token))
    }
}

/// The name by which an item is used; `None` for members of an `impl`, and for macros, which are compared separately.
fn name(piece: &Piece) -> Option<&str> {
    let (kind, rest) = piece.label.split_once(" `")?;
    let is_item = !matches!(kind, "use" | "macro");
    rest.strip_suffix('`').filter(|name| is_item && *name == piece.name)
}

/// The trait or type of a method, and the method's name.
fn method(piece: &Piece) -> Option<(&str, &str)> {
    let path = piece.label.strip_prefix("fn `")?.strip_suffix('`')?;
    path.rsplit_once("::")
}

/// The first segment of an import's path, and the name it brings in. Only imports of the tests' own items matter:
/// importing the same item by its full path changes nothing.
fn imported(piece: &Piece) -> Option<(&str, &str)> {
    let path = piece.label.strip_prefix("use `")?.strip_suffix('`')?;
    let path = ["self::", "crate::", "super::"].iter().fold(path, |path, lead| path.strip_prefix(lead).unwrap_or(path));
    let name = path.rsplit([':', ' ']).next()?;
    Some((path.split("::").next()?, name))
}

/// Whether a token refers to an item: it is called, starts a path, or is capitalized.
fn is_use(file: &File, token: usize) -> bool {
    let before = token.checked_sub(1).map_or("", |before| file.text(before));
    let opens = matches!(file.text(token + 1), "(" | "::" | "!" | "{");
    let is_capital = file.text(token).starts_with(char::is_uppercase);
    !matches!(before, "." | "::" | "fn" | "let" | "mut") && (opens || is_capital)
}
