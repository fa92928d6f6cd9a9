//! Finds the methods that a test runs as a testify suite: they are parts of it, as subtests are.

use std::ops::Range;

use super::items::{assertions, called};
use super::pieces::receiver;
use super::syntax::Tree;

/// How the assertions of a suite begin: `s.Equal(…)`, `s.Require().NoError(…)`.
const ASSERTING: [&str; 30] = [
    "Equal",
    "NotEqual",
    "EqualValues",
    "Exactly",
    "True",
    "False",
    "Nil",
    "NotNil",
    "NoError",
    "Error",
    "Contains",
    "NotContains",
    "Len",
    "Empty",
    "NotEmpty",
    "Zero",
    "NotZero",
    "Same",
    "NotSame",
    "Panics",
    "NotPanics",
    "Greater",
    "Less",
    "Subset",
    "Regexp",
    "InDelta",
    "InEpsilon",
    "ElementsMatch",
    "JSONEq",
    "Fail",
];

/// The methods in the same file that a test runs as a suite.
pub(super) fn methods(tree: &Tree<'_>, test: usize) -> Vec<usize> {
    let suites: Vec<&str> = tree.subtree(test).filter_map(|node| suite(tree, node)).collect();
    let is_part = |node: &usize| {
        tree.kind(*node) == "method_declaration"
            && tree.named(*node, "name").starts_with("Test")
            && suites.contains(&receiver(tree, *node))
    };
    if suites.is_empty() { Vec::new() } else { tree.children(0).filter(is_part).collect() }
}

/// Byte ranges of a method's assertions.
pub(super) fn claims(tree: &Tree<'_>, method: usize) -> Vec<Range<usize>> {
    let Some(body) = tree.child(method, "body") else { return Vec::new() };
    let own = tree.subtree(body).filter(|node| is_claim(tree, method, *node)).map(|node| tree.range(node));
    own.chain(assertions(tree, body).into_iter().map(|assertion| assertion.span)).collect()
}

/// The type of the suite that a call runs: `suite.Run(t, new(Calc))`, `suite.Run(t, &Calc{…})`.
fn suite<'a>(tree: &Tree<'a>, call: usize) -> Option<&'a str> {
    let is_run = tree.kind(call) == "call_expression"
        && called(tree, call) == "Run"
        && tree.child(call, "function").is_some_and(|function| tree.named(function, "operand") == "suite");
    let arguments = tree.child(call, "arguments").filter(|_| is_run)?;
    let named = |node: &usize| {
        let in_new = || tree.kind(*node) == "identifier" && called(tree, tree.parent(tree.parent(*node))) == "new";
        tree.kind(*node) == "type_identifier" || in_new()
    };
    tree.subtree(arguments).find(named).map(|node| tree.text(node))
}

/// Whether a call is an assertion on the suite itself.
fn is_claim(tree: &Tree<'_>, method: usize, call: usize) -> bool {
    let list = tree.child(method, "receiver");
    let own = list.and_then(|list| tree.subtree(list).find(|node| tree.kind(*node) == "identifier"));
    let Some(own) = own.map(|own| tree.text(own)) else { return false };
    let operand = tree.child(call, "function").map_or("", |function| tree.named(function, "operand"));
    let on_suite = [own.to_owned(), format!("{own}.Require()"), format!("{own}.Assert()")];
    tree.kind(call) == "call_expression"
        && on_suite.iter().any(|it| it == operand)
        && ASSERTING.iter().any(|word| called(tree, call).starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suites_methods_are_parts_of_the_test_that_runs_it() {
        let source = "package a\n\nfunc (s *Calc) TestA() { s.Equal(1, f()); s.Require().NoError(g()); s.Setup() }\n\
                      func (s *Calc) SetupTest() {}\nfunc (o *Other) TestB() { o.Equal(1, 2) }\n\
                      func TestCalc(t *testing.T) { suite.Run(t, SUITE) }\n";
        for suite in ["new(Calc)", "&Calc{}", "&Calc{n: 1}"] {
            let source = source.replace("SUITE", suite);
            let tree = Tree::parse(&source).unwrap();
            let test = tree.children(0).find(|node| tree.kind(*node) == "function_declaration").unwrap();
            let found = methods(&tree, test);
            assert_eq!(found.iter().map(|node| tree.named(*node, "name")).collect::<Vec<_>>(), ["TestA"], "{suite}");
            assert_eq!(claims(&tree, found[0]).len(), 2, "{suite}");
        }
    }
}
