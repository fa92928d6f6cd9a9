//! Finds test code that changes what other tests see, although they do not name it: patches at import time, and set-up
//! code that puts a fake before production.

use std::collections::BTreeSet;

use tdd_core::digest::Digest;

use crate::item::Items;
use crate::syntax::FlatTree;

/// Test code that acts on tests which do not name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Intrusion {
    /// Description for people.
    pub label: String,
    pub line: usize,
    pub digest: Digest,
    pub acts_on: ActsOn,
}

/// The tests that an intrusion acts on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ActsOn {
    /// All tests of the process.
    Everything,
    /// These tests of its own file, by name.
    Tests(BTreeSet<String>),
}

impl Intrusion {
    /// The intrusion of a node.
    pub fn at(tree: &FlatTree<'_>, node: usize, label: String, acts_on: ActsOn) -> Self {
        Self { label, line: tree.line(node), digest: Digest::of(tree.text(node)), acts_on }
    }
}

/// The tests of a file inside a node.
pub(crate) fn tests_in(tree: &FlatTree<'_>, items: &Items, node: usize) -> ActsOn {
    let around = tree.range(node);
    let inside = items.tests.iter().filter(|test| around.start <= test.span.start && test.span.end <= around.end);
    ActsOn::Tests(inside.map(|test| test.name.clone()).collect())
}

/// How a language writes assignments, members and calls, and how its libraries put a fake in place.
pub(crate) struct FakeSyntax {
    /// Kinds of assignments.
    pub assignments: &'static [&'static str],
    /// Kinds of `a.b` and `a[b]`.
    pub members: &'static [&'static str],
    /// Kinds of calls.
    pub calls: &'static [&'static str],
    /// Names that every file knows and that all tests share.
    pub shared: &'static [&'static str],
    /// Functions that put a fake in place, whatever they belong to.
    pub fakers: &'static [&'static str],
    /// Functions that put a fake in place if they belong to one of these objects.
    pub members_of: (&'static [&'static str], &'static [&'static str]),
}

impl FakeSyntax {
    /// Whether code in a node replaces something that it does not own; `imported` are the names that it got elsewhere.
    pub fn fakes(&self, tree: &FlatTree<'_>, node: usize, imported: &BTreeSet<&str>) -> bool {
        tree.subtree(node).any(|inner| self.assigns(tree, inner, imported) || self.calls_a_faker(tree, inner))
    }

    fn assigns(&self, tree: &FlatTree<'_>, node: usize, imported: &BTreeSet<&str>) -> bool {
        let left = tree.child(node, "left").filter(|_| self.assignments.contains(&tree.kind(node)));
        left.is_some_and(|left| {
            let is_member = self.members.contains(&tree.kind(left));
            let root = root(tree.text(left));
            is_member && (imported.contains(root) || self.shared.contains(&root)) && !is_setting(tree.text(left))
        })
    }

    fn calls_a_faker(&self, tree: &FlatTree<'_>, node: usize) -> bool {
        let function = tree.child(node, "function").filter(|_| self.calls.contains(&tree.kind(node)));
        function.is_some_and(|function| {
            let text = tree.text(function);
            let last = text.rsplit('.').next().unwrap_or(text);
            let (objects, functions) = self.members_of;
            let belongs = text.split('.').rev().skip(1).any(|part| objects.contains(&part));
            let is_faker = self.fakers.contains(&last) || belongs && functions.contains(&last);
            is_faker || text.split('.').any(|part| part == "patch")
        })
    }
}

/// The first name of `calc.add` or `calc['add']`.
pub(crate) fn root(member: &str) -> &str {
    member.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).next().unwrap_or(member)
}

/// Whether a member is the environment or a search path, which a test file may set up for itself.
fn is_setting(member: &str) -> bool {
    ["os.environ", "process.env", "sys.path", "sys.argv"].iter().any(|start| member.starts_with(start))
}
