//! A repository held in memory, for tests.

use std::collections::{BTreeMap, BTreeSet};

use tdd_core::change::{Change, ItemChange, TestChange};

use crate::language::{Project, Sources};

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

/// What a language says of the change between two repositories of these files.
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
