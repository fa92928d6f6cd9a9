//! Finds the signs of anti-patterns in a project of any language: the walk through its files is shared, the language
//! provides what depends on its syntax.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use tdd_core::change::Sort;
use tdd_core::signs::{Place, Sample, Sensing, Signs, TestSigns};

use super::answers::{self, answers, nodes_within};
use super::compare::Piece;
use crate::code::{Added, Code, File, Item, Role};
use crate::item::{Items, TestItem};
use crate::language::{Project, Sources};
use crate::lookup::FileNames;
use crate::syntax::{FlatTree, SyntaxError, Tree};
use crate::uses::UseSyntax;

/// What a language provides for finding signs, with its knowledge of the whole project.
pub(crate) struct SignFinder<'d, L> {
    /// How to find the uses of names.
    pub use_syntax: UseSyntax,
    /// How to find literals that are mapped to literals.
    pub answers: answers::Facts,
    /// Whether a file belongs to this language.
    pub owns: &'d dyn Fn(&str) -> bool,
    /// Parses a file; `None` if there is no parser.
    pub tree: &'d dyn for<'s> Fn(&str, &'s str) -> Option<Tree<'s, L>>,
    /// The sort of a file.
    pub sort: &'d dyn Fn(&str) -> Sort,
    /// The tests and other items of a file.
    pub items: &'d dyn Fn(&str, &str) -> Items,
    /// The items of a file that are not tests; the flag says whether all of them are test-only.
    pub pieces: &'d Pieces<'d, L>,
    /// What the names of a file refer to.
    pub file_names: &'d dyn Fn(&Tree<'_, L>, &str) -> FileNames,
    /// The role of a piece.
    pub role: &'d RoleOf<'d, L>,
    /// The nodes that belong to a test, the test itself first; empty if it is not found.
    pub nodes: &'d dyn Fn(&Tree<'_, L>, &TestItem) -> Vec<usize>,
    /// Which tests of a file assert something about production.
    pub asserting: &'d Asserting<'d, L>,
    /// Reads a test, given its node.
    pub read_test: &'d ReadTest<'d, L>,
    /// Whether an item runs before the tests of this file without being named there.
    pub runs_before: &'d dyn Fn(&str, &File, &Item) -> bool,
    /// Where an item of production asks whether it is under test, given its nodes.
    pub sensing: &'d Senses<'d, L>,
    /// Whether an item with this name is used implicitly.
    pub is_used: &'d dyn Fn(&str) -> bool,
}

/// Lists the pieces of a file.
pub(crate) type Pieces<'d, L> = dyn Fn(&Tree<'_, L>, &Items, bool) -> Vec<Piece> + 'd;

/// Returns the role of a piece.
pub(crate) type RoleOf<'d, L> = dyn Fn(&Tree<'_, L>, &FileNames, &Piece, &Range<usize>) -> Role + 'd;

/// Says which tests of a file assert something about production.
pub(crate) type Asserting<'d, L> = dyn Fn(&Tree<'_, L>, &str, &[TestItem]) -> Vec<bool> + 'd;

/// Reads a test.
pub(crate) type ReadTest<'d, L> = dyn for<'s> Fn(&Code, &Tree<'s, L>, usize, &TestItem) -> TestReading<'s> + 'd;

/// Finds where an item asks whether it is under test.
pub(crate) type Senses<'d, L> = dyn Fn(&Tree<'_, L>, &[usize], &Place) -> Vec<Sensing> + 'd;

/// What a language reads in one test.
pub(crate) struct TestReading<'s> {
    /// The mocks that the test creates.
    pub mocks: Vec<String>,
    /// The test's names for values that production created, each with the name of its maker.
    pub made: BTreeMap<&'s str, String>,
    /// The literals of the test's comparisons.
    pub samples: Vec<Sample>,
    /// The names of the functions that the test calls.
    pub calls: Vec<&'s str>,
}

/// The signs in these files; names are resolved across the whole project.
pub(crate) fn signs<L>(
    finder: &SignFinder<'_, L>,
    project: &Project,
    sources: &dyn Sources,
    paths: &[String],
) -> Signs {
    let code = read(finder, project, sources);
    let mut signs = Signs::default();
    for path in paths.iter().filter(|path| (finder.owns)(path)) {
        let Some(source) = sources.read(path) else { continue };
        let Some(tree) = (finder.tree)(path, &source) else { continue };
        if !tree.parses() {
            signs.unreadable.push(SyntaxError::into_unreadable(tree.syntax_error(), path));
        }
        match (finder.sort)(path) {
            Sort::Test => {
                let found = (finder.items)(path, &source).tests;
                let asserting = (finder.asserting)(&tree, path, &found);
                let tests = found.iter().zip(asserting);
                signs.tests.extend(
                    tests.filter_map(|(test, asserts)| test_signs(finder, &code, &tree, (path, test), asserts)),
                );
            }
            Sort::Production => production(finder, &tree, path, &source, &mut signs),
            Sort::Steering | Sort::Document => {}
        }
    }
    signs.unreferenced = code.unreferenced(paths, |name| (finder.is_used)(name));
    signs
}

/// Indexes all files of the project in this language.
pub(crate) fn read<L>(finder: &SignFinder<'_, L>, project: &Project, sources: &dyn Sources) -> Code {
    let mut code = Code::default();
    for path in sources.files().iter().filter(|path| (finder.owns)(path) && project.relative_path(path).is_some()) {
        let Some(source) = sources.read(path) else { continue };
        let Some(tree) = (finder.tree)(path, &source) else { continue };
        let (found, for_tests) = ((finder.items)(path, &source), (finder.sort)(path) != Sort::Production);
        let names = (finder.file_names)(&tree, path);
        let tests = found.tests.iter().filter_map(|test| {
            let nodes: Vec<_> = (finder.nodes)(&tree, test).into_iter().map(|node| tree.subtree(node)).collect();
            (!nodes.is_empty()).then(|| (Place::new(path, test.line), test.span.clone(), nodes))
        });
        let added = Added {
            path,
            tree: &tree,
            pieces: (finder.pieces)(&tree, &found, for_tests),
            tests: tests.collect(),
            for_tests,
            names: names.clone(),
            use_syntax: finder.use_syntax,
        };
        code.add(added, |piece, nodes| (finder.role)(&tree, &names, piece, nodes));
    }
    code
}

fn test_signs<L>(
    finder: &SignFinder<'_, L>,
    code: &Code,
    tree: &Tree<'_, L>,
    (path, test): (&str, &TestItem),
    asserts: bool,
) -> Option<TestSigns> {
    let node = (finder.nodes)(tree, test).into_iter().next()?;
    let TestReading { mocks, made, samples, calls } = (finder.read_test)(code, tree, node, test);
    let at = Place::new(path, test.line);
    Some(TestSigns {
        name: test.name.clone(),
        asserts,
        assertions: test.assertions.len(),
        mocks,
        subjects: code.subjects(tree, node, test, &made),
        samples,
        reaches: code.reached(&at, |file, item| (finder.runs_before)(path, file, item)),
        asks: code.places_of(calls.into_iter()),
        at,
    })
}

/// The signs in production code. The code of a class is covered by the class's members.
fn production<L>(finder: &SignFinder<'_, L>, tree: &Tree<'_, L>, path: &str, source: &str, signs: &mut Signs) {
    let pieces = (finder.pieces)(tree, &(finder.items)(path, source), /* for_tests */ false).into_iter();
    let pieces = pieces.filter(|piece| !piece.label.starts_with("class "));
    let items: Vec<(Range<usize>, Place)> =
        pieces.map(|piece| (piece.span.clone(), Place::new(path, piece.line))).collect();
    for (span, item) in &items {
        let nodes: Vec<usize> = nodes_within(tree, 1, span).collect();
        signs.sensing.extend((finder.sensing)(tree, &nodes, item));
    }
    signs.sensing.dedup();
    signs.answers.extend(answers(tree, &items, finder.answers));
}

/// The sample of a comparison: the literals of the sides that ask production, and those of the sides with the expected
/// value. `None` if either has none.
pub(crate) fn sample<L: IntoIterator<Item = String>>(
    calling: Vec<usize>,
    expected: Vec<usize>,
    literals: impl Fn(usize) -> L,
) -> Option<Sample> {
    let all = |sides: Vec<usize>| sides.into_iter().flat_map(&literals).collect::<BTreeSet<_>>();
    let sample = Sample { inputs: all(calling), expected: all(expected) };
    (!sample.inputs.is_empty() && !sample.expected.is_empty()).then_some(sample)
}

/// The sample of a comparison; a side that holds a node of a kind in `calls` asks production.
pub(crate) fn sample_of(
    tree: &FlatTree<'_>,
    sides: Vec<usize>,
    calls: &[&str],
    literal: fn(&FlatTree<'_>, usize) -> Option<String>,
) -> Option<Sample> {
    let has_call = |side: &usize| tree.subtree(*side).any(|at| calls.contains(&tree.kind(at)));
    let (calling, expected): (Vec<usize>, Vec<usize>) = sides.into_iter().partition(has_call);
    sample(calling, expected, |side| literals(tree, side, literal))
}

/// The literals inside a node.
pub(crate) fn literals(
    tree: &FlatTree<'_>,
    node: usize,
    literal: fn(&FlatTree<'_>, usize) -> Option<String>,
) -> Vec<String> {
    tree.subtree(node).filter_map(|inner| literal(tree, inner)).collect()
}
