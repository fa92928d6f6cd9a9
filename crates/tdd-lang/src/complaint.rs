//! Finds the places that the output of a check or compiler points to, and decides whether all of them are in tests.

/// A place that an error points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// The file, as the output names it.
    pub path: &'a str,
    /// The line, from 1.
    pub line: usize,
}

/// Whether every error in the output has a place, and all of these places are in tests; false if that is unclear.
pub fn only_in_tests(output: &str, is_test: impl Fn(Place<'_>) -> bool) -> bool {
    let places = if output.lines().any(is_error) { of_rustc(output) } else { Some(of_linter(output)) };
    places.is_some_and(|places| !places.is_empty() && places.into_iter().all(is_test))
}

/// The first place of each error; `None` if an error has no place.
fn of_rustc(output: &str) -> Option<Vec<Place<'_>>> {
    let mut places = Vec::new();
    let mut open = false;
    for line in output.lines() {
        let headline = is_error(line) || line.starts_with("warning");
        if headline && open {
            return None;
        }
        if headline {
            open = is_error(line);
        } else if let Some(place) = arrow(line).filter(|_| open) {
            places.push(place);
            open = false;
        }
    }
    (!open).then_some(places)
}

/// Whether a line is an error, and not a summary of other errors.
fn is_error(line: &str) -> bool {
    let sum = ["error: could not compile", "error: aborting due to"].iter().any(|sum| line.starts_with(sum));
    (line.starts_with("error:") || line.starts_with("error[")) && !sum
}

/// Every place in the output: after an arrow, or at the start of a line.
fn of_linter(output: &str) -> Vec<Place<'_>> {
    output.lines().filter_map(|line| arrow(line).or_else(|| at_front(line))).collect()
}

/// `  --> tests/add.rs:5:9`
fn arrow(line: &str) -> Option<Place<'_>> {
    let mut parts = line.trim_start().strip_prefix("--> ")?.trim().rsplitn(3, ':');
    let (_column, row, path) = (parts.next()?, parts.next()?, parts.next()?);
    Some(Place { path, line: row.parse().ok()? })
}

/// `tests/test_add.py:5:9: F401 …`
fn at_front(line: &str) -> Option<Place<'_>> {
    let (path, rest) = line.split_once(':')?;
    let (row, _) = rest.split_once(':')?;
    Some(Place { path, line: row.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(said: &str, expected: bool) {
        assert_eq!(only_in_tests(said, |place| place.path.starts_with("tests/")), expected, "{said}");
    }

    #[test]
    fn errors_that_all_point_into_tests_are_the_tests_own() {
        let unused = "error: unused import: `sub`\n --> tests/add.rs:1:17\n  |\n  = note: x\n";
        let sum = "\nerror: could not compile `kata` (test \"add\") due to 1 previous error\n";
        check(&format!("    Checking kata v0.1.0\n{unused}{sum}"), true);
        let with_note = unused.to_owned() + "note: defined here\n --> src/lib.rs:1:1\n";
        check(&with_note, true);
        check(&format!("{unused}\nerror[E0425]: x\n --> src/lib.rs:3:1\n"), false);
        check(&format!("error: the lock file needs an update\n\n{unused}"), false);
        check(&format!("{unused}\nerror: no such command: `clippi`\n"), false);
        check(&format!("warning: x\n --> src/lib.rs:1:1\n\n{unused}"), true);
        check("", false);
    }

    #[test]
    fn linters_name_places_in_front_or_behind_an_arrow() {
        check("tests/test_a.py:1:8: F401 `os` imported but unused\nFound 1 error.\n", true);
        check("F401 [*] `os` imported but unused\n --> tests/test_a.py:1:8\n  |\n1 | import os\n", true);
        check("F401 x\n --> tests/test_a.py:1:8\n\nF401 x\n --> calc.py:1:8\n", false);
        check("calc.py:3: error: x\n", false);
        check("Traceback (most recent call last):\n", false);
    }
}
