//! Instruments Python: what a function returns or yields, and constants, go through a helper, on the same lines.

use super::syntax::Tree;
use crate::alter::{Insertions, Instrumented, NewCode, Plan, Request, is_asked};
use crate::language::join;

/// Alters values at run time.
const HELPER: &str = include_str!("alter.py");

/// Special methods whose value is an answer. All others belong to the machinery of objects, or compare, and a rigged
/// comparison would be noticed if its own answer was altered.
const ANSWERING: [&str; 13] = [
    "__abs__",
    "__bytes__",
    "__call__",
    "__contains__",
    "__float__",
    "__format__",
    "__getitem__",
    "__int__",
    "__iter__",
    "__len__",
    "__next__",
    "__repr__",
    "__str__",
];

/// Arithmetic operators, without their underscores.
const ARITHMETIC: [&str; 15] = [
    "add", "and", "floordiv", "invert", "lshift", "matmul", "mod", "mul", "neg", "or", "pow", "rshift", "sub",
    "truediv", "xor",
];

/// What kind of answers a function gives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answers {
    Value,
    /// The result of an operator: only an object of the project's own counts.
    Operator,
    None,
}

/// Instruments the functions and constants of this code.
pub(super) fn instrument(request: &Request<'_>) -> Option<Instrumented> {
    // There is no milder way.
    if request.is_mild {
        return None;
    }
    let mut plan = Plan::of(request, instrumented);
    let path = format!("{}.py", plan.switches.helper);
    plan.add(&path, plan.switches.fill(HELPER));
    plan.finish(Vec::new())
}

fn instrumented(plan: &mut Plan<'_, '_>, code: &NewCode, source: &str) -> Option<Insertions> {
    let tree = Tree::parse(source).filter(|tree| tree.parses())?;
    let helper = loader(plan);
    let mut insertions = Insertions::new();
    let (mut skipped, mut silent) = (Vec::new(), Vec::new());
    for node in 1..tree.len() {
        if !is_item(&tree, node) || !is_asked(&tree, node, &code.lines, |outer| is_item(&tree, outer)) {
            continue;
        }
        let (answers, places, is_constant) = match tree.kind(node) {
            "function_definition" => (answers(&tree, node), answers_of(&tree, node), false),
            "assignment" => (Answers::Value, constant(&tree, node).into_iter().collect(), true),
            _ => continue,
        };
        let is_silent = places.is_empty() && !is_constant && own(&tree, node, "yield").is_empty();
        if answers == Answers::None || places.is_empty() && !is_silent {
            continue;
        }
        let id = plan.id(&code.path, name(&tree, node), tree.line(node), is_constant);
        if !is_constant {
            skipped.push(format!("\"{id}\": \"{}\"", name(&tree, node)));
        }
        if is_silent {
            silent.push(format!("\"{id}\""));
        }
        if !is_constant && answers != Answers::Operator {
            insertions.extend(entry(&tree, source, node, &format!("{helper}.reached({id})")));
        }
        let call = if answers == Answers::Operator { "operator" } else { "answer" };
        for place in places {
            let range = tree.range(place);
            insertions.push((range.start, format!("{helper}.{call}({id}, (")));
            insertions.push((range.end, "))".to_owned()));
        }
    }
    if !skipped.is_empty() {
        let line = format!("\n{helper}.skip(globals(), {{{}}}, [{}])\n", skipped.join(", "), silent.join(", "));
        insertions.push((source.len(), line));
    }
    Some(insertions)
}

/// Puts a call before the first statement of a function, after its documentation.
fn entry(tree: &Tree<'_>, source: &str, function: usize, call: &str) -> Option<(usize, String)> {
    let body = tree.child(function, "body")?;
    let is_documentation = |node: &usize| {
        tree.kind(*node) == "expression_statement" && tree.parts(*node).all(|part| tree.kind(part) == "string")
    };
    let mut statements = tree.parts(body).filter(|node| tree.kind(*node) != "comment");
    let first = statements.next()?;
    let first = if is_documentation(&first) { statements.next() } else { Some(first) };
    let Some(first) = first else {
        let documentation = tree.parts(body).find(is_documentation)?;
        return Some((tree.range(documentation).end, format!("; {call}")));
    };
    let start = tree.range(first).start;
    let is_simple = tree.kind(first).ends_with("_statement")
        && !matches!(
            tree.kind(first),
            "if_statement"
                | "for_statement"
                | "while_statement"
                | "try_statement"
                | "with_statement"
                | "match_statement"
        );
    // Before a statement with a block the call needs a line of its own.
    let line = source.get(..start).and_then(|before| before.rsplit('\n').next()).unwrap_or_default();
    let end = if is_simple { "; ".to_owned() } else { format!("\n{line}") };
    Some((start, format!("{call}{end}")))
}

/// An expression that is the helper module, wherever the file is imported from.
fn loader(plan: &Plan<'_, '_>) -> String {
    let name = &plan.switches.helper;
    let path = join(plan.request.root, &format!("{name}.py")).replace('\\', "\\\\").replace('"', "\\\"");
    let modules = "__import__(\"sys\").modules";
    format!(
        "({modules}.get(\"{name}\") or __import__(\"builtins\").exec(__import__(\"importlib.machinery\", None, None, \
         [\"x\"]).SourceFileLoader(\"{name}\", \"{path}\").get_code(\"{name}\"), {{\"__name__\": \"{name}\"}}) or \
         {modules}[\"{name}\"])"
    )
}

fn is_item(tree: &Tree<'_>, node: usize) -> bool {
    match tree.kind(node) {
        "function_definition" | "class_definition" | "decorated_definition" => true,
        "assignment" => !tree.ancestors(node).any(|outer| tree.kind(outer) == "function_definition"),
        _ => false,
    }
}

/// The name of a function or constant, with the names of what is around it.
fn name(tree: &Tree<'_>, node: usize) -> String {
    let own = tree.child(node, "name").or_else(|| tree.child(node, "left"));
    let is_named = |outer: &usize| matches!(tree.kind(*outer), "function_definition" | "class_definition");
    let outer = tree.ancestors(node).filter(is_named).filter_map(|outer| tree.child(outer, "name"));
    let mut names: Vec<&str> = own.into_iter().chain(outer).map(|name| tree.text(name)).collect();
    names.reverse();
    names.join(".")
}

fn answers(tree: &Tree<'_>, function: usize) -> Answers {
    let name = tree.child(function, "name").map_or("", |name| tree.text(name));
    let Some(special) = name.strip_prefix("__").and_then(|name| name.strip_suffix("__")) else { return Answers::Value };
    let reversed = special.strip_prefix('r').is_some_and(|plain| ARITHMETIC.contains(&plain));
    match (ANSWERING.contains(&name), ARITHMETIC.contains(&special) || reversed) {
        (true, _) => Answers::Value,
        (false, true) => Answers::Operator,
        (false, false) => Answers::None,
    }
}

/// The values that a function returns; those that it yields, if it is a generator.
fn answers_of(tree: &Tree<'_>, function: usize) -> Vec<usize> {
    let yields = own(tree, function, "yield");
    if yields.is_empty() {
        return own(tree, function, "return_statement").into_iter().filter_map(|node| value(tree, node)).collect();
    }
    let delegates = |node: &usize| tree.children(*node).any(|child| tree.kind(child) == "from");
    yields.into_iter().filter(|node| !delegates(node)).filter_map(|node| value(tree, node)).collect()
}

/// The nodes of this kind in a function, without those of functions inside it.
fn own(tree: &Tree<'_>, function: usize, kind: &str) -> Vec<usize> {
    let Some(body) = tree.child(function, "body") else { return Vec::new() };
    let is_around = |node: &usize| matches!(tree.kind(*node), "function_definition" | "lambda");
    let is_own = |node: &usize| tree.ancestors(*node).find(is_around) == Some(function);
    // The keyword of a statement may have the kind of the statement.
    let is_it = |node: &usize| tree.kind(*node) == kind && !tree.is_leaf(*node);
    tree.subtree(body).filter(|node| is_it(node) && is_own(node)).collect()
}

/// What stands after `return` or `yield`.
fn value(tree: &Tree<'_>, node: usize) -> Option<usize> {
    tree.parts(node).find(|part| !matches!(tree.kind(*part), "return" | "yield"))
}

/// The value of a constant: a literal, or a function without a name.
fn constant(tree: &Tree<'_>, assignment: usize) -> Option<usize> {
    let left = tree.child(assignment, "left").filter(|left| tree.kind(*left) == "identifier")?;
    let value = tree.child(assignment, "right").filter(|_| !tree.text(left).starts_with("__"))?;
    if tree.kind(value) == "lambda" {
        return tree.child(value, "body");
    }
    is_literal(tree, value).then_some(value)
}

fn is_literal(tree: &Tree<'_>, value: usize) -> bool {
    match tree.kind(value) {
        "integer" | "float" | "true" | "false" | "concatenated_string" => true,
        "string" => !tree.subtree(value).any(|inner| tree.kind(inner) == "interpolation"),
        "unary_operator"
        | "list"
        | "tuple"
        | "set"
        | "dictionary"
        | "pair"
        | "parenthesized_expression"
        | "binary_operator" => tree.parts(value).all(|part| is_literal(tree, part)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::instrumented_by;

    /// The instrumented file with short names, and the names of its functions.
    fn check(source: &str, expected: &str, functions: &[&str]) {
        let made = instrumented_by(instrument, &[("a.py", source)], "a.py");
        let Some((made, names)) = made else { return assert_eq!((functions.len(), expected), (0, source)) };
        let text = &made.files["a.py"].text;
        let name = &made.switches.helper;
        let start = "(__import__(\"sys\")";
        let end = format!("modules[\"{name}\"]).");
        let mut short = String::new();
        let mut rest = text.as_str();
        while let Some(at) = rest.find(start) {
            short += &rest[..at];
            short += "T.";
            rest = &rest[at + rest[at..].find(&end).unwrap() + end.len()..];
        }
        short += rest;
        let without_skip = short.split("\nT.skip(").next().unwrap_or_default();
        assert_eq!(without_skip, expected);
        assert_eq!(names, functions);
        assert!(Tree::parse(text).unwrap().parses());
    }

    #[test]
    fn every_value_that_a_function_returns_goes_through_the_helper() {
        check(
            "def f(a):\n    if a:\n        return\n    return a, 1 # no\n",
            "def f(a):\n    T.reached(0)\n    if a:\n        return\n    return T.answer(0, (a, 1)) # no\n",
            &["f"],
        );
        check(
            "class C:\n    @property\n    async def m(self):\n        return (\n            1\n        )\n",
            "class C:\n    @property\n    async def m(self):\n        T.reached(0); return T.answer(0, ((\n            1\n        )))\n",
            &["C.m"],
        );
    }

    #[test]
    fn a_generator_is_altered_where_it_yields() {
        check(
            "def g():\n    x = yield 1\n    yield from h()\n    yield\n    return 2\n",
            "def g():\n    T.reached(0); x = yield T.answer(0, (1))\n    yield from h()\n    yield\n    return 2\n",
            &["g"],
        );
    }

    #[test]
    fn an_inner_function_is_a_function_of_its_own() {
        check(
            "def f(a):\n    def g():\n        return a\n    return sorted(g, key=lambda x: x)\n",
            "def f(a):\n    T.reached(0)\n    def g():\n        T.reached(1); return T.answer(1, (a))\n    return T.answer(0, (sorted(g, key=lambda x: x)))\n",
            &["f", "f.g"],
        );
    }

    #[test]
    fn constants_are_altered_where_they_are_made() {
        check(
            "\"\"\"Text.\"\"\"\nfrom __future__ import annotations\nX: int = 3\nY = {'a': [1, -2]}\nf = lambda a: a\n__all__ = ['X']\nZ = X\n",
            "\"\"\"Text.\"\"\"\nfrom __future__ import annotations\nX: int = T.answer(0, (3))\n\
             Y = T.answer(1, ({'a': [1, -2]}))\nf = lambda a: T.answer(2, (a))\n__all__ = ['X']\nZ = X\n",
            &["X", "Y", "f"],
        );
    }

    #[test]
    fn a_function_without_a_value_is_watched_from_outside() {
        check(
            "def f(a):\n    \"\"\"Text.\"\"\"\n    a.append(1)\n",
            "def f(a):\n    \"\"\"Text.\"\"\"\n    T.reached(0); a.append(1)\n",
            &["f"],
        );
    }

    #[test]
    fn comparisons_and_constructors_are_left_alone() {
        let source = "class C:\n    def __eq__(self, other):\n        return True\n    def __init__(self):\n        self.a = 1\n";
        check(source, source, &[]);
        check(
            "class C:\n    def __radd__(self, other):\n        return C()\n    def __str__(self):\n        return ''\n",
            "class C:\n    def __radd__(self, other):\n        return T.operator(0, (C()))\n    def __str__(self):\n        T.reached(1); return T.answer(1, (''))\n",
            &["C.__radd__", "C.__str__"],
        );
    }
}
