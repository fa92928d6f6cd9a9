//! Instruments JavaScript and TypeScript: what a function returns or yields, and constants, go through a helper that
//! each file gets, on the same lines.

use super::syntax::Tree;
use crate::alter::{Insertions, Instrumented, NewCode, Plan, Request, Switches, is_asked};
use crate::language::has_ending;

/// Alters values at run time; the body of a function that is given `process`.
const HELPER: &str = include_str!("alter.js");

/// Methods that compare: a rigged comparison would be noticed if its own answer was altered.
const COMPARING: [&str; 7] = ["asymmetricMatch", "compareTo", "constructor", "equals", "isEqual", "toEqual", "valueOf"];

/// Instruments the functions and constants of this code.
pub(super) fn instrument(request: &Request<'_>) -> Option<Instrumented> {
    // There is no milder way.
    if request.is_mild {
        return None;
    }
    Plan::of(request, instrumented).finish(Vec::new())
}

fn instrumented(plan: &mut Plan<'_, '_>, code: &NewCode, source: &str) -> Option<Insertions> {
    let tree = Tree::parse(&code.path, source).filter(|tree| tree.parses())?;
    let mut insertions = Insertions::new();
    for node in 1..tree.len() {
        let is_item = |node: usize| is_item(&tree, node);
        if !is_item(node) || !is_asked(&tree, node, &code.lines, is_item) {
            continue;
        }
        let is_function = tree.is_function(node);
        let places = if is_function { answers(&tree, node) } else { constant(&tree, node).into_iter().collect() };
        if places.is_empty() && !(is_function && is_silent(&tree, node)) {
            continue;
        }
        let id = plan.id(&code.path, name(&tree, node), tree.line(node), !is_function);
        let is_typed = is_typed(&code.path);
        let nothing = if is_typed { "(undefined as any)" } else { "undefined" };
        let helper = &plan.switches.helper;
        let body = tree.child(node, "body").filter(|_| is_function);
        let block = body.filter(|body| tree.kind(*body) == "statement_block");
        if let Some(block) = block {
            insertions.push((tree.range(block).start + 1, format!(" if ({helper}({id})) return {nothing};")));
        }
        for place in places {
            let range = tree.range(place);
            if Some(place) == body {
                insertions.push((range.start, format!("{helper}({id}) ? {nothing} : ")));
            }
            insertions.push((range.start, format!("{helper}({id}, (")));
            insertions.push((range.end, "))".to_owned()));
        }
    }
    if !insertions.is_empty() {
        insertions.insert(0, (start(&tree)?, helper(&plan.switches, is_typed(&code.path))));
    }
    Some(insertions)
}

fn is_typed(path: &str) -> bool {
    has_ending(path, &["ts", "tsx", "mts", "cts"])
}

/// Where the first statement begins, after comments and directives that have to come first.
fn start(tree: &Tree<'_>) -> Option<usize> {
    let is_directive = |node: usize| {
        tree.kind(node) == "expression_statement" && tree.parts(node).all(|part| tree.kind(part) == "string")
    };
    let mut statements = tree.children(0).filter(|node| !matches!(tree.kind(*node), "comment" | "hash_bang_line"));
    statements.find(|node| !is_directive(*node)).map(|node| tree.range(node).start)
}

/// The helper on one line. It is a declaration, so that functions called before the file was run have it too.
fn helper(switches: &Switches, is_typed: bool) -> String {
    let name = &switches.helper;
    let body = serde_json::Value::from(switches.fill(HELPER)).to_string();
    if is_typed {
        format!(
            "function {name}(i: any, v?: any): any {{ const t: any = {name}; return (t.f || (t.f = new \
             Function(\"process\", {body})((globalThis as any).process)))(i, v, arguments.length); }} "
        )
    } else {
        format!(
            "function {name}(i, v) {{ const t = {name}; return (t.f || (t.f = new Function(\"process\", \
             {body})(globalThis.process)))(i, v, arguments.length); }} "
        )
    }
}

fn is_item(tree: &Tree<'_>, node: usize) -> bool {
    let in_function = || tree.ancestors(node).any(|outer| tree.is_function(outer));
    match tree.kind(node) {
        "class_declaration" | "class" => true,
        "variable_declarator" | "field_definition" | "public_field_definition" | "export_statement" => !in_function(),
        // A callback's value goes to what calls it, not to a test.
        "arrow_function" | "function_expression" | "generator_function" => {
            let is_bare = |outer: &usize| tree.kind(*outer) != "parenthesized_expression";
            let outer = tree.ancestors(node).find(is_bare);
            !in_function() || outer.is_some_and(|outer| tree.kind(outer) != "arguments")
        }
        _ => tree.is_function(node),
    }
}

/// The name of a function or constant, with that of the class around it.
fn name(tree: &Tree<'_>, node: usize) -> String {
    let named = |node: usize| ["name", "property", "key", "left"].iter().find_map(|field| tree.child(node, field));
    let is_holder = |outer: &usize| {
        matches!(
            tree.kind(*outer),
            "variable_declarator" | "pair" | "field_definition" | "assignment_expression" | "public_field_definition"
        )
    };
    let own = named(node).or_else(|| tree.ancestors(node).take(2).find(is_holder).and_then(named));
    let class = tree.ancestors(node).find(|outer| matches!(tree.kind(*outer), "class_declaration" | "class"));
    let class = class.and_then(|class| tree.child(class, "name"));
    let own = own.map_or("default", |name| tree.text(name));
    class.map_or_else(|| own.to_owned(), |class| format!("{}.{own}", tree.text(class)))
}

/// Whether a function is called for its effect only.
fn is_silent(tree: &Tree<'_>, function: usize) -> bool {
    let is_set = tree.children(function).any(|child| tree.kind(child) == "set");
    let is_generator =
        tree.kind(function).contains("generator") || tree.children(function).any(|child| tree.kind(child) == "*");
    let own_name = tree.child(function, "name").map_or("", |name| tree.text(name));
    !is_set && !is_generator && !COMPARING.contains(&own_name)
}

/// The values that a function returns; those that it yields, if it is a generator.
fn answers(tree: &Tree<'_>, function: usize) -> Vec<usize> {
    let is_set = tree.children(function).any(|child| tree.kind(child) == "set");
    let own_name = tree.child(function, "name").map_or("", |name| tree.text(name));
    let is_method = tree.kind(function) == "method_definition";
    let Some(body) = tree.child(function, "body") else { return Vec::new() };
    if is_set || (is_method && COMPARING.contains(&own_name)) {
        return Vec::new();
    }
    if tree.kind(body) != "statement_block" {
        return vec![body];
    }
    let is_own = |node: &usize| tree.ancestors(*node).find(|outer| tree.is_function(*outer)) == Some(function);
    let own = |kind: &'static str| tree.subtree(body).filter(move |node| tree.kind(*node) == kind).filter(is_own);
    let mut yields = own("yield_expression").peekable();
    if yields.peek().is_some() {
        let delegates = |node: &usize| tree.children(*node).any(|child| tree.kind(child) == "*");
        return yields.filter(|node| !delegates(node)).filter_map(|node| tree.parts(node).next()).collect();
    }
    own("return_statement").filter_map(|node| tree.parts(node).next()).collect()
}

/// The value of a constant, if it is a literal.
fn constant(tree: &Tree<'_>, node: usize) -> Option<usize> {
    let name = tree.child(node, "name").or_else(|| tree.child(node, "property"))?;
    let is_plain = matches!(tree.kind(name), "identifier" | "property_identifier");
    tree.child(node, "value").filter(|value| is_plain && is_literal(tree, *value))
}

fn is_literal(tree: &Tree<'_>, value: usize) -> bool {
    match tree.kind(value) {
        "number" | "string" | "true" | "false" => true,
        "template_string" => !tree.subtree(value).any(|inner| tree.kind(inner) == "template_substitution"),
        "unary_expression" | "array" | "parenthesized_expression" => {
            tree.parts(value).all(|part| is_literal(tree, part))
        }
        "object" => tree.parts(value).all(|part| {
            tree.kind(part) == "pair" && tree.child(part, "value").is_some_and(|value| is_literal(tree, value))
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::instrumented_by;

    /// Checks the instrumented file, with short names, and the names of its functions.
    fn check(path: &str, source: &str, expected: &str, functions: &[&str]) {
        let made = instrumented_by(instrument, &[(path, source)], path);
        let Some((made, names)) = made else { return assert_eq!((functions.len(), expected), (0, source)) };
        let text = &made.files[path].text;
        let own = helper(&made.switches, path.ends_with("ts"));
        assert!(!own.contains('\n') && Tree::parse(path, text).unwrap().parses(), "{text}");
        assert_eq!(text.replace(&own, "H ").replace(&made.switches.helper, "T"), expected);
        assert_eq!(names, functions);
    }

    #[test]
    fn every_value_that_a_function_returns_goes_through_the_helper() {
        check(
            "a.js",
            "#!/usr/bin/env node\n'use strict'\n// Adds.\nexport function f(a) {\n  if (a) return;\n  return a, 1\n}\n\
             const g = async (a) => ({ a });\nexport default (a) => a;\n",
            "#!/usr/bin/env node\n'use strict'\n// Adds.\nH export function f(a) { if (T(0)) return undefined;\n  if (a) return;\n  return T(0, (a, 1))\n}\n\
             const g = async (a) => T(1) ? undefined : T(1, (({ a })));\nexport default (a) => T(2) ? undefined : T(2, (a));\n",
            &["f", "g", "default"],
        );
    }

    #[test]
    fn methods_and_generators_answer_too_and_comparisons_do_not() {
        check(
            "a.ts",
            "export class C {\n  constructor() { return 1; }\n  get n(): number { return 1; }\n  set n(v) { return; }\n\
             equals(o: C) { return true; }\n  *all() { yield 1; yield* b; return 2; }\n}\n",
            "H export class C {\n  constructor() { return 1; }\n  get n(): number { if (T(0)) return (undefined as any); return T(0, (1)); }\n  set n(v) { return; }\n\
             equals(o: C) { return true; }\n  *all() { if (T(1)) return (undefined as any); yield T(1, (1)); yield* b; return 2; }\n}\n",
            &["C.n", "C.all"],
        );
    }

    #[test]
    fn a_callback_is_no_answer_and_a_returned_function_is_one() {
        check(
            "a.js",
            "const make = (n) => (m) => n + m;\nfunction f(a) { return a.map((x) => x * 2); }\n",
            "H const make = (n) => T(0) ? undefined : T(0, ((m) => T(1) ? undefined : T(1, (n + m))));\nfunction f(a) { if (T(2)) return undefined; return T(2, (a.map((x) => x * 2))); }\n",
            &["make", "make", "f"],
        );
    }

    #[test]
    fn constants_are_altered_where_they_are_made() {
        check(
            "a.js",
            "import x from 'x';\nexport const A = 1, B = { a: [-1, 'b'] }, C = A + 1;\nclass D { static n = 2; }\n",
            "H import x from 'x';\nexport const A = T(0, (1)), B = T(1, ({ a: [-1, 'b'] })), C = A + 1;\nclass D { static n = T(2, (2)); }\n",
            &["A", "B", "D.n"],
        );
    }
}
