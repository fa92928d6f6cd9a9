//! Changes the literal values in an expression to others of the same type.

use std::ops::Range;

use super::syntax::Tree;
use crate::analysis::claims::claim;
use crate::syntax::splice;
use crate::twin::{AlterationMode, denied};

/// Code around an expression, so that it can be parsed.
const BEFORE: &str = "fn f(){g(";
const AFTER: &str = ")}";

/// Calls that only wrap their argument.
const WRAPPING_TYPES: [&str; 16] = [
    "String", "Vec", "Box", "Rc", "Arc", "Cell", "RefCell", "VecDeque", "HashMap", "HashSet", "BTreeMap", "BTreeSet",
    "Cow", "PathBuf", "OsString", "Duration",
];
const WRAPPING_METHODS: [&str; 9] =
    ["to_string", "to_owned", "into", "to_vec", "as_bytes", "as_str", "clone", "collect", "into_iter"];

/// Limit for nesting; nobody writes deeper values.
const MAX_NESTING: usize = 40;

/// The arguments of a call or a call-like macro; `None` if they do not parse.
pub(super) fn arguments(text: &str) -> Option<Vec<Range<usize>>> {
    let source = wrap(text);
    let tree = Tree::parse(&source).filter(Tree::parses)?;
    let call = (0..tree.len()).find(|node| tree.kind(*node) == "arguments")?;
    let own = |node: &usize| !matches!(tree.kind(*node), "(" | ")" | ",") && !tree.is_comment(*node);
    Some(tree.children(call).filter(own).map(|node| unwrap(&tree.range(node))).collect())
}

/// The expression with every value changed; `None` if it contains no literal, or is computed.
///
/// Changes only literals, and literals inside tuples, arrays, structs, variants and wrapping calls. An argument of any
/// other call is an input, and may not affect the result.
pub(super) fn changed(expression: &str, mode: AlterationMode) -> Option<String> {
    let source = wrap(expression);
    let edits = edits(&source, mode, MAX_NESTING)?;
    let unwrapped = edits.into_iter().map(|(range, text)| (unwrap(&range), text)).collect();
    Some(splice(expression, unwrapped))
}

/// A condition about a text or a close number with another one in its place, and what that says.
pub(super) fn denial(condition: &str) -> Option<(String, String)> {
    let source = wrap(condition);
    let tree = Tree::parse(&source).filter(Tree::parses)?;
    let call = (0..tree.len()).find(|node| tree.kind(*node) == "arguments")?;
    let node = tree.children(call).find(|node| tree.kind(*node) != "(")?;
    let longer = |node: usize| Some((tree.range(node), other_string(tree.text(node))?));
    let claim = claim(&tree, node, |kind| kind == "string_literal")?;
    let ((range, other), what) = denied(&tree, claim, longer)?;
    Some((splice(condition, vec![(unwrap(&range), other)]), what))
}

/// Both sides of `==`; `None` for any other expression.
pub(super) fn sides_of_equality(expression: &str) -> Option<(Range<usize>, Range<usize>)> {
    let source = wrap(expression);
    let tree = Tree::parse(&source).filter(Tree::parses)?;
    let call = (0..tree.len()).find(|node| tree.kind(*node) == "arguments")?;
    let mut node = tree.children(call).find(|node| tree.kind(*node) != "(")?;
    while tree.kind(node) == "parenthesized_expression" {
        node = tree.children(node).find(|child| tree.kind(*child) != "(")?;
    }
    let is_equality = tree.kind(node) == "binary_expression" && tree.text(tree.child(node, "operator")?) == "==";
    let side = |name| Some(unwrap(&tree.range(tree.child(node, name)?)));
    if is_equality { Some((side("left")?, side("right")?)) } else { None }
}

/// Whether two expressions are the same and call nothing.
pub(super) fn are_plainly_same(one: &str, other: &str) -> bool {
    let (one, other) = (wrap(one), wrap(other));
    let (Some(one), Some(other)) = (Tree::parse(&one), Tree::parse(&other)) else { return false };
    let calls = (0..one.len()).filter(|node| is_computed(one.kind(*node))).count();
    // One call is the wrapper itself.
    calls == 1 && one.digest(0..one.len()) == other.digest(0..other.len())
}

fn is_computed(kind: &str) -> bool {
    matches!(kind, "call_expression" | "macro_invocation" | "await_expression" | "closure_expression")
}

fn wrap(text: &str) -> String {
    format!("{BEFORE}{text}{AFTER}")
}

fn unwrap(range: &Range<usize>) -> Range<usize> {
    range.start - BEFORE.len()..range.end - BEFORE.len()
}

fn edits(source: &str, mode: AlterationMode, depth: usize) -> Option<Vec<(Range<usize>, String)>> {
    let tree = Tree::parse(source).filter(Tree::parses)?;
    let call = (0..tree.len()).find(|node| tree.kind(*node) == "arguments")?;
    let mut found = Vec::new();
    let mut open: Vec<usize> = tree.children(call).collect();
    while let Some(node) = open.pop() {
        match tree.kind(node) {
            "integer_literal" | "float_literal" | "boolean_literal" | "string_literal" | "raw_string_literal"
            | "char_literal" => {
                found
                    .extend(other_literal(tree.kind(node), tree.text(node), mode).map(|text| (tree.range(node), text)));
            }
            "macro_invocation" if depth > 0 => found.extend(edits_of_vec(&tree, node, mode, depth - 1)),
            _ => open.extend(values_inside(&tree, node)),
        }
    }
    (!found.is_empty()).then_some(found)
}

/// The child nodes that are values of the expression.
fn values_inside(tree: &Tree<'_>, node: usize) -> Vec<usize> {
    let children = || tree.children(node);
    match tree.kind(node) {
        "parenthesized_expression" | "tuple_expression" | "reference_expression" | "field_initializer_list" => {
            children().collect()
        }
        "unary_expression" if !tree.text(node).starts_with('*') => children().collect(),
        // After a semicolon comes the length, which belongs to the type.
        "array_expression" => children().take_while(|child| tree.kind(*child) != ";").collect(),
        "type_cast_expression" | "field_initializer" => tree.child(node, "value").into_iter().collect(),
        "struct_expression" => tree.child(node, "body").into_iter().collect(),
        "call_expression" => values_of_call(tree, node),
        _ => Vec::new(),
    }
}

fn values_of_call(tree: &Tree<'_>, node: usize) -> Vec<usize> {
    let Some(function) = tree.child(node, "function") else { return Vec::new() };
    if tree.kind(function) == "field_expression" {
        let method = tree.child(function, "field").map_or("", |field| tree.text(field));
        let receiver = tree.child(function, "value").filter(|_| WRAPPING_METHODS.contains(&method));
        return receiver.into_iter().collect();
    }
    let path = if tree.kind(function) == "generic_function" { tree.child(function, "function") } else { None };
    let path = tree.text(path.unwrap_or(function));
    let arguments = tree.child(node, "arguments").filter(|_| wraps(path));
    arguments.map_or_else(Vec::new, |arguments| tree.children(arguments).collect())
}

/// Whether a call only wraps: `Some`, `Money`, `Shape::Circle`, `String::from`, `Box::new`.
fn wraps(path: &str) -> bool {
    let mut segments = path.rsplit("::").map(str::trim);
    let last = segments.next().unwrap_or_default();
    let is_upper = |name: &str| name.starts_with(char::is_uppercase);
    let owner = segments.find(|part| !part.starts_with('<')).unwrap_or_default();
    is_upper(last) || (WRAPPING_TYPES.contains(&owner) && (last == "new" || last.starts_with("from")))
}

fn edits_of_vec(tree: &Tree<'_>, node: usize, mode: AlterationMode, depth: usize) -> Vec<(Range<usize>, String)> {
    let name = tree.child(node, "macro").map_or("", |name| tree.text(name));
    let tokens = tree.children(node).find(|child| tree.kind(*child) == "token_tree");
    let Some(tokens) = tokens.filter(|_| name.rsplit("::").next() == Some("vec")) else { return Vec::new() };
    let range = tree.range(tokens);
    let text = tree.text(tokens);
    let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
    let as_array = wrap(&format!("[{inner}]"));
    let start = range.start;
    let back = |range: Range<usize>| start + range.start - BEFORE.len()..start + range.end - BEFORE.len();
    edits(&as_array, mode, depth).unwrap_or_default().into_iter().map(|(range, text)| (back(range), text)).collect()
}

fn other_literal(kind: &str, text: &str, mode: AlterationMode) -> Option<String> {
    match kind {
        "integer_literal" => other_integer(text, mode),
        "float_literal" => other_float(text),
        "boolean_literal" => Some(if text == "true" { "false" } else { "true" }.to_owned()),
        "char_literal" => Some(other_char(text)),
        "raw_string_literal" => mode.same_length(text).or_else(|| other_raw_string(text)),
        _ => mode.same_length(text).or_else(|| other_string(text)),
    }
}

/// Another number of the same type.
fn other_integer(text: &str, mode: AlterationMode) -> Option<String> {
    let plain = text.replace('_', "");
    let suffixes = ["i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize"];
    let hexadecimal = plain.starts_with("0x");
    let suffix = suffixes.iter().find(|suffix| plain.ends_with(**suffix)).copied().unwrap_or_default();
    let digits = plain.strip_suffix(suffix)?;
    let (digits, radix) = match digits.get(..2) {
        Some("0x") if hexadecimal => (&digits[2..], 16),
        Some("0o") => (&digits[2..], 8),
        Some("0b") => (&digits[2..], 2),
        _ => (digits, 10),
    };
    if plain.ends_with("f32") || plain.ends_with("f64") {
        return if hexadecimal { None } else { other_float(text) };
    }
    let value = u128::from_str_radix(digits, radix).ok()?;
    Some(format!("{}{suffix}", mode.number(value)))
}

/// A value outside any tolerance.
fn other_float(text: &str) -> Option<String> {
    let plain = text.replace('_', "");
    let suffix = ["f32", "f64"].into_iter().find(|suffix| plain.ends_with(suffix)).unwrap_or_default();
    let value: f64 = plain.strip_suffix(suffix)?.parse().ok()?;
    let other = if value < 1e30 { value.mul_add(2.0, 1.0) } else { 1.0 };
    Some(format!("{other:?}{suffix}"))
}

fn other_char(text: &str) -> String {
    let (prefix, quoted) = text.strip_prefix('b').map_or(("", text), |rest| ("b", rest));
    let other = if quoted == "'x'" { "'y'" } else { "'x'" };
    format!("{prefix}{other}")
}

fn other_raw_string(text: &str) -> Option<String> {
    if !text.starts_with('r') {
        return None;
    }
    let end = text.rfind('"')?;
    Some(format!("{}~{}", text.get(..end)?, text.get(end..)?))
}

/// One character more; in a byte string another first character, because its length belongs to its type.
fn other_string(text: &str) -> Option<String> {
    if let Some(bytes) = text.strip_prefix("b\"") {
        let first = bytes.chars().next().filter(char::is_ascii_alphanumeric)?;
        let other = if first == 'x' { 'y' } else { 'x' };
        return Some(format!("b\"{other}{}", bytes.get(1..)?));
    }
    let open = text.strip_prefix('"')?.strip_suffix('"')?;
    Some(format!("\"{open}~\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expression: &str, expected: &str) {
        assert_eq!(
            changed(expression, AlterationMode::ChangeValues).as_deref().unwrap_or("-"),
            expected,
            "{expression}"
        );
    }

    #[test]
    fn numbers_change_within_the_range_of_every_type_that_they_may_be_of() {
        for (number, other) in [
            ("0", "1"),
            ("1", "2"),
            ("127", "126"),
            ("255", "254"),
            ("-128", "-127"),
            ("-1", "-2"),
            ("1_000u64", "999u64"),
            ("0xff", "254"),
            ("0b11_u8", "4u8"),
            ("7usize", "8usize"),
            ("18446744073709551615", "18446744073709551614"),
            ("0.0", "1.0"),
            ("2.5f32", "6.0f32"),
            ("1e300", "1.0"),
            ("1f64", "3.0f64"),
            ("-0.5", "-2.0"),
        ] {
            check(number, other);
        }
    }

    #[test]
    fn texts_characters_and_truths_change() {
        for (text, other) in [
            (r#""abc""#, r#""abc~""#),
            (r#""""#, r#""~""#),
            (r##"r#"a"b"#"##, r##"r#"a"b~"#"##),
            ("'a'", "'x'"),
            ("'x'", "'y'"),
            (r"'\n'", "'x'"),
            ("b'x'", "b'y'"),
            (r#"b"abc""#, r#"b"xbc""#),
            (r#"b"\n""#, "-"),
            ("true", "false"),
        ] {
            check(text, other);
        }
    }

    #[test]
    fn every_value_inside_of_a_larger_one_changes() {
        for (value, other) in [
            ("(1, \"a\")", "(2, \"a~\")"),
            ("[0; 3]", "[1; 3]"),
            ("&[1, 2][..]", "-"),
            ("&[1, -2]", "&[2, -3]"),
            ("vec![1, 2]", "vec![2, 3]"),
            ("std::vec![(0, vec!['a'])]", "std::vec![(1, vec!['x'])]"),
            ("vec![0u8; 4]", "vec![1u8; 4]"),
            ("Some(3)", "Some(4)"),
            ("Ok::<_, ()>(Money(5))", "Ok::<_, ()>(Money(6))"),
            (
                "Err(Error::Bad { line: 3, name: \"x\".to_string() })",
                "Err(Error::Bad { line: 4, name: \"x~\".to_string() })",
            ),
            ("Point { x: 1, ..origin(2) }", "Point { x: 2, ..origin(2) }"),
            ("String::from(\"a\")", "String::from(\"a~\")"),
            ("HashSet::from([0, 1])", "HashSet::from([1, 2])"),
            ("3 as f32", "4 as f32"),
            ("None", "-"),
            ("Color::Red", "-"),
            ("f(1)", "-"),
            ("a.len() + 1", "-"),
            ("Clock::new(1, 2)", "-"),
            ("x", "-"),
            ("vec![]", "-"),
        ] {
            check(value, other);
        }
    }

    #[test]
    fn the_arguments_of_a_macro_are_told_apart_as_those_of_a_call() {
        let text = "f::<A, B>(1), |a, b| a < b, /* , */ \"x, y\"";
        let parts: Vec<&str> = arguments(text).unwrap().into_iter().map(|range| &text[range]).collect();
        assert_eq!(parts, ["f::<A, B>(1)", "|a, b| a < b", "\"x, y\""]);
        assert_eq!(arguments("x, Some(y) if"), None);
    }

    #[test]
    fn only_expressions_without_calls_are_plainly_the_same() {
        assert!(are_plainly_same("x", " x"));
        assert!(are_plainly_same("a.b", "a . b"));
        assert!(!are_plainly_same("f()", "f()"));
        assert!(!are_plainly_same("x", "y"));
        assert!(!are_plainly_same("vec![1]", "vec![1]"));
    }
}
