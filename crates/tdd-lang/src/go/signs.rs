//! Finds the signs of anti-patterns in Go code.

use std::collections::BTreeMap;

use tdd_core::signs::{Place, Sample, Sensing, Signs};

use super::asks::DependencyFinder;
use super::items::{called, function, items};
use super::known::PackageIndex;
use super::pieces::{pieces, receiver};
use super::sort::sort;
use super::suites::methods;
use super::syntax::Tree;
use super::uses::{USE_SYNTAX, file_names, role};
use super::value::literal;
use super::{Go, owns};
use crate::analysis::answers::{Choice, Facts, Part};
use crate::analysis::compare::Piece;
use crate::analysis::signs::{self, SignFinder, TestReading, literals, sample};
use crate::code::Code;
use crate::item::TestItem;
use crate::language::{Project, Sources};

/// Calls by which production code asks whether it is under test, each with its description.
const SENSING: [(&str, &str); 11] = [
    ("testing.Testing(", "`testing.Testing()`"),
    ("testing.Short(", "`testing.Short()`"),
    ("testing.Verbose(", "`testing.Verbose()`"),
    ("testing.CoverMode(", "`testing.CoverMode()`"),
    ("flag.Lookup(", "a flag that the test binary has"),
    ("flag.CommandLine.Lookup(", "a flag that the test binary has"),
    ("flag.VisitAll(", "a flag that the test binary has"),
    ("runtime.Caller(", "the caller's file"),
    ("runtime.Callers(", "the call stack"),
    ("runtime.Stack(", "the call stack"),
    ("debug.Stack(", "the call stack"),
];

/// Names that are used implicitly.
const USED: [&str; 5] = ["main", "init", "_", "String", "Error"];

/// The signs in these files; names are resolved across the whole module.
pub(super) fn signs(project: &Project, sources: &dyn Sources, paths: &[String]) -> Signs {
    with_finder(project, sources, &|finder| signs::signs(finder, project, sources, paths))
}

/// Calls `look` with what Go provides for finding signs in this module.
pub(super) fn with_finder<T>(project: &Project, sources: &dyn Sources, look: &dyn Fn(&SignFinder<'_, Go>) -> T) -> T {
    let (known, handed) = (PackageIndex::of(project, sources), all_methods(project, sources));
    look(&SignFinder {
        use_syntax: USE_SYNTAX,
        answers: ANSWERS,
        owns: &owns,
        tree: &|_, source| Tree::parse(source),
        sort: &sort,
        items: &items,
        pieces: &|tree, found, for_tests| {
            let is_item = |piece: &Piece| piece.label != "the package's name";
            pieces(tree, found, for_tests).into_iter().filter(is_item).collect()
        },
        file_names: &|tree, path| file_names(tree, path, &known),
        role: &|tree, _, piece, nodes| role(tree, piece, nodes, &handed),
        nodes: &nodes,
        asserting: &|tree, path, tests| {
            let finder = DependencyFinder::new(tree, &known, path);
            tests.iter().map(|test| finder.asserts(test)).collect()
        },
        read_test: &read_test,
        runs_before: &|_, _, _| false,
        sensing: &sensing,
        is_used: &|name| USED.contains(&name),
    })
}

/// How to find production code that maps literals to literals.
const ANSWERS: Facts = Facts {
    literal,
    choices: &[
        Choice::condition("if_statement"),
        Choice::case("expression_case", Part::Field("value"), Part::Kind("statement_list")),
    ],
};

fn nodes(tree: &Tree<'_>, test: &TestItem) -> Vec<usize> {
    let node = function(tree, &test.span);
    node.into_iter().flat_map(|node| std::iter::once(node).chain(methods(tree, node))).collect()
}

fn read_test<'s>(code: &Code, tree: &Tree<'s>, node: usize, _: &TestItem) -> TestReading<'s> {
    let calls = tree.subtree(node).filter(|inner| tree.kind(*inner) == "call_expression");
    let mocks = tree.subtree(node).filter(|inner| is_mock(tree, *inner)).map(|inner| tree.text(inner).to_owned());
    let (mocks, made) = (mocks.collect(), made(code, tree, node));
    TestReading { mocks, made, samples: samples(tree, node), calls: calls.map(|call| called(tree, call)).collect() }
}

fn sensing(tree: &Tree<'_>, nodes: &[usize], item: &Place) -> Vec<Sensing> {
    let senses =
        |node: usize| sense(tree, node).map(|what| Sensing { item: item.clone(), line: tree.line(node), what });
    nodes.iter().copied().filter_map(senses).collect()
}

/// All methods of all types, each with the name of its type.
fn all_methods(project: &Project, sources: &dyn Sources) -> Vec<(String, String)> {
    let ours = sources.files().iter().filter(|path| owns(path) && project.relative_path(path).is_some());
    let of_file = |path: &String| {
        let source = sources.read(path)?;
        let tree = Tree::parse(&source)?;
        let declared = tree.children(0).filter(|node| tree.kind(*node) == "method_declaration");
        let named = declared.map(|node| (receiver(&tree, node).to_owned(), tree.named(node, "name").to_owned()));
        Some(named.collect::<Vec<_>>())
    };
    ours.filter_map(of_file).flatten().collect()
}

/// Whether a node creates a mock: it calls a constructor, or builds a type, whose name says so.
fn is_mock(tree: &Tree<'_>, node: usize) -> bool {
    let name = match tree.kind(node) {
        "call_expression" => called(tree, node).strip_prefix("New").unwrap_or_default(),
        "composite_literal" => tree.named(node, "type").rsplit('.').next().unwrap_or_default(),
        _ => "",
    };
    let name = name.to_lowercase();
    name.starts_with("mock") || name.ends_with("mock")
}

/// The test's names for values that production created, each with the name of its maker.
fn made<'s>(code: &Code, tree: &Tree<'s>, node: usize) -> BTreeMap<&'s str, String> {
    let mut made: BTreeMap<&str, String> = BTreeMap::new();
    for given in tree.subtree(node).filter(|inner| tree.kind(*inner) == "short_var_declaration") {
        let (Some(left), Some(right)) = (tree.child(given, "left"), tree.child(given, "right")) else { continue };
        let maker = tree.subtree(right).find_map(|inner| match tree.kind(inner) {
            "call_expression" => Some(called(tree, inner)).filter(|name| code.has(name)),
            "composite_literal" => Some(tree.named(inner, "type")).filter(|name| code.has(name)),
            _ => None,
        });
        if let Some(maker) = maker {
            // The result of a method of such a value has the same maker.
            let of = tree.names(right).find_map(|name| made.get(name).cloned());
            let maker = of.unwrap_or_else(|| maker.to_owned());
            made.extend(tree.names(left).map(|name| (name, maker.clone())));
        }
    }
    made
}

/// The literals of each comparison: inputs and expected values.
fn samples(tree: &Tree<'_>, node: usize) -> Vec<Sample> {
    let mut found = Vec::new();
    for inner in tree.subtree(node) {
        let (calling, expected) = match tree.kind(inner) {
            "if_statement" => {
                let Some(condition) = tree.child(inner, "condition") else { continue };
                let sides: Vec<usize> =
                    ["left", "right"].into_iter().filter_map(|side| tree.child(condition, side)).collect();
                let has_call = |side: &usize| tree.subtree(*side).any(|at| tree.kind(at) == "call_expression");
                let (mut calling, expected): (Vec<usize>, Vec<usize>) = sides.into_iter().partition(has_call);
                calling.extend(tree.child(inner, "initializer"));
                (calling, expected)
            }
            "call_expression" if called(tree, inner).starts_with("Equal") => {
                let list = tree.child(inner, "arguments");
                let sides: Vec<usize> = list.map(|list| tree.parts(list).take(3).collect()).unwrap_or_default();
                let has_call = |side: &usize| tree.subtree(*side).any(|at| tree.kind(at) == "call_expression");
                sides.into_iter().partition(has_call)
            }
            _ => continue,
        };
        found.extend(sample(calling, expected, |side| literals(tree, side, literal)));
    }
    found
}

fn sense(tree: &Tree<'_>, node: usize) -> Option<String> {
    let text = tree.text(node);
    match tree.kind(node) {
        "call_expression" => {
            let is_it = |(words, _): &&(&str, &str)| text.starts_with(words);
            SENSING.iter().find(is_it).map(|(_, what)| (*what).to_owned())
        }
        "import_spec" => {
            let package = tree.named(node, "path").trim_matches(['"', '`']);
            (package == "testing" || package.starts_with("testing/")).then(|| "an import of `testing`".to_owned())
        }
        // A program may read its arguments; but a text that only fits a test binary is a sign.
        "interpreted_string_literal" | "raw_string_literal" => {
            let text = text.trim_matches(['"', '`']);
            let is_name = text == ".test" || text.ends_with("_test.go");
            let is_flag = text.starts_with("test.") || text.contains("-test.") || text.contains("paniconexit0");
            let is_sign = is_name || is_flag;
            is_sign.then(|| "what a test binary is called or told".to_owned())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{signs_of, told_signs};

    fn of(production: &str, tests: &str) -> Signs {
        let production = format!("package calc\n{production}");
        let tests = format!("package calc\nimport \"testing\"\n{tests}");
        signs_of(&[("go.mod", "module calc\n"), ("calc.go", &production), ("calc_test.go", &tests)], signs)
    }

    #[test]
    fn helpers_and_methods_that_others_call_lead_on() {
        let production =
            "type Cart struct{}\n\nfunc (c Cart) String() string { return \"\" }\n\nfunc (c Cart) Other() {}\n";
        let helper = "func cart() Cart { return Cart{} }\n\nfunc TestA(t *testing.T) {\n\tif fmt.Sprint(cart()) != \"x\" {\n\t\tt.Fail()\n\t}\n}\n";
        assert_eq!(of(production, helper).tests[0].reaches.len(), 2);
        let unused = helper.replace("cart())", "other())");
        assert!(of(production, &unused).tests[0].reaches.is_empty());
    }

    #[test]
    fn production_code_that_asks_whether_it_is_under_test_is_seen() {
        for body in [
            "if testing.Testing() { return 1 }",
            "if flag.Lookup(\"test.v\") != nil { return 1 }",
            "if strings.HasSuffix(os.Args[0], \".test\") { return 1 }",
            "_, file, _, _ := runtime.Caller(1)\n_ = file",
        ] {
            assert!(!of(&format!("func F() int {{\n{body}\nreturn 0 }}\n"), "").sensing.is_empty(), "{body}");
        }
        assert_eq!(of("import \"testing\"\n", "").sensing.len(), 1);
        assert!(of("func F(a int) string { return os.Args[a] }\n", "").sensing.is_empty());
    }

    #[test]
    fn a_test_without_an_assertion_about_production_is_empty() {
        let asserts = |body: &str| {
            of("func Add(a int) int { return a }\n", &format!("func TestA(t *testing.T) {{\n{body}\n}}\n")).tests[0]
                .asserts
        };
        assert!(asserts("if Add(1) != 1 { t.Error() }"));
        assert!(!asserts("Add(1)"));
        assert!(!asserts("Add(1)\nif 1 != 1 { t.Error() }"));
    }

    #[test]
    fn mocks_subjects_samples_and_answers_are_told() {
        let production = "func Add(a int) int {\nif a == 1 {\nreturn 2\n}\nreturn 0\n}\nfunc Unused() {}\ntype Cart struct{ A int }\n";
        let test = "func TestA(t *testing.T) {\nm := NewMockStore()\n_ = m\ncart := Cart{}\nif Add(1) != 2 { t.Error() }\nif cart.A != 1 { t.Error() }\n}\n";
        let expected = "1 mocks, 2 assertions on Add, Cart; 1 => 2; calc.go:8 is idle; asks 1";
        assert_eq!(told_signs(&of(production, test)), expected);
    }
}
