//! Instruments Rust: bodies become closures whose value goes through a helper crate, and types get an impl that alters
//! them field by field. A wrapper around the compiler makes the crate known and allows specialization.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::alter_types::{Type, types};
use super::items::{in_test_folder, items};
use super::manifest::edition;
use super::owns;
use super::syntax::Tree;
use crate::alter::{Insertions, Instrumented, NewCode, Plan, Request, is_asked};
use crate::language::join;

/// The helper crate: alters values at run time.
const HELPER: &str = include_str!("alter_helper.rs");

/// The wrapper around the compiler. Its path never changes, because cargo keeps the products of each wrapper apart.
const WRAPPER: &str = include_str!("alter_rustc.sh");
const WRAPPER_PATH: &str = ".tdd-rustc";

/// Traits whose methods compare or belong to the machinery: a rigged comparison would be noticed if its own answer was
/// altered.
const COMPARING: [&str; 8] = ["PartialEq", "Eq", "PartialOrd", "Ord", "Hash", "Hasher", "Display", "Debug"];

/// Arithmetic operators.
const ARITHMETIC: [&str; 12] =
    ["Add", "Sub", "Mul", "Div", "Rem", "Neg", "Not", "BitAnd", "BitOr", "BitXor", "Shl", "Shr"];

/// Attributes of functions whose body cannot become a closure.
const EXCLUDING: [&str; 5] = ["track_caller", "target_feature", "naked", "proc_macro", "no_mangle"];

/// How a body is altered.
enum Shape {
    /// Left out: the function has no value, only an effect.
    Silent,
    /// In a closure with this return type.
    Typed(String),
    /// In a closure whose return type the compiler finds out.
    Untyped,
    /// In an iterator that alters the items.
    Items,
    /// In an `async` block with this result.
    Async(String),
}

/// Instruments the functions of this code.
pub(super) fn instrument(request: &Request<'_>) -> Option<Instrumented> {
    let mut plan = Plan::new(request);
    let mut made: BTreeMap<String, Insertions> = BTreeMap::new();
    let mut wanted = BTreeSet::new();
    for code in request.code {
        // Edition 2015 would need `extern crate`.
        let is_old = edition(&code.path, request.sources) == "2015";
        let Some(source) = request.sources.read(&code.path).filter(|_| !is_old) else { continue };
        let insertions = functions(&mut plan, code, &source, &mut wanted);
        made.insert(code.path.clone(), insertions.unwrap_or_default());
    }
    if !request.is_mild {
        for (path, insertions) in impls(&plan, wanted) {
            made.entry(path).or_default().extend(insertions);
        }
    }
    for (path, insertions) in made {
        if let Some(source) = request.sources.read(&path) {
            plan.insert(&path, &source, insertions);
        }
    }
    let name = plan.switches.helper.clone();
    plan.add(&format!("{name}.rs"), plan.switches.fill(HELPER));
    let source = join(request.root, &format!("{name}.rs"));
    let wrapper = plan.switches.fill(WRAPPER).replace("T_SOURCE", &source.replace('\'', "'\\''"));
    plan.add_program(WRAPPER_PATH, wrapper);
    plan.finish(vec![("RUSTC_WORKSPACE_WRAPPER".to_owned(), join(request.root, WRAPPER_PATH))])
}

fn functions(
    plan: &mut Plan<'_, '_>,
    code: &NewCode,
    source: &str,
    wanted: &mut BTreeSet<String>,
) -> Option<Insertions> {
    let tree = Tree::parse(source).filter(Tree::parses)?;
    let for_tests = items(&code.path, source).test_ranges;
    let helper = plan.switches.helper.clone();
    let mut insertions = Insertions::new();
    for node in 1..tree.len() {
        let is_outer = |outer: usize| matches!(tree.kind(outer), "impl_item" | "trait_item");
        let is_tested = for_tests.iter().any(|range| range.contains(&tree.range(node).start));
        if tree.kind(node) != "function_item" || is_tested || !is_asked(&tree, node, &code.lines, is_outer) {
            continue;
        }
        let of_trait = implemented(&tree, node);
        let Some((shape, body)) = shape(&tree, node).filter(|_| !COMPARING.contains(&of_trait)) else { continue };
        wanted.extend(types_named(&tree, node));
        let id = plan.id(&code.path, name(&tree, node), tree.line(node), /* is_constant */ false);
        let call = if ARITHMETIC.contains(&of_trait) { "operator" } else { "answer" };
        let (before, after) = match shape {
            Shape::Silent => {
                insertions.push((tree.range(body).start + 1, format!(" if ::{helper}::skip({id}) {{ return; }} ")));
                continue;
            }
            Shape::Typed(returns) => (format!("::{helper}::{call}({id}, move || -> {returns} "), ")"),
            Shape::Untyped => (format!("::{helper}::{call}({id}, move || "), ")"),
            Shape::Items => (format!("::{helper}::items({id}, move || "), ")"),
            Shape::Async(returns) => (format!("::{helper}::value::<{returns}>({id}, async move "), ".await)"),
        };
        insertions.push((tree.range(body).start, format!("{{ {before}")));
        insertions.push((tree.range(body).end, format!("{after} }}")));
    }
    Some(insertions)
}

/// How a function's body can be altered, and the body; `None` if it cannot.
fn shape(tree: &Tree<'_>, node: usize) -> Option<(Shape, usize)> {
    let body = tree.child(node, "body")?;
    let returns = tree.child(node, "return_type").map_or("()", |returns| tree.text(returns).trim());
    let modifiers = tree.children(node).find(|child| tree.kind(*child) == "function_modifiers");
    let modifiers: Vec<&str> = modifiers.map_or("", |words| tree.text(words)).split_whitespace().collect();
    let has_inner_attribute = tree.children(body).any(|child| tree.kind(child) == "inner_attribute_item");
    let is_excluded = attributes(tree, node).any(|attribute| EXCLUDING.iter().any(|word| attribute.contains(word)));
    let is_program = tree.child(node, "name").is_some_and(|name| tree.text(name) == "main");
    if returns == "!" || is_program || modifiers.contains(&"const") || has_inner_attribute || is_excluded {
        return None;
    }
    if returns == "()" {
        return Some((Shape::Silent, body));
    }
    let is_opaque = returns.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "impl");
    let first = returns.strip_prefix("impl ").and_then(|opaque| opaque.split(['<', '+']).next());
    let is_iterator = first.is_some_and(|name| name.trim().ends_with("Iterator"));
    let shape = match (modifiers.contains(&"async"), is_opaque) {
        (true, true) => return None,
        (true, false) => Shape::Async(returns.to_owned()),
        (false, true) if is_iterator => Shape::Items,
        // An unnamed type has no known way to alter it, but may hold one that does.
        (false, true) if first.is_some() => return None,
        (false, true) => Shape::Untyped,
        (false, false) => Shape::Typed(returns.to_owned()),
    };
    Some((shape, body))
}

/// The attributes before an item.
pub(super) fn attributes<'a>(tree: &'a Tree<'_>, node: usize) -> impl Iterator<Item = &'a str> {
    let siblings: Vec<usize> = tree.children(tree.parent(node)).take_while(|child| *child < node).collect();
    let is_attribute = |child: &usize| tree.kind(*child) == "attribute_item" || tree.is_comment(*child);
    let near = siblings.into_iter().rev().take_while(is_attribute);
    near.filter(|child| tree.kind(*child) == "attribute_item").map(|child| tree.text(child))
}

fn around(tree: &Tree<'_>, node: usize) -> Option<usize> {
    tree.ancestors(node).find(|outer| matches!(tree.kind(*outer), "impl_item" | "trait_item" | "function_item"))
}

/// The trait that a method implements; empty if there is none.
fn implemented<'a>(tree: &Tree<'a>, node: usize) -> &'a str {
    let outer = around(tree, node).and_then(|outer| tree.child(outer, "trait"));
    let name = outer.map_or("", |outer| tree.text(outer));
    name.split('<').next().unwrap_or_default().rsplit("::").next().unwrap_or_default()
}

/// The name of a function, with the type or trait around it.
fn name(tree: &Tree<'_>, node: usize) -> String {
    let named = |node: usize, field: &str| tree.child(node, field).map(|name| tree.text(name));
    let own = named(node, "name").unwrap_or_default();
    let outer = around(tree, node).and_then(|outer| named(outer, "type").or_else(|| named(outer, "name")));
    outer.map_or_else(|| own.to_owned(), |outer| format!("{outer}::{own}"))
}

/// The names in a function's return type, and that of the type around it.
fn types_named(tree: &Tree<'_>, node: usize) -> Vec<String> {
    let outer = around(tree, node).and_then(|outer| tree.child(outer, "type"));
    let places = tree.child(node, "return_type").into_iter().chain(outer);
    places.flat_map(|place| tree.words(place)).map(str::to_owned).collect()
}

/// The impls of the wanted types and of all types in their fields, as insertions by file.
fn impls(plan: &Plan<'_, '_>, wanted: BTreeSet<String>) -> BTreeMap<String, Insertions> {
    let sources = plan.request.sources;
    let mut known: Vec<(String, Type)> = Vec::new();
    for path in sources.files().iter().filter(|path| owns(path) && !in_test_folder(path)) {
        let is_here = plan.request.project.relative_path(path).is_some();
        let is_old = edition(path, sources) == "2015";
        let Some(source) = sources.read(path).filter(|_| is_here && !is_old) else { continue };
        let for_tests: Vec<Range<usize>> = items(path, &source).test_ranges;
        let found =
            types(&source).into_iter().filter(|found| !for_tests.iter().any(|range| range.contains(&found.end)));
        known.extend(found.map(|found| (path.clone(), found)));
    }
    let mut waiting: Vec<String> = wanted.into_iter().collect();
    let mut done = BTreeSet::new();
    let mut insertions: BTreeMap<String, Insertions> = BTreeMap::new();
    while let Some(name) = waiting.pop() {
        if !done.insert(name.clone()) {
            continue;
        }
        for (path, found) in known.iter().filter(|(_, found)| found.name == name) {
            waiting.extend(found.words.iter().cloned());
            let text = found.text.replace("T_HELPER", &plan.switches.helper);
            insertions.entry(path.clone()).or_default().push((found.end, text));
        }
    }
    insertions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::instrumented_by;

    const MANIFEST: &str = "[package]\nname = \"a\"\nedition = \"2024\"\n";

    /// Checks the instrumented file, with short names, and the names of its functions.
    fn check(source: &str, expected: &str, functions: &[&str]) {
        let made = instrumented_by(instrument, &[("Cargo.toml", MANIFEST), ("src/lib.rs", source)], "src/lib.rs");
        let Some((made, names)) = made else { return assert_eq!((functions.len(), expected), (0, source)) };
        let text = &made.files["src/lib.rs"].text;
        assert!(Tree::parse(text).unwrap().parses(), "{text}");
        assert_eq!(text.replace(&made.switches.helper, "t"), expected);
        assert_eq!(names, functions);
        assert!(made.files[WRAPPER_PATH].is_executable);
    }

    #[test]
    fn a_body_becomes_a_closure_whose_value_goes_through_the_helper() {
        check(
            "pub fn add(a: u8) -> u8 { a + 1 }\nfn no() {}\nimpl A {\n    fn m(&mut self) -> Option<&str> {\n        \
             Some(self.x()?)\n    }\n}\n",
            "pub fn add(a: u8) -> u8 { ::t::answer(0, move || -> u8 { a + 1 }) }\nfn no() { if ::t::skip(1) { return; } }\nimpl A {\n    \
             fn m(&mut self) -> Option<&str> { ::t::answer(2, move || -> Option<&str> {\n        Some(self.x()?)\n    }) }\n}\n",
            &["add", "no", "A::m"],
        );
    }

    #[test]
    fn async_functions_iterators_and_operators_have_their_own_form() {
        check(
            "async fn f() -> u8 { g().await }\nfn i() -> impl Iterator<Item = u8> + 'static { 0..3 }\n\
             impl Add for M { fn add(self, o: M) -> M { o } }\n",
            "async fn f() -> u8 { ::t::value::<u8>(0, async move { g().await }.await) }\n\
             fn i() -> impl Iterator<Item = u8> + 'static { ::t::items(1, move || { 0..3 }) }\n\
             impl Add for M { fn add(self, o: M) -> M { ::t::operator(2, move || -> M { o }) } }\n",
            &["f", "i", "M::add"],
        );
    }

    #[test]
    fn comparisons_constants_and_tests_are_left_alone() {
        let source = "const fn c() -> u8 { 1 }\nfn never() -> ! { loop {} }\nfn f() -> impl Fn() -> u8 { || 1 }\n\
                      impl PartialEq for A { fn eq(&self, o: &A) -> bool { true } }\n\
                      #[cfg(test)]\nmod tests { fn helper() -> u8 { 1 } }\n#[track_caller]\nfn t() -> u8 { 1 }\n";
        check(source, source, &[]);
    }

    #[test]
    fn a_returned_type_can_be_altered_field_by_field() {
        check(
            "struct P { x: Q }\nstruct Q(u8);\nstruct R;\nfn p() -> P { P { x: Q(1) } }\n",
            "struct P { x: Q } impl ::t::Alter for P { fn alter(&mut self, how: ::t::How, depth: usize) -> bool { \
             let Self { x, .. } = self; ::t::fields(how, depth, &mut [x]) } }\n\
             struct Q(u8); impl ::t::Alter for Q { fn alter(&mut self, how: ::t::How, depth: usize) -> bool { \
             let Self(f0) = self; ::t::fields(how, depth, &mut [f0]) } }\nstruct R;\n\
             fn p() -> P { ::t::answer(0, move || -> P { P { x: Q(1) } }) }\n",
            &["p"],
        );
    }
}
