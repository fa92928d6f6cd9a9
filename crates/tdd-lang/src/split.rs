//! Splits a change with several new tests into changes with one new test each.

use tdd_core::gate::Files;

use crate::language::{Language, Sources};

/// The same change once for each new test, without the other new tests, in source order. The whole change alone if it
/// has fewer than two new tests, or if a test cannot be cut out.
pub fn one_by_one(language: &dyn Language, before: &dyn Sources, files: &Files) -> Vec<Files> {
    let new = new_tests(language, before, files);
    let alone = |wanted: &(String, String)| {
        let others = new.iter().filter(|test| *test != wanted);
        others.into_iter().try_fold(files.clone(), |files, test| without(language, before, files, test))
    };
    let split: Option<Vec<Files>> = new.iter().map(alone).collect();
    split.filter(|split| split.len() > 1).unwrap_or_else(|| vec![files.clone()])
}

/// The tests that the change adds, each with its file.
fn new_tests(language: &dyn Language, before: &dyn Sources, files: &Files) -> Vec<(String, String)> {
    let names = |path: &str, text: &str| -> Vec<String> {
        language.items(path, text).tests.into_iter().map(|test| test.name).collect()
    };
    let mut new = Vec::new();
    for (path, text) in files {
        let old = before.read(path).map(|text| names(path, &text)).unwrap_or_default();
        let now = text.as_deref().map(|text| names(path, text)).unwrap_or_default();
        new.extend(now.into_iter().filter(|name| !old.contains(name)).map(|name| (path.clone(), name)));
    }
    new
}

/// The change without one of its tests. A file that holds nothing new afterwards is left out.
fn without(
    language: &dyn Language,
    before: &dyn Sources,
    mut files: Files,
    unwanted: &(String, String),
) -> Option<Files> {
    let (path, name) = unwanted;
    let text = files.get(path)?.clone()?;
    let items = language.items(path, &text);
    let item = items.tests.iter().find(|item| item.name == *name)?;
    let rest = language.without_test(path, &text, item)?;
    let is_left_over = match before.read(path) {
        Some(old) => old.trim_end() == rest.trim_end(),
        None => items.tests.len() == 1,
    };
    if is_left_over {
        files.remove(path);
    } else {
        files.insert(path.clone(), Some(rest));
    }
    Some(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;
    use crate::python::Python;
    use crate::rust::Rust;

    fn split(language: &dyn Language, before: &[(&str, &str)], files: &[(&str, &str)]) -> Vec<Vec<(String, String)>> {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), Some((*text).to_owned()))).collect();
        let parts = one_by_one(language, &memory(before), &files);
        parts.into_iter().map(|part| part.into_iter().map(|(path, text)| (path, text.unwrap())).collect()).collect()
    }

    const OLD: &str = "from a import f\n\n\ndef test_old():\n    assert f(0) == 0\n";
    const ONE: &str = "\n\ndef test_one():\n    assert f(1) == 1\n";
    const TWO: &str = "\n\ndef test_two():\n    assert f(2) == 2\n";

    #[test]
    fn each_new_test_of_an_answer_stands_alone_with_the_tests_that_were_there() {
        let file = "tests/test_a.py";
        let parts = split(&Python, &[(file, OLD)], &[(file, &format!("{OLD}{ONE}{TWO}"))]);
        let expected = [ONE, TWO].map(|test| vec![(file.to_owned(), format!("{OLD}{test}"))]);
        assert_eq!(parts, expected);
    }

    #[test]
    fn tests_of_new_files_are_split_and_no_file_without_a_test_is_left() {
        let (a, b) = ("use k::f;\n\n#[test]\nfn one() {\n    assert_eq!(f(1), 1);\n}\n", "#[test]\nfn two() {}\n");
        let parts = split(&Rust, &[], &[("tests/a.rs", a), ("tests/b.rs", b)]);
        let alone = |path: &str, text: &str| vec![(path.to_owned(), text.to_owned())];
        assert_eq!(parts, [alone("tests/a.rs", a), alone("tests/b.rs", b)]);
    }

    #[test]
    fn a_change_with_one_new_test_stays_whole() {
        let file = "tests/test_a.py";
        let text = format!("{OLD}{ONE}");
        assert_eq!(split(&Python, &[(file, OLD)], &[(file, &text)]), [[(file.to_owned(), text.clone())]]);
        assert_eq!(split(&Python, &[], &[("a.py", "x = 1\n")]), [[("a.py".to_owned(), "x = 1\n".to_owned())]]);
    }
}
