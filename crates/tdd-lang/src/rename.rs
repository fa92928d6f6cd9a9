//! Separates a consistent rename of production items, in production and tests, from a real change of tests.

use std::collections::BTreeMap;

use tdd_core::change::{Change, ItemChange, ItemFate};

use crate::language::{Language, Project, Sources};

/// The change, with its tests and helpers as if nothing had been renamed.
///
/// Renamed production items get their old names back in all files: identifiers only, never string literals. A test that
/// still differs was really changed.
pub fn put_back(
    language: &dyn Language,
    project: &Project,
    (before, after): (&dyn Sources, &dyn Sources),
    paths: &[String],
    change: Change,
) -> Change {
    let names = renamed(&change.production);
    if names.is_empty() || (change.tests.is_empty() && change.support.is_empty()) {
        return change;
    }
    let after = PutBack { sources: after, language, names };
    let Change { tests, mut support, .. } = language.change(project, before, &after, paths);
    // Data keeps the sort that its readers gave it.
    let is_data = |item: &ItemChange| item.item.starts_with("the file ") && !language.owns(&item.path);
    support.retain(|item| !is_data(item));
    support.extend(change.support.iter().filter(|item| is_data(item)).cloned());
    Change { tests, support, ..change }
}

/// New names with their old names, for files in which as many items were removed as added.
fn renamed(items: &[ItemChange]) -> BTreeMap<String, String> {
    let mut by_file: BTreeMap<&str, (Vec<&str>, Vec<&str>)> = BTreeMap::new();
    for item in items {
        let (gone, new) = by_file.entry(&item.path).or_default();
        match (item.fate, name(&item.item)) {
            (ItemFate::Removed, Some(name)) => gone.push(name),
            (ItemFate::Added, Some(name)) => new.push(name),
            (ItemFate::Changed, _) | (_, None) => {}
        }
    }
    let pairs = by_file.into_values().filter(|(gone, new)| gone.len() == new.len());
    let pairs = pairs.flat_map(|(gone, new)| new.into_iter().zip(gone));
    pairs.filter(|(new, gone)| new != gone).map(|(new, gone)| (new.to_owned(), gone.to_owned())).collect()
}

/// The last part of the name in "fn `Calc::add`".
fn name(item: &str) -> Option<&str> {
    let full = item.split('`').nth(1)?;
    let last = full.rsplit(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).next()?;
    (!last.is_empty()).then_some(last)
}

/// Sources with the old names put back.
struct PutBack<'a> {
    sources: &'a dyn Sources,
    language: &'a dyn Language,
    names: BTreeMap<String, String>,
}

impl Sources for PutBack<'_> {
    fn files(&self) -> &[String] {
        self.sources.files()
    }

    fn read(&self, path: &str) -> Option<String> {
        self.sources.read(path).map(|source| self.language.renamed(path, source, &self.names))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;

    type Files<'a> = &'a [(&'a str, &'a str)];

    /// How many tests and how many test helpers changed, apart from renames.
    fn left(language: &dyn Language, before: Files<'_>, after: Files<'_>) -> (usize, usize) {
        let project = Project { root: String::new(), description: String::new() };
        let (before, after) = (memory(before), memory(after));
        let paths: Vec<String> =
            after.files().iter().filter(|path| before.read(path) != after.read(path)).cloned().collect();
        let change = language.change(&project, &before, &after, &paths);
        assert!(!change.tests.is_empty() || !change.support.is_empty());
        let change = put_back(language, &project, (&before, &after), &paths, change);
        assert!(!change.production.is_empty());
        (change.tests.len(), change.support.len())
    }

    fn borrowed<'f>(files: &'f [(&'f str, String)]) -> Vec<(&'f str, &'f str)> {
        files.iter().map(|(path, text)| (*path, text.as_str())).collect()
    }

    /// A Rust project with a function of this name, and a test that calls that name and expects this value.
    fn rust(name: &str, called: &str, value: u32) -> Vec<(&'static str, String)> {
        vec![
            ("Cargo.toml", "[package]\nname = \"calc\"\nedition = \"2024\"\n".to_owned()),
            ("src/lib.rs", format!("pub fn {name}(a: u32) -> u32 {{\n    a + 1\n}}\n")),
            (
                "tests/calc.rs",
                format!(
                    "use calc::{called};\n\n#[test]\nfn adds() {{\n    assert_eq!({called}(1), {value}, \"add\");\n}}\n"
                ),
            ),
        ]
    }

    #[test]
    fn a_name_that_changes_everywhere_is_no_change_of_tests() {
        let before = rust("add", "add", 2);
        let left = |after: &[(&str, String)]| left(&crate::rust::Rust, &borrowed(&before), &borrowed(after));
        assert_eq!(left(&rust("succ", "succ", 2)), (0, 0));
        assert_ne!(left(&rust("succ", "succ", 3)), (0, 0));
        assert_ne!(left(&rust("succ", "other", 2)), (0, 0));
    }

    /// The same for a change that only gives the function `NAME` of these files another name.
    fn left_of_rename(language: &dyn Language, [old, new]: [&str; 2], files: Files<'_>) -> (usize, usize) {
        let named = |name: &str| files.iter().map(|(path, text)| (*path, text.replace("NAME", name))).collect();
        let (before, after): (Vec<_>, Vec<_>) = (named(old), named(new));
        left(language, &borrowed(&before), &borrowed(&after))
    }

    #[test]
    fn other_languages_know_their_names_too() {
        let test = "from calc import NAME\n\n\ndef test_adds():\n    assert NAME(1) == 2, 'add'\n";
        let python = [("calc.py", "def NAME(a):\n    return a + 1\n"), ("tests/test_calc.py", test)];
        assert_eq!(left_of_rename(&crate::python::Python, ["add", "succ"], &python), (0, 0));
        let test = "package calc\n\nimport \"testing\"\n\nfunc TestAdds(t *testing.T) {\n\tif NAME(1) != 2 {\n\t\tt.Error(\"Add\")\n\t}\n}\n";
        let code = "package calc\n\nfunc NAME(a int) int {\n\treturn a + 1\n}\n";
        let go = [("go.mod", "module calc\n"), ("calc.go", code), ("calc_test.go", test)];
        assert_eq!(left_of_rename(&crate::go::Go, ["Add", "Succ"], &go), (0, 0));
        let test = "import { test } from 'node:test';\nimport assert from 'node:assert/strict';\nimport { NAME } from '../src/calc.js';\n\ntest('add', () => {\n  assert.equal(NAME(1), 2);\n});\n";
        let code = "export function NAME(a) {\n  return a + 1;\n}\n";
        let manifest = ("package.json", "{\"type\": \"module\"}");
        let javascript = [manifest, ("src/calc.js", code), ("test/calc.test.js", test)];
        assert_eq!(left_of_rename(&crate::javascript::JavaScript::Plain, ["add", "succ"], &javascript), (0, 0));
    }
}
