//! Splits a `use` declaration into the names it imports.

/// The paths in these tokens, which follow `use`: `a::{b, c as d}` gives `a::b` and `a::c as d`.
pub(in crate::rust) fn leaves<'t>(tokens: impl IntoIterator<Item = &'t str>) -> Vec<String> {
    let mut found = Vec::new();
    let mut outer: Vec<String> = Vec::new();
    let mut path = String::new();
    for token in tokens {
        match token {
            "{" => outer.push(std::mem::take(&mut path)),
            "," | "}" | ";" => {
                found.extend(whole(&outer, &path));
                path.clear();
                if token == "}" {
                    outer.pop();
                }
            }
            "as" => path.push_str(" as "),
            token => path.push_str(token),
        }
    }
    found
}

fn whole(outer: &[String], path: &str) -> Option<String> {
    if path.is_empty() {
        return None;
    }
    let whole = format!("{}{path}", outer.concat());
    Some(match whole.split_once("::self") {
        Some((before, after)) if after.is_empty() || after.starts_with(' ') => format!("{before}{after}"),
        _ => whole,
    })
}

/// The local name of an imported path; `*` for a glob.
pub(in crate::rust) fn name(leaf: &str) -> &str {
    match leaf.split_once(" as ") {
        Some((_, name)) => name,
        None => leaf.rsplit("::").next().unwrap_or(leaf),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rust::syntax::Tree;

    fn check(source: &str, expected: &[&str]) {
        let tree = Tree::parse(source).unwrap();
        let tokens = tree.tokens(0..tree.len()).map(|node| tree.text(node));
        assert_eq!(leaves(tokens.skip(1)), expected, "{source}");
    }

    #[test]
    fn every_name_of_a_declaration_stands_for_itself() {
        check("use a;", &["a"]);
        check("use a::b::C;", &["a::b::C"]);
        check("use super::*;", &["super::*"]);
        check("use a::{b, c::{D, self}, e as f,};", &["a::b", "a::c::D", "a::c", "a::e as f"]);
        check("use {a, b::*};", &["a", "b::*"]);
        check("use ::a::{self as b};", &["::a as b"]);
    }

    #[test]
    fn a_name_is_the_last_part_or_the_one_given() {
        assert_eq!([name("a::b"), name("a"), name("a::*"), name("a::b as c")], ["b", "a", "*", "c"]);
    }
}
