//! Finds JavaScript test code that acts on tests which do not name it.

use std::collections::BTreeSet;

use super::syntax::Tree;
use crate::analysis::intrusions::{ActsOn, FakeSyntax, Intrusion, root, tests_in};
use crate::item::Items;

const SYNTAX: FakeSyntax = FakeSyntax {
    assignments: &["assignment_expression", "augmented_assignment_expression"],
    members: &["member_expression", "subscript_expression"],
    calls: &["call_expression"],
    shared: &[
        "globalThis",
        "global",
        "window",
        "Object",
        "Array",
        "String",
        "Number",
        "Math",
        "JSON",
        "Date",
        "Promise",
    ],
    fakers: &["mockImplementation", "mockReturnValue", "mockResolvedValue", "defineProperty", "stubGlobal"],
    members_of: (
        &["vi", "vitest", "jest", "mock", "sinon", "td"],
        &["mock", "doMock", "setMock", "unstable_mockModule", "module", "method", "spyOn", "stub", "replace", "fake"],
    ),
};

/// Calls that move to the top of their file.
const HOISTED: [&str; 3] = ["vi.mock", "vitest.mock", "jest.mock"];

/// The intrusions of a test file: whatever it does outside of its tests acts on all tests around.
pub(super) fn intrusions(tree: &Tree<'_>, items: &Items) -> Vec<Intrusion> {
    let imports = (0..tree.len()).filter(|node| {
        let text = tree.text(*node);
        tree.kind(*node) == "import_statement"
            || tree.kind(*node) == "variable_declarator" && (text.contains("require(") || text.contains("import("))
    });
    let imported: BTreeSet<&str> = imports.flat_map(|import| tree.words(import).collect::<Vec<_>>()).collect();
    let tests = items.tests.iter().flat_map(|test| tree.nodes_at(&test.span)).filter(|node| *node > 0);
    let are_in_tests = tree.are_in(tests.map(|test| tree.subtree(test)));
    let is_statement = |node: &usize| tree.kind(*node) == "expression_statement" && !are_in_tests[*node];
    let mut found: Vec<Intrusion> = Vec::new();
    for statement in (1..tree.len()).filter(is_statement) {
        let is_group = |node: &usize| {
            let function = tree.child(*node, "function").map_or("", |function| tree.text(function));
            matches!(root(function), "describe" | "suite" | "context")
        };
        let holds_tests = matches!(tests_in(tree, items, statement), ActsOn::Tests(tests) if !tests.is_empty());
        // A helper runs only if a test calls it.
        let mut functions = tree.ancestors(statement).filter(|outer| tree.kind(*outer) == "function_declaration");
        if holds_tests || functions.next().is_some() || !SYNTAX.fakes(tree, statement, &imported) {
            continue;
        }
        let is_hoisted = HOISTED.iter().any(|call| tree.text(statement).starts_with(call));
        let group = tree.ancestors(statement).filter(|_| !is_hoisted).find(is_group).unwrap_or(0);
        found.push(Intrusion::at(tree, statement, "code".to_owned(), tests_in(tree, items, group)));
    }
    found
}
