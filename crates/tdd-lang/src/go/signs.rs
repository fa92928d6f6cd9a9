//! Sees the signs of anti-patterns in Go code: in its syntax, and in what its names lead to.

use std::collections::BTreeMap;

use tdd_core::change::Sort;
use tdd_core::signs::{Answer, Place, Sample, Sensing, Signs, TestSigns};

use super::asks::Asker;
use super::items::{called, function, items};
use super::known::Known;
use super::owns;
use super::pieces::{pieces, receiver};
use super::sort::sort;
use super::suites::methods;
use super::syntax::Tree;
use super::uses::{SPEECH, meanings, role};
use super::value::literals;
use crate::analysis::compare::Piece;
use crate::analysis::signs::{self, nodes_within, sample};
use crate::code::{Added, Code};
use crate::item::TestItem;
use crate::language::{Project, Sources};

/// Words by which production code asks whether it is under test, and what they mean.
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

/// What is seen in these files, among all of the repository's.
pub(super) fn signs(project: &Project, sources: &dyn Sources, paths: &[String]) -> Signs {
    let known = Known::of(project, sources);
    let code = read(project, sources, &known);
    let mut signs = Signs::default();
    for path in paths.iter().filter(|path| owns(path)) {
        let Some(source) = sources.read(path) else { continue };
        let Some(tree) = Tree::parse(&source) else { continue };
        if !tree.parses() {
            signs.unreadable.push(path.clone());
        }
        match sort(path) {
            Sort::Test => {
                let asker = Asker::new(&tree, &known, path);
                let found = items(path, &source).tests;
                signs.tests.extend(found.iter().filter_map(|test| test_signs(&code, &asker, &tree, path, test)));
            }
            Sort::Production => production(&tree, path, &source, &mut signs),
            Sort::Steering | Sort::Document => {}
        }
    }
    signs.unreferenced = code.unreferenced(paths, |name| USED.contains(&name));
    signs
}

/// Used without being named anywhere.
const USED: [&str; 5] = ["main", "init", "_", "String", "Error"];

/// All that the project holds in this language.
pub(super) fn read(project: &Project, sources: &dyn Sources, known: &Known) -> Code {
    let mut code = Code::default();
    let handed = all_methods(project, sources);
    for path in sources.files().iter().filter(|path| owns(path) && project.below(path).is_some()) {
        let Some(source) = sources.read(path) else { continue };
        let Some(tree) = Tree::parse(&source) else { continue };
        let (found, for_tests) = (items(path, &source), sort(path) != Sort::Production);
        let tests = found.tests.iter().filter_map(|test| {
            let node = function(&tree, &test.span)?;
            let parts = std::iter::once(node).chain(methods(&tree, node)).map(|part| tree.inside(part));
            Some((Place::new(path, test.line), test.span.clone(), parts.collect()))
        });
        let is_item = |piece: &Piece| piece.label != "the package's name";
        let added = Added {
            path,
            tree: &tree,
            pieces: pieces(&tree, &found, for_tests).into_iter().filter(is_item).collect(),
            tests: tests.collect(),
            for_tests,
            names: meanings(&tree, path, known),
            speech: SPEECH,
        };
        code.add(added, |piece, nodes| role(&tree, piece, nodes, &handed));
    }
    code
}

/// All methods of all types, each with the name of its type.
fn all_methods(project: &Project, sources: &dyn Sources) -> Vec<(String, String)> {
    let ours = sources.files().iter().filter(|path| owns(path) && project.below(path).is_some());
    let of_file = |path: &String| {
        let source = sources.read(path)?;
        let tree = Tree::parse(&source)?;
        let declared = tree.children(0).filter(|node| tree.kind(*node) == "method_declaration");
        let named = declared.map(|node| (receiver(&tree, node).to_owned(), tree.named(node, "name").to_owned()));
        Some(named.collect::<Vec<_>>())
    };
    ours.filter_map(of_file).flatten().collect()
}

fn test_signs(code: &Code, asker: &Asker<'_, '_>, tree: &Tree<'_>, path: &str, test: &TestItem) -> Option<TestSigns> {
    let node = function(tree, &test.span)?;
    let calls = tree.inside(node).filter(|inner| tree.kind(*inner) == "call_expression");
    let mocks = tree.inside(node).filter(|inner| is_mock(tree, *inner)).map(|inner| tree.text(inner).to_owned());
    Some(TestSigns {
        at: Place::new(path, test.line),
        name: test.name.clone(),
        asserts: !asker.assertions(test).is_empty() && asker.asks_production(test),
        assertions: test.assertions.len(),
        mocks: mocks.collect(),
        subjects: subjects(code, tree, node, test),
        samples: samples(tree, node),
        reaches: code.reached(&Place::new(path, test.line), |_, _| false),
        asks: code.asked(calls.map(|call| called(tree, call))),
    })
}

/// Whether a mock is made: by a constructor that says so, or as a value of a type that does.
fn is_mock(tree: &Tree<'_>, node: usize) -> bool {
    let name = match tree.kind(node) {
        "call_expression" => called(tree, node).strip_prefix("New").unwrap_or_default(),
        "composite_literal" => tree.named(node, "type").rsplit('.').next().unwrap_or_default(),
        _ => "",
    };
    let name = name.to_lowercase();
    name.starts_with("mock") || name.ends_with("mock")
}

/// What the assertions call of production: one name for each, that of the maker for what it made.
fn subjects(code: &Code, tree: &Tree<'_>, node: usize, test: &TestItem) -> Vec<String> {
    let mut made: BTreeMap<&str, String> = BTreeMap::new();
    for given in tree.inside(node).filter(|inner| tree.kind(*inner) == "short_var_declaration") {
        let (Some(left), Some(right)) = (tree.child(given, "left"), tree.child(given, "right")) else { continue };
        let maker = tree.inside(right).find_map(|inner| match tree.kind(inner) {
            "call_expression" => Some(called(tree, inner)).filter(|name| code.has(name)),
            "composite_literal" => Some(tree.named(inner, "type")).filter(|name| code.has(name)),
            _ => None,
        });
        if let Some(maker) = maker {
            // What a method of something made answers is about that.
            let of = tree.names(right).find_map(|name| made.get(name).cloned());
            let maker = of.unwrap_or_else(|| maker.to_owned());
            made.extend(tree.names(left).map(|name| (name, maker.clone())));
        }
    }
    code.subjects(tree, node, test, &made)
}

/// The literals of each comparison: those that go in, and those that are to come out.
fn samples(tree: &Tree<'_>, node: usize) -> Vec<Sample> {
    let mut found = Vec::new();
    for inner in tree.inside(node) {
        let (asked, expected) = match tree.kind(inner) {
            "if_statement" => {
                let Some(condition) = tree.child(inner, "condition") else { continue };
                let sides: Vec<usize> =
                    ["left", "right"].into_iter().filter_map(|side| tree.child(condition, side)).collect();
                let has_call = |side: &usize| tree.inside(*side).any(|at| tree.kind(at) == "call_expression");
                let (mut asked, expected): (Vec<usize>, Vec<usize>) = sides.into_iter().partition(has_call);
                asked.extend(tree.child(inner, "initializer"));
                (asked, expected)
            }
            "call_expression" if called(tree, inner).starts_with("Equal") => {
                let list = tree.child(inner, "arguments");
                let sides: Vec<usize> = list.map(|list| tree.parts(list).take(3).collect()).unwrap_or_default();
                let has_call = |side: &usize| tree.inside(*side).any(|at| tree.kind(at) == "call_expression");
                sides.into_iter().partition(has_call)
            }
            _ => continue,
        };
        found.extend(sample(asked, expected, |side| literals(tree, side)));
    }
    found
}

fn production(tree: &Tree<'_>, path: &str, source: &str, signs: &mut Signs) {
    for piece in pieces(tree, &items(path, source), /* for_tests */ false) {
        let item = Place::new(path, piece.line);
        for node in nodes_within(tree, 0, &piece.span) {
            let what = sense(tree, node);
            signs.sensing.extend(what.map(|what| Sensing { item: item.clone(), line: tree.line(node), what }));
            signs.answers.extend(answer(tree, node, &item));
        }
    }
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
        // A program may read its arguments; one that looks for what only a test binary is called by asks more.
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

/// A comparison with literals that answers with literals: `if x == 1 { return 2 }`.
fn answer(tree: &Tree<'_>, node: usize, item: &Place) -> Option<Answer> {
    let (compared, first) = match tree.kind(node) {
        "if_statement" => {
            let block = tree.child(node, "consequence")?;
            (tree.child(node, "condition")?, *tree.statements(block).first()?)
        }
        "expression_case" => (tree.child(node, "value")?, *tree.statements(node).first()?),
        _ => return None,
    };
    let returned = (tree.kind(first) == "return_statement").then(|| literals(tree, first));
    signs::answer(item, tree.line(node), literals(tree, compared), returned.into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::fixture::memory;

    fn of(production: &str, tests: &str) -> Signs {
        let sources = memory(&[
            ("go.mod", "module calc\n"),
            ("calc.go", &format!("package calc\n{production}")),
            ("calc_test.go", &format!("package calc\nimport \"testing\"\n{tests}")),
        ]);
        let project = Project { root: String::new(), description: String::new() };
        signs(&project, &sources, &["calc.go".to_owned(), "calc_test.go".to_owned()])
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
        let signs = of(production, test);
        let test = &signs.tests[0];
        assert_eq!((test.mocks.len(), test.assertions), (1, 2));
        assert_eq!(test.subjects, ["Add", "Cart"]);
        assert_eq!(test.samples[0].inputs, BTreeSet::from(["1".to_owned()]));
        assert_eq!(signs.answers[0].returned, BTreeSet::from(["2".to_owned()]));
        assert_eq!(signs.unreferenced, BTreeSet::from([Place::new("calc.go", 8)]));
        assert_eq!(test.asks.len(), 1);
    }
}
