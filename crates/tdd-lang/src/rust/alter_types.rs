//! Writes the impls by which instrumented Rust alters the structs and enums of a file, field by field.

use super::alter::attributes;
use super::syntax::Tree;

/// A struct or enum that can be altered.
pub(super) struct Type {
    /// Its name.
    pub name: String,
    /// Where its definition ends, in bytes.
    pub end: usize,
    /// The names in its definition.
    pub words: Vec<String>,
    /// The impls, with `T_HELPER` for the helper crate.
    pub text: String,
}

/// A struct, or a variant of an enum: its fields.
enum Fields {
    Unit,
    /// This many, without names.
    Ordered(usize),
    Named(Vec<String>),
}

/// The types that a file defines.
pub(super) fn types(source: &str) -> Vec<Type> {
    let Some(tree) = Tree::parse(source).filter(Tree::parses) else { return Vec::new() };
    (1..tree.len()).filter_map(|node| altered(&tree, node)).collect()
}

fn altered(tree: &Tree<'_>, node: usize) -> Option<Type> {
    let body = match tree.kind(node) {
        "struct_item" => struct_body(tree, node)?,
        "enum_item" => enum_body(tree, node)?,
        _ => return None,
    };
    // A packed field has no address; a condition would have to be repeated.
    if attributes(tree, node).any(|attribute| attribute.contains("packed") || attribute.contains("cfg")) {
        return None;
    }
    let name = tree.text(tree.child(node, "name")?);
    let (declared, used) = generics(tree, node);
    let bounds = tree.children(node).find(|child| tree.kind(*child) == "where_clause");
    let bounds = bounds.map_or("", |bounds| tree.text(bounds));
    let start = |of: &str| format!("impl{declared} ::T_HELPER::{of} for {name}{used} {bounds}").trim_end().to_owned();
    let alter = start("Alter");
    let mut text =
        format!(" {alter} {{ fn alter(&mut self, how: ::T_HELPER::How, depth: usize) -> bool {{ {} }} }}", body.alter);
    if let Some(make) = body.make {
        text += &format!(
            " {} {{ fn make() -> ::core::option::Option<Self> {{ ::core::option::Option::Some({make}) }} }}",
            start("Make")
        );
    }
    Some(Type {
        name: name.to_owned(),
        end: tree.range(node).end,
        words: tree.words(node).map(str::to_owned).collect(),
        text,
    })
}

/// What the impls of a type contain.
struct Body {
    alter: String,
    /// A value made out of nothing, if there is one.
    make: Option<String>,
}

fn struct_body(tree: &Tree<'_>, node: usize) -> Option<Body> {
    let fields = fields(tree, node)?;
    let (pattern, list) = pattern(&fields)?;
    Some(Body { alter: format!("let Self{pattern} = self; ::T_HELPER::fields(how, depth, &mut [{list}])"), make: None })
}

fn enum_body(tree: &Tree<'_>, node: usize) -> Option<Body> {
    let list = tree.child(node, "body")?;
    let variants = tree.children(list).filter(|child| tree.kind(*child) == "enum_variant");
    let mut units = Vec::new();
    let mut arms = String::new();
    for variant in variants {
        let name = tree.text(tree.child(variant, "name")?);
        let has_condition = attributes(tree, variant).any(|attribute| attribute.contains("cfg"));
        match fields(tree, variant)? {
            _ if has_condition => {}
            Fields::Unit => units.push(name),
            fields => {
                let (pattern, list) = pattern(&fields)?;
                arms += &format!("Self::{name}{pattern} => ::T_HELPER::fields(how, depth, &mut [{list}]), ");
            }
        }
    }
    let count = units.len();
    if count > 1 {
        for (at, name) in units.iter().enumerate() {
            arms += &format!("Self::{name} => {{ let at = ::T_HELPER::step({at}, {count}, how); *self = match at {{ ");
            for (other, unit) in units.iter().enumerate() {
                let place = if other + 1 == count { "_".to_owned() } else { other.to_string() };
                arms += &format!("{place} => Self::{unit}, ");
            }
            arms += &format!("}}; at != {at} }}, ");
        }
    }
    let make = units.first().map(|unit| format!("Self::{unit}"));
    Some(Body { alter: format!("match self {{ {arms}_ => false }}"), make })
}

/// The fields of a struct or variant; `None` if one of them has no size or a condition.
fn fields(tree: &Tree<'_>, node: usize) -> Option<Fields> {
    let Some(body) = tree.child(node, "body") else { return Some(Fields::Unit) };
    let has_no_size = |text: &str| {
        let text = text.trim();
        text == "str" || text.starts_with("dyn ") || (text.starts_with('[') && !text.contains(';'))
    };
    let mut types = tree.subtree(body).filter(|inner| tree.field(*inner) == Some("type"));
    if types.any(|inner| tree.parent(tree.parent(inner)) == body && has_no_size(tree.text(inner))) {
        return None;
    }
    if tree.kind(body) == "ordered_field_declaration_list" {
        let types: Vec<usize> = tree.children(body).filter(|child| tree.field(*child) == Some("type")).collect();
        let is_sized = !types.iter().any(|kind| has_no_size(tree.text(*kind)));
        return (is_sized && !tree.text(body).contains("cfg")).then_some(Fields::Ordered(types.len()));
    }
    let declared = tree.children(body).filter(|child| tree.kind(*child) == "field_declaration");
    let declared = declared.filter(|field| !attributes(tree, *field).any(|attribute| attribute.contains("cfg")));
    let names = declared.filter_map(|field| tree.child(field, "name")).map(|name| tree.text(name).to_owned());
    Some(Fields::Named(names.collect()))
}

/// A pattern that binds the fields, and the list of what it binds; `None` without fields.
fn pattern(fields: &Fields) -> Option<(String, String)> {
    match fields {
        Fields::Unit | Fields::Ordered(0) => None,
        Fields::Named(names) if names.is_empty() => None,
        Fields::Ordered(count) => {
            let names = (0..*count).map(|at| format!("f{at}")).collect::<Vec<_>>().join(", ");
            Some((format!("({names})"), names))
        }
        Fields::Named(names) => {
            let names = names.join(", ");
            Some((format!(" {{ {names}, .. }}"), names))
        }
    }
}

/// The parameters of a generic type, as an impl declares them and as the type uses them.
fn generics(tree: &Tree<'_>, node: usize) -> (String, String) {
    let Some(parameters) = tree.child(node, "type_parameters") else { return (String::new(), String::new()) };
    let (mut declared, mut used) = (Vec::new(), Vec::new());
    for parameter in tree.children(parameters) {
        if !matches!(tree.kind(parameter), "lifetime_parameter" | "type_parameter" | "const_parameter") {
            continue;
        }
        // The default of a parameter has no place in an impl.
        let end = ["default_type", "value"].iter().find_map(|field| tree.child(parameter, field));
        let range = tree.range(parameter);
        let end = end.map_or(range.end, |end| tree.range(end).start);
        let text = tree.source().get(range.start..end).unwrap_or_default().trim().trim_end_matches('=').trim();
        let name = tree.child(parameter, "name").map_or("", |name| tree.text(name));
        declared.push(text);
        used.push(name);
    }
    (format!("<{}>", declared.join(", ")), format!("<{}>", used.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The impl of the only type in a source.
    fn check(source: &str, expected: &str) {
        let text: Vec<String> = types(source).into_iter().map(|found| found.text.replace("T_HELPER", "t")).collect();
        assert_eq!(text.join("\n"), expected);
        assert!(Tree::parse(&text.join("\n")).unwrap().parses());
    }

    #[test]
    fn generics_are_repeated_without_their_defaults() {
        check(
            "pub struct P<'a, T: Clone = u8, const N: usize = 1> where T: Copy { pub a: &'a T, b: [T; N] }",
            " impl<'a, T: Clone, const N: usize> ::t::Alter for P<'a, T, N> where T: Copy { fn alter(&mut self, \
             how: ::t::How, depth: usize) -> bool { let Self { a, b, .. } = self; ::t::fields(how, depth, &mut [a, b]) } }",
        );
    }

    #[test]
    fn a_variant_without_fields_becomes_another_one() {
        check(
            "enum E { A, B, C(u8), D { x: u8 } }",
            " impl ::t::Alter for E { fn alter(&mut self, how: ::t::How, depth: usize) -> bool { match self { \
             Self::C(f0) => ::t::fields(how, depth, &mut [f0]), Self::D { x, .. } => ::t::fields(how, depth, &mut [x]), \
             Self::A => { let at = ::t::step(0, 2, how); *self = match at { 0 => Self::A, _ => Self::B, }; at != 0 }, \
             Self::B => { let at = ::t::step(1, 2, how); *self = match at { 0 => Self::A, _ => Self::B, }; at != 1 }, \
             _ => false } } } impl ::t::Make for E { fn make() -> ::core::option::Option<Self> { ::core::option::Option::Some(Self::A) } }",
        );
    }

    #[test]
    fn a_type_without_a_size_or_without_fields_is_left_alone() {
        check(
            "struct S { tail: [u8] }\nstruct U;\nstruct V {}\n#[repr(packed)]\nstruct W { a: u32 }\nstruct X(str);",
            "",
        );
    }
}
