//! Instruments Go: results get names, and a deferred call alters them; each package gets a helper file.

use std::collections::BTreeMap;

use super::syntax::Tree;
use crate::alter::{Insertions, Instrumented, NewCode, Plan, Request, is_asked};
use crate::language::join;

/// Alters values at run time; one for each package.
const HELPER: &str = include_str!("alter.go");

/// Methods that compare: a rigged comparison would be noticed if its own answer was altered.
const COMPARING: [&str; 8] = ["As", "Cmp", "Compare", "Equal", "Equals", "Is", "Less", "equal"];

/// Instruments the functions and variables of this code.
pub(super) fn instrument(request: &Request<'_>) -> Option<Instrumented> {
    // There is no milder way.
    if request.is_mild {
        return None;
    }
    let mut packages = BTreeMap::new();
    let mut plan = Plan::of(request, |plan, code, source| instrumented(plan, code, source, &mut packages));
    for (folder, package) in packages {
        let path = join(&folder, &format!("{}.go", plan.switches.helper));
        plan.add(&path, plan.switches.fill(HELPER).replace("T_PACKAGE", &package));
    }
    plan.finish(Vec::new())
}

fn instrumented(
    plan: &mut Plan<'_, '_>,
    code: &NewCode,
    source: &str,
    packages: &mut BTreeMap<String, String>,
) -> Option<Insertions> {
    let tree = Tree::parse(source).filter(|tree| tree.parses())?;
    let mut insertions = Insertions::new();
    for node in 1..tree.len() {
        let is_function = matches!(tree.kind(node), "function_declaration" | "method_declaration");
        let at_top = !tree.ancestors(node).any(|outer| tree.kind(outer) == "block");
        let is_item = is_function || tree.kind(node) == "var_spec";
        let is_outer = |outer: usize| matches!(tree.kind(outer), "var_declaration" | "const_declaration");
        if !is_item || !at_top || !is_asked(&tree, node, &code.lines, is_outer) {
            continue;
        }
        let id = plan.next_id();
        let made = if is_function { function(&tree, node, id, plan) } else { variable(&tree, node, id, plan) };
        if !made.is_empty() {
            plan.id(&code.path, name(&tree, node), tree.line(node), !is_function);
            insertions.extend(made);
        }
    }
    if !insertions.is_empty() {
        let folder = code.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        packages.insert(folder.to_owned(), tree.package().to_owned());
    }
    Some(insertions)
}

/// The name of a function or variable, with the type that a method belongs to.
fn name(tree: &Tree<'_>, node: usize) -> String {
    let own = tree.named(node, "name");
    let receiver = tree.child(node, "receiver").and_then(|receiver| {
        tree.subtree(receiver).find(|inner| tree.kind(*inner) == "type_identifier").map(|inner| tree.text(inner))
    });
    receiver.map_or_else(|| own.to_owned(), |receiver| format!("{receiver}.{own}"))
}

/// Names for the results that have none, and the deferred call.
fn function(tree: &Tree<'_>, node: usize, id: usize, plan: &Plan<'_, '_>) -> Insertions {
    let helper = &plan.switches.helper;
    let (own_name, is_method) = (tree.named(node, "name"), tree.kind(node) == "method_declaration");
    let is_excluded = if is_method { COMPARING.contains(&own_name) } else { matches!(own_name, "main" | "init") };
    let Some(body) = tree.child(node, "body").filter(|_| !is_excluded) else { return Insertions::new() };
    let skip = format!(" if skip{helper}(\"{id}\") {{ return }};");
    let Some(result) = tree.child(node, "result") else { return vec![(tree.range(body).start + 1, skip)] };
    let fresh = |at: usize| format!("r{at}{helper}");
    let mut insertions = Insertions::new();
    let mut names = Vec::new();
    if tree.kind(result) == "parameter_list" {
        for declaration in tree.children(result).filter(|node| tree.kind(*node) == "parameter_declaration") {
            let own: Vec<usize> =
                tree.children(declaration).filter(|inner| tree.field(*inner) == Some("name")).collect();
            if own.is_empty() {
                names.push(fresh(names.len()));
                insertions.push((tree.range(declaration).start, format!("{} ", fresh(names.len() - 1))));
            }
            for name in own {
                // A blank result has no address.
                if tree.text(name) != "_" {
                    names.push(tree.text(name).to_owned());
                }
            }
        }
    } else {
        names.push(fresh(0));
        insertions.push((tree.range(result).start, format!("({} ", fresh(0))));
        insertions.push((tree.range(result).end, ")".to_owned()));
    }
    if names.is_empty() {
        return Insertions::new();
    }
    let results = names.iter().map(|name| format!("&{name}")).collect::<Vec<_>>().join(", ");
    insertions.push((tree.range(body).start + 1, format!("{skip} defer {helper}(\"{id}\", {results});")));
    insertions
}

/// The values of a variable of the package. Constants cannot be altered while a program runs.
fn variable(tree: &Tree<'_>, node: usize, id: usize, plan: &Plan<'_, '_>) -> Insertions {
    let Some(values) = tree.child(node, "value") else { return Insertions::new() };
    let is_literal = |value: &usize| {
        matches!(
            tree.kind(*value),
            "int_literal" | "float_literal" | "interpreted_string_literal" | "raw_string_literal" | "composite_literal"
        )
    };
    let call = format!("constant{}(\"{id}\", ", plan.switches.helper);
    // An untyped number would get another type.
    let is_typed = tree.child(node, "type").is_some();
    let literals = tree.parts(values).filter(is_literal);
    let literals = literals.filter(|value| !is_typed || tree.kind(*value) == "composite_literal");
    let wrap = |value: usize| [(tree.range(value).start, call.clone()), (tree.range(value).end, ")".to_owned())];
    literals.flat_map(wrap).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::instrumented_by;

    /// Checks the instrumented file, with short names, and the names of its functions.
    fn check(source: &str, expected: &str, functions: &[&str]) {
        let made = instrumented_by(instrument, &[("p/a.go", source)], "p/a.go");
        let Some((made, names)) = made else { return assert_eq!((functions.len(), expected), (0, source)) };
        let text = &made.files["p/a.go"].text;
        let helper = &made.switches.helper;
        assert!(Tree::parse(text).unwrap().parses(), "{text}");
        assert!(made.files[&format!("p/{helper}.go")].text.contains("package a\n"));
        assert_eq!(text.replace(helper, "T"), expected);
        assert_eq!(names, functions);
    }

    #[test]
    fn results_get_names_and_a_deferred_call_alters_them() {
        check(
            "package a\n\nfunc F(a int) int { return a }\n\nfunc (t *T) G() (int, error) {\n\treturn 1, nil\n}\n\n\
             func H[V any](v V) (a, _ V, err error) { return }\n\nfunc N() {}\n",
            "package a\n\nfunc F(a int) (r0T int) { if skipT(\"0\") { return }; defer T(\"0\", &r0T); return a }\n\n\
             func (t *T) G() (r0T int, r1T error) { if skipT(\"1\") { return }; defer T(\"1\", &r0T, &r1T);\n\treturn 1, nil\n}\n\n\
             func H[V any](v V) (a, _ V, err error) { if skipT(\"2\") { return }; defer T(\"2\", &a, &err); return }\n\n\
             func N() { if skipT(\"3\") { return };}\n",
            &["F", "T.G", "H", "N"],
        );
    }

    #[test]
    fn comparisons_are_left_alone_and_variables_are_altered_where_they_are_made() {
        let source = "package a\n\nfunc (t T) Equal(o T) bool { return true }\n\nconst C = 1\n";
        check(source, source, &[]);
        check(
            "package a\n\nvar X, Y = 1, f()\n\nvar (\n\tZ = []int{1}\n)\n",
            "package a\n\nvar X, Y = constantT(\"0\", 1), f()\n\nvar (\n\tZ = constantT(\"1\", []int{1})\n)\n",
            &["X", "Z"],
        );
    }
}
