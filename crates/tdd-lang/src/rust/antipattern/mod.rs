//! Finds signs of anti-patterns in Rust code, in its syntax and in what its names refer to.

mod asserting;
mod code;
mod mocks;
mod reach;
mod scan;
mod sensing;
mod subjects;

use std::collections::BTreeMap;
use std::ops::Range;

use tdd_core::signs::{Place, Sensing, Signs, TestSigns};

use self::code::{Code, is_name, words};
use self::reach::Reach;
use self::subjects::Assertions;
use super::change::file::File;
use super::syntax::Tree;
use crate::analysis::answers::{self, Choice, Facts, Part};
use crate::item::TestItem;
use crate::language::{Project, Sources};
use crate::syntax::SyntaxError;

/// The syntax with which production code maps literals to literals.
const ANSWERS: Facts = Facts {
    literal: |tree, node| scan::literal_value(tree.kind(node), tree.text(node)),
    choices: &[
        Choice::condition("if_expression"),
        Choice::case("match_arm", Part::Field("pattern"), Part::Field("value")),
    ],
};

/// The signs in these files; names are resolved in the whole repository.
pub fn signs(project: &Project, sources: &dyn Sources, paths: &[String]) -> Signs {
    let code = Code::of(project, sources);
    let reach = Reach::new(&code);
    let mut signs = Signs::default();
    for (number, file) in code.files.iter().enumerate().filter(|(_, file)| paths.contains(&file.path)) {
        if !file.parses {
            let source = sources.read(&file.path).unwrap_or_default();
            let syntax_error = Tree::parse(&source).and_then(|tree| tree.syntax_error());
            signs.unreadable.push(SyntaxError::into_unreadable(syntax_error, &file.path));
        }
        signs.tests.extend(file.tests.iter().map(|test| test_signs(&code, &reach, number, test)));
        production(&code, number, &mut signs);
        signs.documented.insert(file.path.clone(), reach.of_example(&code.example_words(number)));
    }
    let is_asked_for = |place: &Place| paths.contains(&place.path) && !code.is_runner_configuration(&place.path);
    signs.unreferenced = code.unreferenced().into_iter().filter(is_asked_for).collect();
    signs
}

fn test_signs(code: &Code, reach: &Reach<'_>, number: usize, test: &TestItem) -> TestSigns {
    let file = &code.files[number];
    let body = file.inside(&test.span);
    let assertions = Assertions::of(code, file, test);
    TestSigns {
        at: Place::new(&file.path, test.line),
        name: test.name.clone(),
        asserts: asserting::asserts(code, file, test),
        assertions: test.assertions.len(),
        mocks: mocks::mocks(code, file, body.clone()),
        subjects: assertions.subjects(),
        samples: assertions.samples(),
        reaches: reach.of_test(number, body.clone()),
        asks: asks(code, file, body),
    }
}

/// The production items that these tokens call by name.
fn asks(code: &Code, file: &File, body: Range<usize>) -> BTreeMap<Place, String> {
    let calls = body.filter(|at| is_name(file, *at) && matches!(file.text(at + 1), "(" | "{"));
    let called = calls.flat_map(|at| words(file, at..at + 1));
    let meanings = called.flat_map(|word| code.meanings(&word, None).to_vec());
    let meanings = meanings.filter(|node| !code.nodes[*node].for_tests);
    meanings.map(|node| (code.place(node), code.nodes[node].name.clone())).collect()
}

fn production(code: &Code, number: usize, signs: &mut Signs) {
    let file = &code.files[number];
    if code.is_runner_configuration(&file.path) {
        return;
    }
    for piece in file.pieces.iter().filter(|piece| !piece.for_tests) {
        let item = Place::new(&file.path, piece.line);
        let tokens = file.inside(&piece.span);
        let found = sensing::sensing(file, tokens, &piece.label).into_iter();
        let found = found.map(|(at, what)| Sensing { item: item.clone(), line: file.line(at), what });
        signs.sensing.extend(found);
    }
    signs.sensing.dedup();
    if let Some(tree) = Tree::parse(file.source()) {
        let own = file.pieces.iter().filter(|piece| !piece.for_tests);
        let items: Vec<_> = own.map(|piece| (piece.span.clone(), Place::new(&file.path, piece.line))).collect();
        signs.answers.extend(answers::answers(&tree, &items, ANSWERS));
    }
}

#[cfg(test)]
mod tests;
