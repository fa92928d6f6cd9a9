//! Mutates new production code: other return values, other constants.

use std::ops::Range;

use super::items::items;
use super::syntax::Tree;
use super::value::changed;
use crate::syntax::splice;
use crate::twin::{AlterationMode, Mutant};

/// Keeps a mutated body from failing by a lint.
const LENIENT: &str = "#![allow(warnings, unconditional_recursion)]";

/// One way to mutate everything that can be mutated.
#[derive(Clone, Copy)]
enum Way {
    /// The simplest value of each return type.
    Plain,
    /// Another value of each return type.
    Other,
    /// The default of each return type that has no simple value.
    Default,
    /// A panic instead of a result, for the same types.
    Refuse,
}

/// The mutations of the items on these lines, in the order to try them.
///
/// A function counts if it, or the `impl` or `trait` around it, begins on one of the lines. Test code is never mutated.
pub(super) fn value_mutants(path: &str, source: &str, lines: &[Range<usize>]) -> Vec<Mutant> {
    let Some(tree) = Tree::parse(source).filter(Tree::parses) else { return Vec::new() };
    let for_tests = items(path, source).test_ranges;
    let new = new_items(&tree, &for_tests, lines);
    let ways = [Way::Plain, Way::Other, Way::Default, Way::Refuse];
    let made = ways.into_iter().filter_map(|way| mutant(&tree, source, &new, way));
    made.filter(|mutant| mutant.source != source).collect()
}

fn new_items(tree: &Tree<'_>, for_tests: &[Range<usize>], lines: &[Range<usize>]) -> Vec<usize> {
    let begins = |node: usize| lines.iter().any(|range| range.contains(&tree.line(node)));
    let tested = |node: usize| for_tests.iter().any(|range| range.contains(&tree.range(node).start));
    let mut inside = 0..0;
    let mut found = Vec::new();
    for node in 0..tree.len() {
        let kind = tree.kind(node);
        if matches!(kind, "impl_item" | "trait_item") && begins(node) {
            inside = node..tree.subtree_end(node);
        }
        let wanted = matches!(kind, "function_item" | "const_item" | "static_item");
        if wanted && (begins(node) || inside.contains(&node)) && !tested(node) {
            found.push(node);
        }
    }
    found
}

fn mutant(tree: &Tree<'_>, source: &str, new: &[usize], way: Way) -> Option<Mutant> {
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    let mut said = Vec::new();
    for node in new {
        let Some((range, text, what)) = edit(tree, *node, way) else { continue };
        if edits.iter().all(|(known, _)| known.end <= range.start || range.end <= known.start) {
            edits.push((range, text));
            said.push(what);
        }
    }
    (!edits.is_empty()).then(|| Mutant { source: splice(source, edits), what: said.join(", ") })
}

fn edit(tree: &Tree<'_>, node: usize, way: Way) -> Option<(Range<usize>, String, String)> {
    let name = tree.text(tree.child(node, "name")?);
    if tree.kind(node) != "function_item" {
        let value = tree.child(node, "value").filter(|_| matches!(way, Way::Plain | Way::Other))?;
        let other = changed(tree.text(value), AlterationMode::ChangeValues)?;
        return Some((tree.range(value), other.clone(), format!("`{name}` is `{other}`")));
    }
    let body = tree.child(node, "body")?;
    let returns = tree.child(node, "return_type").map_or("()", |returns| tree.text(returns));
    if let Some(opaque) = returns.trim().strip_prefix("impl ") {
        let (answer, what) = opaque_answer(opaque, tree.text(body), way)?;
        return Some((tree.range(body), format!("{{ {LENIENT} {answer} }}"), format!("`{name}` {what}")));
    }
    let answer = match (way, plain_values(returns)) {
        (Way::Plain, Some((plain, _))) => plain,
        (Way::Other, Some((_, other))) => other,
        (Way::Default, None) => "::core::default::Default::default()".to_owned(),
        (Way::Refuse, None) => "::core::panic!()".to_owned(),
        (Way::Plain | Way::Other, None) | (Way::Default | Way::Refuse, Some(_)) => return None,
    };
    let text = format!("{{ {LENIENT} {answer} }}");
    Some((tree.range(body), text, format!("`{name}` returns `{answer}`")))
}

/// Another value of an `impl` type, made from the body that makes the right one, and what it is.
fn opaque_answer(opaque: &str, body: &str, way: Way) -> Option<(String, String)> {
    let items = |method: &str, count: u8| format!("::core::iter::Iterator::{method}({body}, {count})");
    let is_iterator = opaque.split(['<', '+']).next().is_some_and(|name| name.trim().ends_with("Iterator"));
    let values = closure(opaque).and_then(|(parameters, returns)| {
        let (plain, other) = plain_values(&returns)?;
        let answer = |value: &str| {
            let what = format!("returns a closure that returns `{value}`");
            (format!("move |{parameters}| -> {returns} {{ {value} }}"), what)
        };
        Some((answer(&plain), answer(&other)))
    });
    match (way, values) {
        (Way::Plain, _) if is_iterator => Some((items("take", 0), "returns no items".to_owned())),
        (Way::Other, _) if is_iterator => Some((items("skip", 1), "leaves out its first item".to_owned())),
        (Way::Plain, Some((plain, _))) => Some(plain),
        (Way::Other, Some((_, other))) => Some(other),
        // The body that follows is never run; it says which type the function returns.
        (Way::Refuse, None) if !is_iterator => {
            Some((format!("if true {{ ::core::panic!() }} {body}"), "returns `::core::panic!()`".to_owned()))
        }
        (Way::Plain | Way::Other, None) | (Way::Default | Way::Refuse, _) => None,
    }
}

/// The parameters and the return type of `Fn(A, B) -> C`.
fn closure(opaque: &str) -> Option<(String, String)> {
    let rest = ["Fn(", "FnMut(", "FnOnce("].into_iter().find_map(|start| opaque.strip_prefix(start))?;
    let mut depth = 1_i32;
    let end = rest.find(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0
    })?;
    let mut left = rest.get(..end)?;
    let mut parameters = Vec::new();
    while !left.trim().is_empty() {
        let first = first_type(left);
        parameters.push(format!("_: {first}"));
        let at = left.find(first)? + first.len();
        left = left.get(at..)?.trim_start().strip_prefix(',').unwrap_or_default();
    }
    let returns = rest.get(end + 1..)?.trim().strip_prefix("->")?;
    Some((parameters.join(", "), returns.split('+').next()?.trim().to_owned()))
}

/// Two values of a well-known type.
fn plain_values(returns: &str) -> Option<(String, String)> {
    let returns = returns.trim();
    let (outer, inner) = match returns.split_once('<') {
        Some((outer, rest)) => (outer.trim(), rest.trim().strip_suffix('>').unwrap_or_default()),
        None => (returns, ""),
    };
    let outer = outer.rsplit("::").next().unwrap_or_default();
    let (plain, other) = match outer {
        "()" => ("()", "()"),
        "bool" => ("false", "true"),
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => ("0", "1"),
        "f32" | "f64" => ("0.0", "1.0"),
        "char" => ("'x'", "'y'"),
        "String" => ("::std::string::String::new()", "::std::string::String::from(\"xyzzy\")"),
        "Vec" | "HashMap" | "HashSet" | "BTreeMap" | "BTreeSet" | "VecDeque" => {
            return Some(of_collection(outer, inner));
        }
        "Option" => {
            let some = plain_values(inner).map_or("None".to_owned(), |(_, other)| format!("Some({other})"));
            return Some(("None".to_owned(), some));
        }
        "Result" => {
            let (plain, other) = plain_values(first_type(inner))?;
            return Some((format!("Ok({plain})"), format!("Ok({other})")));
        }
        _ if is_text(returns) => ("\"\"", "\"xyzzy\""),
        _ => return None,
    };
    Some((plain.to_owned(), other.to_owned()))
}

fn of_collection(outer: &str, inner: &str) -> (String, String) {
    let empty = "::core::default::Default::default()".to_owned();
    let one = plain_values(inner).filter(|_| outer == "Vec");
    let one = one.map_or_else(|| empty.clone(), |(_, other)| format!("::std::vec![{other}]"));
    (empty, one)
}

/// Whether the type is `&str` or `&'a str`.
fn is_text(returns: &str) -> bool {
    returns.strip_prefix('&').and_then(|rest| rest.split_whitespace().next_back()) == Some("str")
}

/// The text before the first comma outside brackets.
fn first_type(list: &str) -> &str {
    let mut depth = 0_i32;
    let end = list.find(|c| {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    });
    list.get(..end.unwrap_or(list.len())).unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(source: &str, lines: &[Range<usize>]) -> Vec<String> {
        value_mutants("src/lib.rs", source, lines).into_iter().map(|mutant| mutant.what).collect()
    }

    fn answers(returns: &str) -> Vec<String> {
        let source = format!("fn f() -> {returns} {{ g() }}");
        let short = |what: String| what.replace("`f` returns ", "").replace("::core::default::Default::", "");
        said(&source, std::slice::from_ref(&(1..2))).into_iter().map(short).collect()
    }

    #[test]
    fn every_return_type_has_other_answers() {
        for (returns, expected) in [
            ("bool", ["`false`", "`true`"]),
            ("u8", ["`0`", "`1`"]),
            ("&'static str", ["`\"\"`", "`\"xyzzy\"`"]),
            ("Vec<char>", ["`default()`", "`::std::vec!['y']`"]),
            ("Option<i32>", ["`None`", "`Some(1)`"]),
            ("Result<u8, Box<dyn Error>>", ["`Ok(0)`", "`Ok(1)`"]),
            ("Result<(), E>", ["`Ok(())`", "`Ok(())`"]),
            ("Money", ["`default()`", "`::core::panic!()`"]),
            ("Self", ["`default()`", "`::core::panic!()`"]),
        ] {
            assert_eq!(answers(returns), expected, "{returns}");
        }
    }

    #[test]
    fn a_type_without_a_name_has_answers_made_from_the_right_one() {
        for (returns, expected) in [
            ("impl Iterator<Item = (T, T)> + '_", ["no items", "`f` leaves out its first item"]),
            ("impl DoubleEndedIterator<Item = u8>", ["no items", "`f` leaves out its first item"]),
            ("impl Fn(i32, &str) -> i32 + 'static", ["a closure that returns `0`", "a closure that returns `1`"]),
        ] {
            assert_eq!(answers(returns), expected, "{returns}");
        }
        assert_eq!(answers("impl Fn(A) -> C"), ["`::core::panic!()`"]);
        assert_eq!(answers("impl Display"), ["`::core::panic!()`"]);
        let source = "fn f(n: i32) -> impl Fn((i32, i32), &str) -> i32 { move |(a, _), _| a + n }\n\
                      fn g() -> impl Display { 1 }\nfn h() -> u8 { 1 }\n";
        let mutants = value_mutants("src/lib.rs", source, std::slice::from_ref(&(1..4)));
        let texts: Vec<&str> = mutants.iter().map(|mutant| mutant.source.as_str()).collect();
        assert!(texts[0].contains("move |_: (i32, i32), _: &str| -> i32 { 0 }"), "{}", texts[0]);
        assert!(texts[0].contains("fn g() -> impl Display { 1 }"), "{}", texts[0]);
        assert!(texts[2].contains("if true { ::core::panic!() } { 1 }"), "{}", texts[2]);
        assert!(texts.iter().all(|text| items("src/lib.rs", text).parses), "{texts:?}");
    }

    #[test]
    fn all_new_functions_change_at_once_and_no_others() {
        let source = "fn old() -> u8 { 1 }\nimpl A {\n    fn a(&self) -> u8 { 1 }\n    fn b(&self) -> bool { true }\n}\n\
                      const LIMIT: u8 = 7;\n#[cfg(test)]\nmod tests { fn helper() -> u8 { 1 } }\n";
        let said = said(source, &[2..3, 6..9]);
        assert_eq!(said[0], "`a` returns `0`, `b` returns `false`, `LIMIT` is `8`");
        assert_eq!(said.len(), 2);
    }

    #[test]
    fn a_mutant_parses_and_keeps_the_rest_of_the_file() {
        let source = "fn old() {}\npub fn f(n: u8) -> u8 {\n    fn inner() -> u8 { 2 }\n    n + inner()\n}\n";
        let mutants = value_mutants("src/lib.rs", source, std::slice::from_ref(&(2..3)));
        assert!(mutants.iter().all(|mutant| items("src/lib.rs", &mutant.source).parses));
        assert!(mutants[0].source.starts_with("fn old() {}\npub fn f(n: u8) -> u8 { #![allow("));
    }

    #[test]
    fn where_nothing_is_new_there_is_no_mutant() {
        assert_eq!(said("fn f() -> u8 { 1 }", &[]), Vec::<String>::new());
        assert_eq!(said("struct A;", std::slice::from_ref(&(1..2))), Vec::<String>::new());
    }
}
