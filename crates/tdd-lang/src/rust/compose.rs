//! Combines the tests of one version of a file with the production code of another.

use super::items::items;

/// The file with the production code of `before` and the tests of `after`; a missing file has neither. `None` if there
/// are no tests in either.
pub fn compose(path: &str, before: Option<&str>, after: Option<&str>) -> Option<String> {
    let has_tests = |source: Option<&str>| source.is_some_and(|source| !items(path, source).test_ranges.is_empty());
    if !has_tests(before) && !has_tests(after) {
        return None;
    }
    let production = before.map_or_else(String::new, |source| without_tests(path, source));
    let tests = after.map_or_else(String::new, |source| tests_of(path, source));
    Some(match (production.trim().is_empty(), tests.is_empty()) {
        (true, _) => tests,
        (false, true) => production,
        (false, false) => format!("{}\n\n{tests}", production.trim_end()),
    })
}

fn without_tests(path: &str, source: &str) -> String {
    let mut rest = String::with_capacity(source.len());
    let mut from = 0;
    for range in items(path, source).test_ranges {
        rest.push_str(&source[from..range.start]);
        from = range.end;
    }
    rest.push_str(&source[from..]);
    rest
}

fn tests_of(path: &str, source: &str) -> String {
    let mut tests = String::new();
    for range in items(path, source).test_ranges {
        tests.push_str(source[range].trim_end());
        tests.push('\n');
    }
    tests
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn old() {}\n}\n\nfn b() {}\n";
    const AFTER: &str = "fn a() { new(); }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn fresh() {}\n}\n";

    #[test]
    fn production_is_of_before_and_tests_are_of_after() {
        let composed = compose("src/lib.rs", Some(BEFORE), Some(AFTER)).unwrap();
        assert_eq!(
            composed,
            "fn a() {}\n\n\n\nfn b() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn fresh() {}\n}\n"
        );
    }

    #[test]
    fn a_test_file_is_that_of_after() {
        let check = |before, after, expected: &str| {
            assert_eq!(compose("tests/a.rs", before, after).as_deref(), Some(expected));
        };
        check(Some("fn helper() {}\n"), Some("fn other() {}\n"), "fn other() {}\n");
        check(None, Some("fn other() {}\n"), "fn other() {}\n");
        check(Some("fn helper() {}\n"), None, "");
    }

    #[test]
    fn a_new_file_has_only_its_tests_and_a_file_without_tests_is_as_before() {
        let tests = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn fresh() {}\n}\n";
        assert_eq!(compose("src/n.rs", None, Some(AFTER)).as_deref(), Some(tests));
        assert_eq!(compose("src/n.rs", Some("fn a() {}\n"), Some("fn b() {}\n")), None);
    }
}
