//! Decides what a plain program runs besides a copy of a test, from the state that modules of production keep.
//!
//! State that only chooses between answers, and that no second call in a test asks for, must not change the result of a
//! test that is run again. State that tests ask for by several calls may change it.

use std::collections::BTreeSet;

use tdd_core::change::Sort;

use super::super::items::is_test_file;
use super::super::owns;
use super::super::sort::sort;
use super::super::syntax::Tree;
use crate::language::{Project, Sources};
use crate::plain::Again;

/// A variable of a module that functions change.
struct State {
    /// Whether it does nothing but choose between answers.
    only_chooses: bool,
    /// The functions that use it.
    functions: BTreeSet<String>,
    /// All functions of its file.
    beside: BTreeSet<String>,
}

/// What is run besides copies of a test in the file `path`.
pub(super) fn again(project: &Project, sources: &dyn Sources, path: &str) -> Again {
    let is_ours = |file: &&String| owns(file) && project.relative_path(file).is_some();
    let (tests, others): (Vec<&String>, Vec<&String>) =
        sources.files().iter().filter(is_ours).partition(|file| is_test_file(file));
    let production = others.into_iter().filter(|file| sort(file) == Sort::Production);
    let states: Vec<State> = production
        .filter_map(|file| Some((file, sources.read(file)?)))
        .flat_map(|(file, text)| Tree::parse(file, &text).map_or_else(Vec::new, |tree| states(&tree)))
        .collect();
    if states.is_empty() {
        return Again::First;
    }
    let calls = |file: &str| {
        let text = sources.read(file).unwrap_or_default();
        Tree::parse(file, &text).map_or_else(Vec::new, |tree| called(&tree))
    };
    let tested: Vec<String> = tests.iter().flat_map(|file| calls(file)).collect();
    let own = calls(path);
    let count = |names: &BTreeSet<String>| tested.iter().filter(|name| names.contains(*name)).count();
    let is_alone = |state: &State| {
        let names = if count(&state.functions) == 0 { &state.beside } else { &state.functions };
        state.only_chooses && count(names) == 1 && own.iter().any(|name| names.contains(name))
    };
    match () {
        () if states.iter().any(is_alone) => Again::Repeated,
        () if states.iter().any(|state| count(&state.functions) > 1) => Again::Never,
        () => Again::First,
    }
}

/// The last parts of the names of all functions that a file calls.
fn called(tree: &Tree<'_>) -> Vec<String> {
    let calls = (1..tree.len()).filter(|node| tree.kind(*node) == "call_expression");
    let name = |function: usize| tree.text(function).rsplit('.').next().unwrap_or_default().to_owned();
    calls.filter_map(|call| tree.child(call, "function")).map(name).collect()
}

/// The variables of a module that its functions change.
fn states(tree: &Tree<'_>) -> Vec<State> {
    let is_outside = |node: usize| !tree.ancestors(node).any(|outer| tree.is_function(outer));
    let declared = (1..tree.len()).filter(|node| tree.kind(*node) == "variable_declarator" && is_outside(*node));
    let variables = declared.filter_map(|node| tree.child(node, "name")).map(|name| tree.text(name));
    let state = |variable: &str| {
        let uses = uses(tree, variable);
        let around = |node: &usize| tree.ancestors(*node).find_map(|outer| function_name(tree, outer));
        uses.iter().any(|node| is_changed(tree, *node)).then(|| State {
            only_chooses: only_chooses(tree, &uses),
            functions: uses.iter().filter_map(around).collect(),
            beside: (1..tree.len()).filter_map(|node| function_name(tree, node)).collect(),
        })
    };
    variables.filter_map(state).collect()
}

/// The name of a function, its own or that of what holds it.
fn function_name(tree: &Tree<'_>, node: usize) -> Option<String> {
    let is_holder = |outer: &usize| matches!(tree.kind(*outer), "variable_declarator" | "pair");
    let holder = || tree.ancestors(node).take(2).find(is_holder);
    let held = || holder().and_then(|holder| tree.child(holder, "name").or_else(|| tree.child(holder, "key")));
    let name = tree.is_function(node).then(|| tree.child(node, "name").or_else(held)).flatten();
    name.map(|name| tree.text(name).to_owned())
}

/// Where functions use a variable.
fn uses(tree: &Tree<'_>, variable: &str) -> Vec<usize> {
    let is_use = |node: &usize| {
        tree.kind(*node) == "identifier"
            && tree.text(*node) == variable
            && tree.ancestors(*node).any(|outer| tree.is_function(outer))
    };
    (1..tree.len()).filter(is_use).collect()
}

/// Whether a variable is asked for in conditions, and otherwise only changed.
fn only_chooses(tree: &Tree<'_>, uses: &[usize]) -> bool {
    let asks = |node: &usize| is_asked(tree, *node);
    uses.iter().any(asks) && uses.iter().all(|node| is_changed(tree, *node) || asks(node))
}

/// Whether a name stands in an assignment, an increment, or a call whose value nobody takes.
fn is_changed(tree: &Tree<'_>, node: usize) -> bool {
    tree.ancestors(node).take_while(|outer| !tree.is_function(*outer)).any(|outer| match tree.kind(outer) {
        "update_expression" => true,
        "assignment_expression" | "augmented_assignment_expression" => {
            let left = tree.child(outer, "left").map_or("", |left| tree.text(left));
            left.split(['.', '[']).next() == Some(tree.text(node))
        }
        "call_expression" => {
            let function = tree.child(outer, "function").map_or("", |function| tree.text(function));
            function.split('.').next() == Some(tree.text(node))
                && tree.kind(tree.parent(outer)) == "expression_statement"
        }
        _ => false,
    })
}

/// Whether a name stands in a condition.
fn is_asked(tree: &Tree<'_>, node: usize) -> bool {
    let around: Vec<usize> =
        std::iter::once(node).chain(tree.ancestors(node).take_while(|outer| !tree.is_function(*outer))).collect();
    around.iter().any(|part| tree.field(*part) == Some("condition"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;

    fn check(production: &str, test: &str, expected: Again) {
        let sources = memory(&[("calc.js", production), ("test/a.test.js", test)]);
        let project = Project { root: String::new(), description: String::new() };
        assert_eq!(again(&project, &sources, "test/a.test.js"), expected, "{production}");
    }

    const ONCE: &str = "test('a', () => assert.equal(f(4), 8));\n";

    #[test]
    fn state_that_only_chooses_answers_must_not_change_a_test_that_is_run_again() {
        for production in [
            "let n = 0;\nexport function f(a) {\n  n += 1;\n  return n > 1 ? a : a * 2;\n}\n",
            "let odd;\nexport const f = (a) => ((odd = !odd) ? a * 2 : a);\n",
            "const seen = new Set();\nexport function f(a) { if (seen.has(a)) return a; seen.add(a); return 8; }\n",
            "const s = { n: 0 };\nexport function f(a) { return ++s.n > 1 ? a : 8; }\n",
            "let n = 0;\nconst g = () => (n++ ? 1 : 2);\nexport function f(a) { return a * g(); }\n",
        ] {
            check(production, ONCE, Again::Repeated);
        }
    }

    #[test]
    fn state_that_is_part_of_an_answer_may_change_it() {
        for production in [
            "let n = 0;\nexport function f() { n += 1; return n; }\n",
            "const known = new Map();\nexport function f(a) { if (!known.has(a)) known.set(a, 1); return known.get(a); }\n",
            "const limit = 3;\nexport function f(a) { return a > limit ? 1 : 0; }\n",
            "export function f(a) { let n = 0; n += 1; return n > a ? 1 : 0; }\n",
        ] {
            check(production, ONCE, Again::First);
        }
    }

    #[test]
    fn state_that_tests_ask_for_by_several_calls_is_left_alone() {
        let twice = "test('a', () => { f(1); assert.equal(f(4), 8); });\n";
        check("let n = 0;\nexport function f(a) {\n  n += 1;\n  return n > 1 ? a : 2;\n}\n", twice, Again::Never);
        check("export const f = (a) => a * 2;\n", twice, Again::First);
    }
}
