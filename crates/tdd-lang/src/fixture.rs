//! An in-memory repository and other helpers for tests.

use std::collections::{BTreeMap, BTreeSet};

use tdd_core::change::{Change, ItemChange, TestChange};
use tdd_core::signs::Signs;
use tdd_core::test_id::TestId;

use crate::alter::{Instrumented, NewCode, Request};
use crate::analysis::signs::{SignFinder, read, signs};
use crate::item::{Items, TestItem};
use crate::language::{Language, Project, Skip, Sources};
use crate::twin::Twins;

/// Files by path.
pub(crate) struct Memory {
    paths: Vec<String>,
    texts: Vec<String>,
}

/// A repository of these files.
pub(crate) fn memory(files: &[(&str, &str)]) -> Memory {
    let mut files = files.to_vec();
    files.sort_unstable();
    Memory {
        paths: files.iter().map(|(path, _)| (*path).to_owned()).collect(),
        texts: files.iter().map(|(_, text)| (*text).to_owned()).collect(),
    }
}

/// A repository of a scaffold's files.
pub(crate) fn laid(files: &BTreeMap<String, String>) -> Memory {
    memory(&files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>())
}

impl Sources for Memory {
    fn files(&self) -> &[String] {
        &self.paths
    }

    fn read(&self, path: &str) -> Option<String> {
        let at = self.paths.iter().position(|known| known == path)?;
        Some(self.texts[at].clone())
    }
}

/// The change that a language finds between two repositories.
pub(crate) fn change_between(
    before: &[(&str, &str)],
    after: &[(&str, &str)],
    change: impl Fn(&Project, &dyn Sources, &dyn Sources, &[String]) -> Change,
) -> Change {
    let paths: BTreeSet<String> = before.iter().chain(after).map(|(path, _)| (*path).to_owned()).collect();
    let (before, after) = (memory(before), memory(after));
    let differ = |path: &String| before.read(path) != after.read(path);
    let paths: Vec<String> = paths.into_iter().filter(differ).collect();
    change(&Project { root: String::new(), description: String::new() }, &before, &after, &paths)
}

/// The signs that a language finds in a repository of these files.
pub(crate) fn signs_of(files: &[(&str, &str)], signs: impl Fn(&Project, &dyn Sources, &[String]) -> Signs) -> Signs {
    let paths: Vec<String> = files.iter().map(|(path, _)| (*path).to_owned()).collect();
    signs(&Project { root: String::new(), description: String::new() }, &memory(files), &paths)
}

/// The signs of one test and of the production code beside it, on one line.
pub(crate) fn told_signs(signs: &Signs) -> String {
    let joined = |values: &BTreeSet<String>| values.iter().cloned().collect::<Vec<_>>().join(", ");
    let (test, answer) = (&signs.tests[0], &signs.answers[0]);
    let idle: Vec<String> = signs.unreferenced.iter().map(|place| format!("{}:{}", place.path, place.line)).collect();
    assert_eq!(test.samples[0].inputs, answer.compared);
    format!(
        "{} mocks, {} assertions on {}; {} => {}; {} is idle; asks {}",
        test.mocks.len(),
        test.assertions,
        test.subjects.join(", "),
        joined(&answer.compared),
        joined(&answer.returned),
        idle.join(", "),
        test.asks.len(),
    )
}

/// Inspects a project through a language's [`SignFinder`].
type Look<'l, L> = &'l dyn Fn(&SignFinder<'_, L>) -> Vec<String>;

/// The labels of the production items in these files that no test reaches.
pub(crate) fn left<L>(
    files: &[(&str, &str)],
    with_finder: impl Fn(&Project, &dyn Sources, Look<'_, L>) -> Vec<String>,
) -> Vec<String> {
    let sources = memory(files);
    let project = Project { root: String::new(), description: String::new() };
    let paths: Vec<String> = files.iter().map(|(path, _)| (*path).to_owned()).collect();
    with_finder(&project, &sources, &|finder| {
        let signs = signs(finder, &project, &sources, &paths);
        let reached: BTreeSet<_> = signs.tests.iter().flat_map(|test| &test.reaches).collect();
        let code = read(finder, &project, &sources);
        let left = code.items.iter().filter(|item| !item.for_tests && !reached.contains(&item.at));
        left.map(|item| item.label.clone()).collect()
    })
}

/// A repository of these files with everything in one of them instrumented by a language, and the names of its functions.
pub(crate) fn instrumented_by(
    instrument: impl Fn(&Request<'_>) -> Option<Instrumented>,
    files: &[(&str, &str)],
    path: &str,
) -> Option<(Instrumented, Vec<String>)> {
    let made = instrument(&Request {
        project: &Project { root: String::new(), description: String::new() },
        sources: &memory(files),
        code: &[NewCode::whole(path)],
        seed: 1,
        root: "/s",
        first: 0,
        is_mild: false,
    })?;
    let names = made.functions.iter().map(|function| function.name.clone()).collect();
    Some((made, names))
}

/// The tests that a language added to a file parse, and are found in it again.
#[track_caller]
pub(crate) fn assert_copies_stand(path: &str, twins: &Twins, found: &Items) {
    assert!(found.parses, "{}", twins.source);
    let names: Vec<TestId> = found.tests.iter().map(|test| TestId::native(path, &test.name)).collect();
    assert!(twins.ids().iter().all(|id| names.contains(id)), "{}", twins.source);
}

/// Each of these tests, a source and a name, is skipped for this reason, either way, and runs again as it was.
#[track_caller]
pub(crate) fn assert_skip_is_undone(
    language: &dyn Language,
    path: &str,
    test: fn(&str, &str) -> TestItem,
    tests: &[(&str, &str)],
    reason: &str,
) {
    for skip in [Skip::FromRunning, Skip::FromBuilding] {
        for (source, name) in tests {
            let marked = language.skip(path, source, &test(source, name), reason, skip).unwrap();
            assert!(test(&marked, name).ignored.is_some(), "{marked}");
            let undone = language.unskip(path, &marked, &test(&marked, name));
            assert_eq!(undone.as_deref(), Some(*source), "{marked}");
        }
    }
}

/// A change, one line for each part of it.
pub(crate) fn told(change: &Change) -> Vec<String> {
    let test = |test: &TestChange| match test {
        TestChange::Added(facts) => format!("+{}", facts.id),
        TestChange::Removed(facts) => format!("-{}", facts.id),
        TestChange::Moved { before, after } => format!("{} -> {}", before.id, after.id),
        TestChange::Changed { after, only_added, .. } => format!("~{} {only_added}", after.id),
    };
    let item = |kind: &'static str| move |item: &ItemChange| format!("{kind} {} {:?}", item.item, item.fate);
    let steering =
        change.steering.iter().map(|it| format!("steering {}{}", it.what, if it.free { " free" } else { "" }));
    let found = change.tests.iter().map(test).chain(change.support.iter().map(item("support")));
    let found = found.chain(change.production.iter().map(item("production"))).chain(steering);
    found.chain(change.unreadable.iter().map(|it| format!("unreadable {}", it.place.path))).collect()
}
