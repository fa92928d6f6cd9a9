//! Turns an assertion into its opposite: another expected value, or the negated condition.

use std::ops::Range;

use tdd_core::proof::OPPOSITE;

use super::value::{are_plainly_same, arguments, changed, denial, sides_of_equality};
use crate::syntax::splice;
use crate::twin::AlterationMode;

/// Longest value shown in a message, in characters.
const LONGEST: usize = 40;

/// Panics without using a macro or trait that somebody could override, and with a length that the compiler cannot know.
pub(super) const BREAK: &str = "let _ = 1 / \"\".len();";

/// An assertion that must fail if the original holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Opposite {
    /// The assertion's text.
    pub text: String,
    /// What differs, as the end of "line 3 still passes in a copy that …".
    pub what: String,
    /// A statement that panics if both sides print differently.
    pub probe: Option<String>,
}

/// The opposite of an assertion; `None` if there is no safe way to write it.
pub(super) fn opposite(assertion: &str, mode: AlterationMode) -> Option<Opposite> {
    let call = Call::read(assertion)?;
    match call.name() {
        "assert_eq" | "debug_assert_eq" => of_equality(&call, mode),
        "assert_ne" | "debug_assert_ne" => {
            let (left, right) = call.sides()?;
            Some(plain(broken_if(left, "!=", right), "expects equal values"))
        }
        "assert" | "debug_assert" => of_condition(&call, mode),
        "assert_matches" | "debug_assert_matches" => of_pattern(&call),
        name if name.starts_with("assert_") && name.ends_with("_eq") && mode.changes_values() => {
            of_compared(&call, &call.arguments()?, mode)
        }
        _ => None,
    }
}

/// The same assertion macro with arguments for which it must fail; `None` for an unknown macro.
pub(super) fn false_assertion(assertion: &str) -> Option<(String, String)> {
    let call = Call::read(assertion)?;
    let arguments = match call.name() {
        "assert_eq" | "debug_assert_eq" => "1u8, 2u8",
        "assert_ne" | "debug_assert_ne" => "1u8, 1u8",
        "assert" | "debug_assert" => "false",
        _ => return None,
    };
    Some((format!("{}!", call.path), format!("{}!({arguments});", call.path)))
}

/// The parts of a macro call.
struct Call<'a> {
    /// `std::assert_eq`
    path: &'a str,
    /// The opening and the closing bracket.
    brackets: (char, char),
    /// The text between them.
    inner: &'a str,
}

impl<'a> Call<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let (path, rest) = text.split_once('!')?;
        let rest = rest.trim();
        let brackets = (rest.chars().next()?, rest.chars().next_back()?);
        let inner = rest.get(1..rest.len().checked_sub(1)?)?;
        matches!(brackets, ('(', ')') | ('[', ']') | ('{', '}')).then_some(Self { path: path.trim(), brackets, inner })
    }

    fn name(&self) -> &'a str {
        self.path.rsplit("::").next().unwrap_or_default().trim()
    }

    fn arguments(&self) -> Option<Vec<Range<usize>>> {
        arguments(self.inner)
    }

    /// The first two arguments.
    fn sides(&self) -> Option<(&'a str, &'a str)> {
        let parts = self.arguments()?;
        let [left, right, ..] = parts.as_slice() else { return None };
        Some((self.inner.get(left.clone())?, self.inner.get(right.clone())?))
    }

    fn with_inner(&self, inner: &str) -> String {
        format!("{}!{}{inner}{}", self.path, self.brackets.0, self.brackets.1)
    }

    fn with_part(&self, part: Range<usize>, text: String) -> String {
        self.with_inner(&splice(self.inner, vec![(part, text)]))
    }
}

fn plain(text: String, what: &str) -> Opposite {
    Opposite { text, what: what.to_owned(), probe: None }
}

fn of_equality(call: &Call<'_>, mode: AlterationMode) -> Option<Opposite> {
    let parts = call.arguments()?;
    let (left, right) = call.sides()?;
    if are_plainly_same(left, right) {
        return Some(plain(call.with_inner(call.inner), "compares a value with itself"));
    }
    let by_value = if mode.changes_values() { of_compared(call, &parts, mode) } else { None };
    by_value.or_else(|| Some(plain(broken_if(left, "==", right), "expects different values")))
}

/// The opposite with another value on the right side or, failing that, on the left.
fn of_compared(call: &Call<'_>, parts: &[Range<usize>], mode: AlterationMode) -> Option<Opposite> {
    let [left, right, ..] = parts else { return None };
    [right, left].into_iter().find_map(|side| {
        let was = call.inner.get(side.clone())?;
        let other = changed(was, mode)?;
        let (one, two) = if side == right {
            (call.inner.get(left.clone())?, other.as_str())
        } else {
            (other.as_str(), call.inner.get(right.clone())?)
        };
        let probe = matches!(call.name(), "assert_eq" | "debug_assert_eq").then(|| probe(one, two));
        Some(Opposite { what: instead(was, &other), text: call.with_part(side.clone(), other.clone()), probe })
    })
}

fn broken_if(left: &str, operator: &str, right: &str) -> String {
    format!("match (&({left}), &({right})) {{ (l, r) => if *l {operator} *r {{ {BREAK} }} }}")
}

/// A statement that panics if both sides print differently. Includes the comparison so that types are inferred as in
/// the assertion. Hashes the printed text, because some crates have no allocator.
fn probe(left: &str, right: &str) -> String {
    format!(
        "match (&({left}), &({right})) {{ (l, r) => {{ let _ = *l == *r; struct Sum(u64); \
         impl ::core::fmt::Write for Sum {{ fn write_str(&mut self, text: &str) -> ::core::fmt::Result {{ \
         for byte in text.bytes() {{ self.0 = self.0.wrapping_mul(1099511628211) ^ u64::from(byte); }} \
         ::core::result::Result::Ok(()) }} }} \
         let (mut one, mut two) = (Sum(7), Sum(7)); \
         let _ = ::core::fmt::write(&mut one, ::core::format_args!(\"{{l:?}}\")); \
         let _ = ::core::fmt::write(&mut two, ::core::format_args!(\"{{r:?}}\")); \
         if one.0 != two.0 {{ {BREAK} }} }} }}"
    )
}

fn of_condition(call: &Call<'_>, mode: AlterationMode) -> Option<Opposite> {
    let condition = call.arguments()?.into_iter().next()?;
    let text = call.inner.get(condition.clone())?;
    if let Some((left, right)) = sides_of_equality(text) {
        let (left_text, right_text) = (text.get(left.clone())?, text.get(right.clone())?);
        if are_plainly_same(left_text, right_text) {
            return Some(plain(call.with_inner(call.inner), "compares a value with itself"));
        }
        let sides = [(right, right_text), (left, left_text)];
        let other = sides.into_iter().find_map(|(side, was)| Some((side, was, changed(was, mode)?)));
        if let Some((side, was, other)) = other.filter(|_| mode.changes_values()) {
            let what = instead(was, &other);
            let part = condition.start + side.start..condition.start + side.end;
            return Some(Opposite { text: call.with_part(part, other), what, probe: None });
        }
    }
    if let Some((other, what)) = denial(text).filter(|_| mode == AlterationMode::ChangeFar) {
        return Some(Opposite { text: call.with_part(condition, other), what, probe: None });
    }
    let negated = format!("!({text})");
    Some(plain(call.with_part(condition, negated), OPPOSITE))
}

/// The opposite of a pattern assertion, only without a message, which cannot be told from a pattern.
fn of_pattern(call: &Call<'_>) -> Option<Opposite> {
    let inner = call.inner.trim_end().trim_end_matches(',');
    let (value, pattern) = inner.split_once(',').filter(|_| commas(inner) == 1)?;
    Some(plain(format!("match {value} {{{pattern} => {{ {BREAK} }} _ => {{}} }}"), OPPOSITE))
}

/// The number of commas outside brackets and quotes; an approximation.
fn commas(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut quoted = false;
    let mut found = 0;
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => found += 1,
            _ => {}
        }
    }
    found
}

fn instead(was: &str, other: &str) -> String {
    format!("expects `{}` instead of `{}`", shown(other), shown(was))
}

fn shown(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST { line } else { line.chars().take(LONGEST).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shape_of_assertion_has_its_opposite() {
        let shapes = [
            "assert_eq!(add(1, 2), 3)",
            "assert_eq!(3, add(1, 2), \"sum of {}\", 1)",
            "assert_eq!(name(), \"Ann\".to_string(),)",
            "assert_eq!(half(3), 1.5)",
            "assert_eq!(find(2), Some(7))",
            "assert_eq!(find(2), None)",
            "assert_eq!(parse(\"x\"), Err(ParseError::Empty))",
            "assert_eq!(all(), vec![1, 2, 3])",
            "assert_eq!(all(), Vec::<u8>::new())",
            "assert_eq!(origin(), Point { x: 0, y: 0 })",
            "assert_eq!(color(), Color::Red)",
            "assert_eq!(is_leap(2000), true)",
            "assert_eq!(f::<A, B>(1), g(2))",
            "assert_eq!(x, x)",
            "assert_eq! { a, 'b' }",
            "assert_eq!(a, if b { 1 } else { 2 })",
            "pretty_assertions::assert_eq!(a, 1)",
            "assert_ne!(a, 1)",
            "std::assert!(is_empty())",
            "assert!(a == 3, \"why\")",
            "assert!((a) == b)",
            "assert!(a == a)",
            "assert!(a < 3 && b)",
            "assert!((a - 0.3).abs() < 1e-9)",
            "assert!(matches!(x, Shape::Circle { r } if r > 1))",
            "assert!(list.iter().any(|n| *n == 3))",
            "assert!(x.is_ok(), \"{x:?}\")",
            "assert_matches!(x, Ok(_))",
            "assert_matches!(x, Ok(_), \"why\")",
            "assert_relative_eq!(a, 0.3, epsilon = 1e-9)",
            "assert_contains!(a, 3)",
            "panic!(\"no\")",
        ];
        let shown = shapes.map(|shape| match opposite(shape, AlterationMode::ChangeValues) {
            Some(other) => format!("{shape}\n    {}\n    {}", other.text, other.what),
            None => format!("{shape}\n    none"),
        });
        insta::assert_snapshot!(shown.join("\n"));
    }

    #[test]
    fn a_second_opposite_is_further_away() {
        for (shape, expected) in [
            ("assert_eq!(a, 3)", "assert_eq!(a, 63)"),
            ("assert_eq!(a, \"abc\")", "assert_eq!(a, \"abd\")"),
            ("assert!(a.contains(\"x\"))", "assert!(a.contains(\"x~\"))"),
            ("assert!((a - 0.5).abs() < 1e-9)", "assert!((a - 60.5).abs() < 1e-9)"),
            ("assert!((a - 0.5).abs() < 100.0)", "assert!(!((a - 0.5).abs() < 100.0))"),
        ] {
            assert_eq!(opposite(shape, AlterationMode::ChangeFar).unwrap().text, expected);
        }
    }

    #[test]
    fn a_mild_opposite_keeps_every_value() {
        for (shape, expected) in [
            ("assert_eq!(a, 3)", "match (&(a), &(3)) { (l, r) => if *l == *r { let _ = 1 / \"\".len(); } }"),
            ("assert!(a == 3)", "assert!(!(a == 3))"),
            ("assert_ne!(a, 3)", "match (&(a), &(3)) { (l, r) => if *l != *r { let _ = 1 / \"\".len(); } }"),
        ] {
            assert_eq!(opposite(shape, AlterationMode::NegateOnly).unwrap().text, expected);
        }
        assert_eq!(opposite("assert_relative_eq!(a, 0.3)", AlterationMode::NegateOnly), None);
    }

    #[test]
    fn a_probe_compares_what_both_sides_print() {
        let probe = opposite("assert_eq!(f(), Some(1))", AlterationMode::ChangeValues).unwrap().probe.unwrap();
        assert!(probe.starts_with("match (&(f()), &(Some(2))) { (l, r) => { let _ = *l == *r;"), "{probe}");
    }

    #[test]
    fn a_false_assertion_uses_the_macro_that_the_test_uses() {
        let told = |text| false_assertion(text).map(|(_, text)| text);
        assert_eq!(told("pretty::assert_eq!(a, b)").as_deref(), Some("pretty::assert_eq!(1u8, 2u8);"));
        assert_eq!(told("assert!(a)").as_deref(), Some("assert!(false);"));
        assert_eq!(told("assert_matches!(a, b)"), None);
    }
}
