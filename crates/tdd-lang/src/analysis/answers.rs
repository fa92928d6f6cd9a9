//! Finds production code that maps literals to literals: in conditions, in cases, and in lookup tables.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use tdd_core::signs::{Answer, Place};

use crate::syntax::FlatTree;

/// How a language writes literals, conditions and cases.
#[derive(Clone, Copy)]
pub(crate) struct Facts {
    /// The value of a literal; `None` for any other node.
    pub literal: fn(&FlatTree<'_>, usize) -> Option<String>,
    /// The kinds of nodes that choose an answer.
    pub choices: &'static [Choice],
}

/// A kind of node that chooses an answer.
#[derive(Clone, Copy)]
pub(crate) struct Choice {
    pub kind: &'static str,
    /// The condition, or the values of a case.
    pub asks: Part,
    /// The answer if that holds.
    pub then: Part,
    /// The answer if it does not hold.
    pub other: Option<Part>,
}

/// How to find a part of a node.
#[derive(Clone, Copy)]
pub(crate) enum Part {
    /// The first child with this field name.
    Field(&'static str),
    /// The first child of this kind.
    Kind(&'static str),
    /// The part with this index, from 0.
    Number(usize),
}

impl Choice {
    /// A condition with the usual field names.
    pub const fn condition(kind: &'static str) -> Self {
        let (asks, then) = (Part::Field("condition"), Part::Field("consequence"));
        Self { kind, asks, then, other: Some(Part::Field("alternative")) }
    }

    /// One case of several.
    pub const fn case(kind: &'static str, asks: Part, then: Part) -> Self {
        Self { kind, asks, then, other: None }
    }
}

/// Nodes that combine two values with an operator.
const BINARY: [&str; 4] = ["binary_expression", "binary_operator", "comparison_operator", "boolean_operator"];

/// Operators that compute another value, or hold for a range of values: then the input itself is not compared.
const COMPUTING: [&str; 16] = ["%", "+", "*", "/", "//", "**", "-", "<<", ">>", "^", "&", "|", "<", ">", "<=", ">="];

/// Operators that hold for the literal itself, and those that hold for all other values.
const EQUAL: [&str; 4] = ["==", "===", "in", "is"];
const UNEQUAL: [&str; 4] = ["!=", "!==", "not in", "is not"];

/// Operators that combine conditions.
const JOINING: [&str; 4] = ["&&", "||", "and", "or"];

/// The field with the value that a case is compared with, by kind of the node around the case.
const CASE_SUBJECTS: [(&str, &str); 4] = [
    ("switch_statement", "value"),
    ("expression_switch_statement", "value"),
    ("match_statement", "subject"),
    ("match_expression", "value"),
];

/// Nodes that look up a value by its key.
const INDEXING: [&str; 3] = ["subscript", "subscript_expression", "index_expression"];

/// Nodes that are calls.
const CALLS: [&str; 3] = ["call", "call_expression", "new_expression"];

/// Methods that look up a value by its key, and those that search for a pair with a condition.
const GETTING: [&str; 1] = ["get"];
const SEEKING: [&str; 5] = ["find", "find_map", "filter", "position", "any"];

/// Methods that pass on the collection that they are called on.
const HANDING_ON: [&str; 8] = ["iter", "into_iter", "collect", "copied", "cloned", "entries", "items", "as_slice"];

/// Whether a node only wraps one value.
fn is_around(kind: &str) -> bool {
    let plain = matches!(kind, "parenthesized_expression" | "reference_expression" | "unary_expression");
    plain || matches!(kind, "expression_list" | "literal_element" | "as_expression" | "expression_statement")
}

/// Whether a node binds a value to a name.
fn is_naming(kind: &str) -> bool {
    let declares = matches!(kind, "variable_declarator" | "short_var_declaration" | "let_declaration");
    declares || matches!(kind, "assignment" | "var_spec" | "const_spec" | "const_item" | "static_item")
}

/// Nodes that list values.
const LISTS: [&str; 7] =
    ["list", "tuple", "array", "array_expression", "tuple_expression", "literal_value", "expression_list"];

/// Nodes that loop over something.
const LOOPS: [&str; 3] = ["for_statement", "for_in_statement", "for_expression"];

/// Maximum number of names, brackets and calls between a lookup and its table.
const MAX_HOPS: usize = 12;

/// The answers in these items of a file.
pub(crate) fn answers(tree: &FlatTree<'_>, items: &[(Range<usize>, Place)], facts: Facts) -> Vec<Answer> {
    let finder = AnswerFinder { tree, facts, named: named(tree) };
    let mut found = Vec::new();
    for (span, item) in items {
        for node in nodes_within(tree, 1, span) {
            found.extend(finder.chosen(node, item));
            if let Some(table) = finder.looked_up(node) {
                let at_home = items.iter().find(|(span, _)| span.contains(&tree.range(table).start));
                let home = at_home.map(|(_, home)| home).filter(|home| *home != item);
                for (compared, returned) in finder.rows(table) {
                    let answer = |item: &Place, line| Answer {
                        item: item.clone(),
                        line,
                        compared: compared.clone(),
                        returned: returned.clone(),
                    };
                    found.push(answer(item, tree.line(node)));
                    found.extend(home.map(|home| answer(home, tree.line(table))));
                }
            }
        }
    }
    found.dedup();
    found
}

/// The nodes within a part of the text, from `first` on.
pub(crate) fn nodes_within<'t>(
    tree: &'t FlatTree<'_>,
    first: usize,
    span: &'t Range<usize>,
) -> impl Iterator<Item = usize> + 't {
    let from = tree.first_from(span.start).max(first);
    (from..tree.len()).take_while(|node| tree.range(*node).start < span.end.max(span.start + 1)).filter(|node| {
        let range = tree.range(*node);
        span.start <= range.start && range.end <= span.end
    })
}

/// Values that are bound to a name, by name; `None` for a name that is bound twice.
fn named<'a>(tree: &FlatTree<'a>) -> BTreeMap<&'a str, Option<usize>> {
    let mut found = BTreeMap::new();
    for node in (0..tree.len()).filter(|node| is_naming(tree.kind(*node))) {
        let name = ["name", "left", "pattern"].into_iter().find_map(|field| tree.child(node, field));
        let value = ["value", "right"].into_iter().find_map(|field| tree.child(node, field));
        if let (Some(name), Some(value)) = (name, value) {
            let again = |known: &mut Option<usize>| *known = None;
            found.entry(tree.text(name)).and_modify(again).or_insert(Some(value));
        }
    }
    found
}

/// The literals of one side.
type Values = BTreeSet<String>;

struct AnswerFinder<'t, 's> {
    tree: &'t FlatTree<'s>,
    facts: Facts,
    named: BTreeMap<&'s str, Option<usize>>,
}

impl AnswerFinder<'_, '_> {
    /// The answers that a node chooses by comparing: `if x == 1 { 2 }`.
    fn chosen(&self, node: usize, item: &Place) -> Vec<Answer> {
        let choice = self.facts.choices.iter().find(|choice| choice.kind == self.tree.kind(node));
        let Some(choice) = choice else { return Vec::new() };
        let (Some(asks), Some(then)) = (self.part(node, choice.asks), self.part(node, choice.then)) else {
            return Vec::new();
        };
        let (equal, unequal) = match choice.other {
            Some(_) => self.compared(asks),
            None if self.is_computed_case(node) => return Vec::new(),
            None if self.asks_equal(asks) => self.compared(asks),
            None => (self.values_of_case(asks), Values::new()),
        };
        let other = choice.other.and_then(|other| self.part(node, other));
        let answer = |compared: Values, answer: usize| {
            let returned = self.answered(answer)?;
            let line = self.tree.line(node);
            (!compared.is_empty()).then(|| Answer { item: item.clone(), line, compared, returned })
        };
        let inverse = other.and_then(|other| answer(unequal, other));
        answer(equal, then).into_iter().chain(inverse).collect()
    }

    fn part(&self, node: usize, part: Part) -> Option<usize> {
        match part {
            Part::Field(field) => self.tree.child(node, field),
            Part::Kind(kind) => self.tree.children(node).find(|child| self.tree.kind(*child) == kind),
            Part::Number(number) => self.parts(node).nth(number),
        }
    }

    /// The children that are more than punctuation, keywords and comments.
    fn parts(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        self.tree.children(node).filter(|child| {
            let is_token = self.tree.is_leaf(*child) && self.tree.kind(*child) == self.tree.text(*child);
            let is_comment = self.tree.kind(*child).contains("comment");
            !is_comment && (!is_token || (self.facts.literal)(self.tree, *child).is_some())
        })
    }

    /// The literals that a condition compares an input with: those that it must equal, and those that it must not
    /// equal.
    fn compared(&self, condition: usize) -> (Values, Values) {
        let (mut equal, mut unequal) = (Values::new(), Values::new());
        let mut open = vec![condition];
        while let Some(node) = open.pop() {
            if self.has_operator(node, &JOINING) || is_around(self.tree.kind(node)) {
                open.extend(self.parts(node));
            } else if self.has_operator(node, &COMPUTING) || self.is_computed(node) {
                // The compared value was computed; it is not the input.
            } else if self.has_operator(node, &EQUAL) {
                equal.extend(self.literals(node));
            } else if self.has_operator(node, &UNEQUAL) {
                unequal.extend(self.literals(node));
            }
        }
        (equal, unequal)
    }

    /// Whether a node combines its parts with one of these operators.
    fn has_operator(&self, node: usize, operators: &[&str]) -> bool {
        BINARY.contains(&self.tree.kind(node))
            && self.tree.children(node).any(|child| operators.contains(&self.tree.kind(child)))
    }

    /// Whether a node contains a computation.
    fn is_computed(&self, node: usize) -> bool {
        self.tree.subtree(node).any(|inner| self.has_operator(inner, &COMPUTING))
    }

    fn asks_equal(&self, node: usize) -> bool {
        self.tree.subtree(node).any(|inner| self.has_operator(inner, &EQUAL))
    }

    /// Whether the value that a case is compared with was computed.
    fn is_computed_case(&self, node: usize) -> bool {
        let scrutiny = |outer: usize| {
            let (_, field) = CASE_SUBJECTS.iter().find(|(kind, _)| *kind == self.tree.kind(outer))?;
            self.tree.child(outer, field)
        };
        let nearest = self
            .tree
            .ancestors(node)
            .find(|outer| CASE_SUBJECTS.iter().any(|(kind, _)| *kind == self.tree.kind(*outer)));
        nearest.and_then(scrutiny).is_some_and(|scrutiny| self.is_computed(scrutiny))
    }

    /// The literals of a case; none for a range, which holds for more values than its bounds.
    fn values_of_case(&self, node: usize) -> Values {
        let is_range = self.tree.subtree(node).any(|inner| self.tree.kind(inner) == "range_pattern");
        if is_range { Values::new() } else { self.literals(node).collect() }
    }

    fn literals(&self, node: usize) -> impl Iterator<Item = String> + '_ {
        self.tree.subtree(node).filter_map(|inner| (self.facts.literal)(self.tree, inner))
    }

    /// The literals that a block, a statement or an expression answers with; `None` if it answers with anything else.
    fn answered(&self, node: usize) -> Option<Values> {
        let mut at = node;
        for _ in 0..MAX_HOPS {
            let kind = self.tree.kind(at);
            let inner = match kind {
                "block" | "statement_block" | "statement_list" | "else_clause" => self.parts(at).next()?,
                "return_statement" | "return_expression" => return self.plain(at),
                "expression_statement" => {
                    let inner = self.parts(at).next()?;
                    return (self.tree.kind(inner) == "return_expression").then(|| self.plain(inner))?;
                }
                kind if kind.ends_with("_statement") || kind.ends_with("_declaration") => return None,
                _ => return self.plain(at),
            };
            at = inner;
        }
        None
    }

    /// The literals of an expression that holds only literals and what wraps them.
    fn plain(&self, node: usize) -> Option<Values> {
        const WRAPPING: [&str; 8] =
            ["function", "constructor", "type", "macro", "name", "field", "property", "attribute"];
        let is_wrapping = |word: usize| {
            let mut path = std::iter::once(word).chain(self.tree.ancestors(word)).take_while(|outer| *outer > node);
            path.any(|outer| self.tree.field(outer).is_some_and(|field| WRAPPING.contains(&field)))
        };
        let words = self.tree.subtree(node).filter(|inner| self.tree.is_word(*inner));
        if self.is_computed(node) || words.into_iter().any(|word| !is_wrapping(word)) {
            return None;
        }
        Some(self.literals(node).collect::<Values>()).filter(|values| !values.is_empty())
    }

    /// The table in which a node looks up an input: `{1: 2}[a]`, `TABLE.get(a)`.
    fn looked_up(&self, node: usize) -> Option<usize> {
        let kind = self.tree.kind(node);
        if INDEXING.contains(&kind) {
            let parts: Vec<usize> = self.parts(node).collect();
            let (table, key) = (parts.first()?, parts.get(1)?);
            return self.table(*table).filter(|_| self.is_input(*key));
        }
        if LOOPS.contains(&kind) {
            let over = ["right", "value"].into_iter().find_map(|field| self.tree.child(node, field));
            let clause =
                || self.part(node, Part::Kind("range_clause")).and_then(|clause| self.tree.child(clause, "right"));
            let body = self.tree.child(node, "body")?;
            let returns = self.tree.subtree(body).any(|inner| self.tree.kind(inner).starts_with("return_"));
            let seeks = self.asks_equal(body) && !self.is_computed(body) && returns;
            return self.table(over.or_else(clause)?).filter(|_| seeks);
        }
        let (object, method, arguments) = self.method(node)?;
        let first = self.parts(arguments).next()?;
        let is_lookup = GETTING.contains(&method) && self.is_input(first)
            || SEEKING.contains(&method) && self.asks_equal(first) && !self.is_computed(first);
        if is_lookup { self.table(object) } else { None }
    }

    /// The receiver, the name and the arguments of a method call.
    fn method(&self, call: usize) -> Option<(usize, &str, usize)> {
        if !CALLS.contains(&self.tree.kind(call)) {
            return None;
        }
        let function = self.tree.child(call, "function")?;
        let function = if self.tree.kind(function) == "generic_function" {
            self.tree.child(function, "function")?
        } else {
            function
        };
        let object = ["object", "value", "operand"].into_iter().find_map(|field| self.tree.child(function, field))?;
        let name = ["attribute", "property", "field"].into_iter().find_map(|field| self.tree.child(function, field))?;
        Some((object, self.tree.text(name), self.tree.child(call, "arguments")?))
    }

    /// Whether a value is used as it came in: neither a literal nor computed.
    fn is_input(&self, node: usize) -> bool {
        !self.is_computed(node) && self.tree.words(node).next().is_some()
    }

    /// The table that an expression refers to.
    fn table(&self, node: usize) -> Option<usize> {
        let mut at = node;
        for _ in 0..MAX_HOPS {
            let kind = self.tree.kind(at);
            at = match kind {
                "dictionary" | "object" | "composite_literal" => return Some(at),
                // A list of one value stands for that value.
                "expression_list" => self.parts(at).next()?,
                _ if LISTS.contains(&kind) => return Some(at),
                _ if is_around(kind) => self.parts(at).last()?,
                _ if CALLS.contains(&kind) => self.made_of(at)?,
                _ if self.tree.is_word(at) => self.named.get(self.tree.text(at)).copied()??,
                _ => return None,
            };
        }
        None
    }

    /// The receiver that a call passes on, or the argument that it makes a map from: `T.iter()`, `HashMap::from([…])`,
    /// `new Map([…])`.
    fn made_of(&self, call: usize) -> Option<usize> {
        if let Some((object, method, _)) = self.method(call) {
            return HANDING_ON.contains(&method).then_some(object);
        }
        let arguments: Vec<usize> = self.parts(self.tree.child(call, "arguments")?).collect();
        match arguments[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// The rows of a table whose keys and values are literals.
    fn rows(&self, table: usize) -> Vec<(Values, Values)> {
        let body = self.tree.child(table, "body").unwrap_or(table);
        let elements: Vec<usize> = self.parts(body).filter(|part| self.tree.field(*part) != Some("type")).collect();
        let pairs: Option<Vec<(usize, usize)>> = elements.iter().map(|element| self.pair(*element)).collect();
        if let Some(pairs) = pairs {
            let row = |(key, value): (usize, usize)| Some((self.key(key)?, self.plain(value)?));
            return pairs.into_iter().filter_map(row).collect();
        }
        let row = |(at, value): (usize, &usize)| Some((Values::from([at.to_string()]), self.plain(*value)?));
        elements.iter().enumerate().filter_map(row).collect()
    }

    fn key(&self, node: usize) -> Option<Values> {
        match self.tree.kind(node) {
            "property_identifier" => Some(Values::from([format!("\"{}\"", self.tree.text(node))])),
            _ => self.plain(node),
        }
    }

    /// The key and the value of an entry: `1: 2`, `(1, 2)`.
    fn pair(&self, element: usize) -> Option<(usize, usize)> {
        let mut at = element;
        while is_around(self.tree.kind(at)) {
            at = self.parts(at).last()?;
        }
        let kind = self.tree.kind(at);
        if !matches!(kind, "pair" | "keyed_element") && !LISTS.contains(&kind) {
            return None;
        }
        match self.parts(at).collect::<Vec<_>>()[..] {
            [key, value] => Some((key, value)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::signs_of;
    use crate::language::Language;

    /// The answers in some production code, as `compared => returned`.
    fn told(language: &dyn Language, files: &[(&str, &str)]) -> Vec<String> {
        let signs = signs_of(files, |project, sources, paths| language.signs(project, sources, paths));
        let joined = |values: std::collections::BTreeSet<String>| {
            values.into_iter().map(|value| value.replace('"', "")).collect::<Vec<_>>().join(",")
        };
        let line = |answer: tdd_core::signs::Answer| {
            format!("{} {} => {}", answer.line, joined(answer.compared), joined(answer.returned))
        };
        signs.answers.into_iter().map(line).collect()
    }

    fn python(source: &str) -> Vec<String> {
        told(&crate::python::Python, &[("calc.py", source)])
    }

    fn javascript(source: &str) -> Vec<String> {
        told(&crate::javascript::JavaScript::Plain, &[("calc.js", source)])
    }

    fn go(source: &str) -> Vec<String> {
        told(&crate::go::Go, &[("go.mod", "module calc\n"), ("calc.go", &format!("package calc\n{source}"))])
    }

    fn rust(source: &str) -> Vec<String> {
        told(&crate::rust::Rust, &[("Cargo.toml", "[package]\nname = \"calc\"\n"), ("src/lib.rs", source)])
    }

    #[test]
    fn a_condition_that_picks_a_literal_is_an_answer() {
        let one = ["1 1 => 2"];
        assert_eq!(python("def f(a): return 2 if a == 1 else 0\n"), one);
        assert_eq!(python("def f(a):\n    if a == 1:\n        return 2\n    return a\n"), ["2 1 => 2"]);
        assert_eq!(python("def f(a):\n    if a != 1:\n        return a\n    else:\n        return 2\n"), ["2 1 => 2"]);
        assert_eq!(python("def f(a): return [2] if a in (1, 3) and a else Money(5)\n"), ["1 1,3 => 2"]);
        assert_eq!(javascript("export const f = (a) => a === 1 ? 2 : 0;\n"), one);
        assert_eq!(javascript("export function f(a) { return a !== 1 ? a : 2; }\n"), one);
        assert_eq!(javascript("export function f(a) { if (a === 1) { return 'x'; } }\n"), ["1 1 => x"]);
        assert_eq!(go("func F(a int) int { if a == 1 { return 2 }; return 0 }\n"), ["2 1 => 2"]);
        assert_eq!(rust("pub fn f(a: u8) -> u8 { if a == 1 { 2 } else { 0 } }\n"), one);
        assert_eq!(rust("pub fn f(a: u8) -> Option<u8> { if 1 == a { return Some(2); } None }\n"), one);
    }

    #[test]
    fn a_case_that_picks_a_literal_is_an_answer() {
        assert_eq!(python("def f(a):\n    match a:\n        case 1 | 3:\n            return 2\n"), ["3 1,3 => 2"]);
        let source = "export function f(a) { switch (a) { case 1: return 2; default: return 0; } }\n";
        assert_eq!(javascript(source), ["1 1 => 2"]);
        assert_eq!(go("func F(a int) int { switch a { case 1, 3: return 2 }; return 0 }\n"), ["2 1,3 => 2"]);
        assert_eq!(go("func F(a int) int { switch { case a == 1: return 2 }; return 0 }\n"), ["2 1 => 2"]);
        assert_eq!(rust("pub fn f(a: u8) -> u8 { match a { 1 => 2, _ => 0 } }\n"), ["1 1 => 2"]);
    }

    #[test]
    fn a_table_in_which_an_input_is_looked_up_is_an_answer() {
        let rows = ["1 1 => 2", "1 3 => 4"];
        assert_eq!(python("def f(a): return {1: 2, 3: 4}[a]\n"), rows);
        assert_eq!(python("def f(a): return {1: 2, 3: 4}.get(a, 0)\n"), rows);
        assert_eq!(python("def f(a): return [7, 8][a]\n"), ["1 0 => 7", "1 1 => 8"]);
        assert_eq!(python("def f(a): return dict([(1, 2), (3, 4)])[a]\n"), rows);
        assert_eq!(javascript("export const f = (a) => ({ 1: 2, 3: 4 })[a];\n"), rows);
        assert_eq!(javascript("export const f = (a) => ({ x: 2 })[a];\n"), ["1 x => 2"]);
        assert_eq!(javascript("export const f = (a) => new Map([[1, 2], [3, 4]]).get(a);\n"), rows);
        assert_eq!(javascript("export const f = (a) => [[1, 2], [3, 4]].find(([k]) => k === a)[1];\n")[..2], rows);
        assert_eq!(go("func F(a int) int { return map[int]int{1: 2, 3: 4}[a] }\n"), ["2 1 => 2", "2 3 => 4"]);
        assert_eq!(go("func F(a int) int { return []int{7, 8}[a] }\n"), ["2 0 => 7", "2 1 => 8"]);
        assert_eq!(rust("pub fn f(a: usize) -> u8 { [7, 8][a] }\n"), ["1 0 => 7", "1 1 => 8"]);
        assert_eq!(rust("pub fn f(a: u8) -> u8 { HashMap::from([(1, 2), (3, 4)])[&a] }\n"), rows);
        assert_eq!(rust("pub fn f(a: u8) -> u8 { *HashMap::from([(1, 2), (3, 4)]).get(&a).unwrap() }\n"), rows);
        let seeks = "pub fn f(a: u8) -> u8 { [(1, 2), (3, 4)].iter().find(|(k, _)| *k == a).unwrap().1 }\n";
        assert_eq!(rust(seeks), rows);
    }

    #[test]
    fn a_table_with_a_name_counts_where_it_is_and_where_it_is_used() {
        let local = ["3 1 => 2"];
        assert_eq!(python("def f(a):\n    t = {1: 2}\n    return t[a]\n"), local);
        assert_eq!(javascript("export function f(a) {\n  const T = { 1: 2 };\n  return T[a];\n}\n"), local);
        assert_eq!(go("func F(a int) int {\n\tt := map[int]int{1: 2}\n\treturn t[a]\n}\n"), ["4 1 => 2"]);
        assert_eq!(rust("pub fn f(a: usize) -> u8 {\n    let t = [9];\n    t[a]\n}\n"), ["3 0 => 9"]);
        let apart = ["2 1 => 2", "1 1 => 2"];
        assert_eq!(python("T = {1: 2}\ndef f(a): return T[a]\n"), apart);
        assert_eq!(javascript("const T = { 1: 2 };\nexport const f = (a) => T[a];\n"), apart);
        assert_eq!(go("var t = map[int]int{1: 2}\n\nfunc F(a int) int { return t[a] }\n"), ["4 1 => 2", "2 1 => 2"]);
        let constant = "const T: [(u8, u8); 1] = [(1, 2)];\n";
        let loops = "pub fn f(a: u8) -> u8 { for (k, v) in T { if k == a { return v; } } 0 }\n";
        assert_eq!(rust(&format!("{constant}{loops}")), apart);
        let slice = "static T: &[(u8, u8)] = &[(1, 2)];\npub fn f(a: u8) -> Option<u8> { T.iter().find_map(|(k, v)| (*k == a).then_some(*v)) }\n";
        assert_eq!(rust(slice), apart);
    }

    #[test]
    fn what_is_computed_is_no_answer() {
        for source in [
            "def f(a): return 'Fizz' if a % 3 == 0 else a\n",
            "def f(a): return 1 if a < 2 else a\n",
            "def f(a): return a + 1 if a == 1 else a\n",
            "def f(a): return {1: 2}[a % 2]\n",
            "def f(a): return {1: 2}[1]\n",
            "def f(a):\n    for k, v in [(10, 'X'), (1, 'I')]:\n        while a >= k:\n            return v\n",
            "def f(a): return T[a]\n",
            "def f(a):\n    match a % 3:\n        case 0:\n            return 1\n",
            "def f(a): return {1: a}[a]\n",
        ] {
            assert_eq!(python(source), [""; 0], "{source}");
        }
        assert_eq!(javascript("export const f = (a) => a % 3 === 0 ? 'Fizz' : a;\n"), [""; 0]);
        assert_eq!(go("func F(a int) int { switch a % 3 { case 0: return 1 }; return 0 }\n"), [""; 0]);
        assert_eq!(rust("pub fn f(a: usize) -> u8 { [7, 8][a % 2] }\n"), [""; 0]);
        assert_eq!(rust("pub fn f(a: u8) -> u8 { match a { 0..=3 => 1, n => n } }\n"), [""; 0]);
    }
}
