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
}

impl<'f> NewNames<'f> {
    /// The names that this file defines and did not define before. An item takes precedence over a glob import.
    pub fn of(before: &File, after: &'f File) -> Self {
        let any = |piece| name(piece).or(imported(piece).map(|(_, name)| name));
        let known: BTreeSet<&str> = before.pieces.iter().filter_map(any).collect();
        let new: Vec<&Piece> = after.pieces.iter().filter(|piece| piece.for_tests).collect();
        let is_new = |name: &&str| !known.contains(name);
        let own: BTreeSet<&str> = new.iter().filter_map(|piece| name(piece)).filter(is_new).collect();
        let mut names = Self::default();
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
        !names.is_empty()
            && file.inside(&test.span).any(|token| names.contains(file.text(token)) && is_use(file, token))
    }
}

/// The name by which an item is used; `None` for members of an `impl`, and for macros, which are compared separately.
fn name(piece: &Piece) -> Option<&str> {
    let (kind, rest) = piece.label.split_once(" `")?;
    let is_item = !matches!(kind, "use" | "macro");
    rest.strip_suffix('`').filter(|name| is_item && *name == piece.name)
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
