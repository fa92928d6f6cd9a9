//! Finds out why a test failed: because production code is missing, because of an assertion, or for another reason.

use tdd_core::change::Sort;
use tdd_core::report::Cause;

use crate::language::join;
use crate::python::asks::DependencyFinder;
use crate::python::manifest::requirements;
use crate::python::modules::{Modules, definitions};
use crate::python::sort::sort;
use crate::python::syntax::Tree;
use crate::run::{DiagnosisContext, Moment};

use super::events::Error;

/// Files that list requirements.
const DECLARING: [&str; 4] = ["pyproject.toml", "requirements.txt", "requirements-dev.txt", "Pipfile"];

/// Exceptions that mean an unmet expectation, also that of an example in documentation.
const FAILING: [&str; 4] = ["AssertionError", "Failed", "DocTestFailure", "MultipleDoctestFailures"];

/// What pytest says about a coroutine that nothing runs: the plugin for it is missing, or the test has no mark for it.
const NOT_AWAITED: &str = "async def functions are not natively supported";

/// Finds the causes of failures in one run.
pub(super) type Diagnosis<'d> = DiagnosisContext<'d, Modules>;

impl Diagnosis<'_> {
    /// Why this exception was raised.
    pub(super) fn cause(&self, error: &Error, moment: Moment) -> Cause {
        if error.is("SyntaxError") && error.from.is_some() {
            return Cause::SyntaxError;
        }
        if error.kind == "Failed" && error.message.starts_with(NOT_AWAITED) {
            return Cause::LoadFailure;
        }
        if moment != Moment::Loading && FAILING.iter().any(|kind| error.is(kind)) {
            return Cause::Assertion;
        }
        let place = error.frames.last().map(|(path, line)| (join(&self.project.root, path), *line));
        let sort = place.as_ref().map_or(Sort::Test, |(path, _)| sort(path, self.modules.names()));
        match (sort, moment) {
            (Sort::Steering, _) | (Sort::Production, Moment::Loading) => Cause::LoadFailure,
            (Sort::Production, Moment::Around | Moment::Running) => Cause::Assertion,
            (Sort::Test | Sort::Document, _) if is_exit(error) => Cause::Crash,
            (Sort::Test | Sort::Document, _) if self.is_missing(error, place.as_ref()) => Cause::MissingSymbol,
            (Sort::Test | Sort::Document, Moment::Loading) => Cause::LoadFailure,
            (Sort::Test | Sort::Document, Moment::Around | Moment::Running) => self.in_test(place, moment),
        }
    }

    /// The cause of an exception in the test's own code: it is about production if the line depends on production.
    fn in_test(&self, place: Option<(String, usize)>, moment: Moment) -> Cause {
        let asks = place.is_some_and(|(path, line)| self.with_finder(&path, |finder| finder.line_asks(line)));
        match (asks, moment) {
            (true, _) => Cause::Assertion,
            (false, Moment::Running) => Cause::UnrelatedFailure,
            (false, Moment::Around | Moment::Loading) => Cause::LoadFailure,
        }
    }

    /// Whether the test uses something that production does not have.
    fn is_missing(&self, error: &Error, place: Option<&(String, usize)>) -> bool {
        let is_production = |path: &Option<String>| {
            path.as_ref()
                .is_some_and(|path| sort(&join(&self.project.root, path), self.modules.names()) == Sort::Production)
        };
        if error.is("ModuleNotFoundError") {
            let name = error.name.as_deref().unwrap_or_default();
            return match error.found.as_deref() {
                Some("outside") => false,
                Some(_) => is_production(&error.found),
                None => self.modules.is_wanted(name, &self.declared()) && !self.is_out_of_reach(error),
            };
        }
        if error.is("ImportError") || error.is("AttributeError") {
            return is_production(&error.from);
        }
        if error.is("NameError") {
            let has_star = |finder: &DependencyFinder<'_, '_>| finder.has_star();
            return place.is_some_and(|(path, _)| self.with_finder(path, has_star));
        }
        error.is("TypeError") && self.is_about_production(&error.message)
    }

    /// What to do about a module that exists but cannot be imported.
    pub(super) fn way_out(&self, error: &Error) -> Option<String> {
        let name = error.name.as_deref().unwrap_or_default();
        self.is_out_of_reach(error).then(|| {
            format!(
                "`{name}` is in the project, and cannot be imported: install the project (`pip install -e .`), or set \
                 `pythonpath = [\"src\"]` for pytest"
            )
        })
    }

    /// Whether a module that cannot be imported exists in the project.
    fn is_out_of_reach(&self, error: &Error) -> bool {
        let is_there = |name: &String| self.modules.has(name);
        error.is("ModuleNotFoundError") && error.found.is_none() && error.name.as_ref().is_some_and(is_there)
    }

    /// Whether an error about types or arguments names a function or a class of production.
    fn is_about_production(&self, message: &str) -> bool {
        let known = self.defined(definitions);
        let mut words = message.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        words.any(|word| word.len() > 1 && !word.starts_with("__") && known.contains(word))
    }

    fn declared(&self) -> String {
        let read = |name: &&str| {
            let text = self.sources.read(&join(&self.project.root, name))?;
            Some(requirements(name, &text))
        };
        DECLARING.iter().filter_map(read).collect::<Vec<_>>().join("\n")
    }

    fn with_finder(&self, path: &str, ask: impl FnOnce(&DependencyFinder<'_, '_>) -> bool) -> bool {
        let Some(source) = self.sources.read(path) else { return false };
        Tree::parse(&source).is_some_and(|tree| ask(&DependencyFinder::new(&tree, &self.modules)))
    }
}

fn is_exit(error: &Error) -> bool {
    ["SystemExit", "KeyboardInterrupt", "Exit"].iter().any(|kind| error.is(kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;
    use crate::language::Project;

    const TEST: &str =
        "from calc import add\nfrom calc import *\ndef test_a():\n    x = add(1)\n    x[0]\n    int('a')\n";

    fn check(kind: &str, message: &str, frames: &[(&str, usize)], rest: (&str, &str), moment: Moment, expected: Cause) {
        let sources = memory(&[
            ("calc.py", "def add(a): ...\nclass Money: ...\n"),
            ("tests/test_a.py", &TEST.replace("from calc import *\n", "\n")),
            ("tests/test_star.py", TEST),
            ("src/shop/__init__.py", ""),
            ("requirements.txt", "requests==2\n"),
        ]);
        let project = Project { root: String::new(), description: String::new() };
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let error = Error {
            kind: kind.to_owned(),
            bases: if kind == "ModuleNotFoundError" { vec!["ImportError".to_owned()] } else { Vec::new() },
            message: message.to_owned(),
            frames: frames.iter().map(|(path, line)| ((*path).to_owned(), *line)).collect(),
            name: text(rest.0),
            from: text(rest.1),
            found: None,
            line: None,
        };
        assert_eq!(Diagnosis::new(&project, &sources, Modules::of).cause(&error, moment), expected, "{kind} {message}");
    }

    #[test]
    fn production_code_that_is_not_there_is_a_missing_symbol() {
        let (test, top) = ([("tests/test_a.py", 4)], [("tests/test_a.py", 1)]);
        let missing = Cause::MissingSymbol;
        check("ModuleNotFoundError", "", &top, ("bowling", ""), Moment::Loading, missing);
        check("ImportError", "", &top, ("calc", "calc.py"), Moment::Loading, missing);
        check("AttributeError", "", &test, ("x", "calc.py"), Moment::Running, missing);
        check(
            "TypeError",
            "add() takes 1 positional argument but 2 were given",
            &test,
            ("", ""),
            Moment::Running,
            missing,
        );
        check(
            "TypeError",
            "unsupported operand type(s) for +: 'Money' and 'Money'",
            &test,
            ("", ""),
            Moment::Running,
            missing,
        );
        check("NameError", "", &[("tests/test_star.py", 5)], ("sub", ""), Moment::Running, missing);
    }

    #[test]
    fn what_production_raises_or_answers_is_an_assertion() {
        let deep = [("tests/test_a.py", 4), ("calc.py", 1)];
        check("ValueError", "", &deep, ("", ""), Moment::Running, Cause::Assertion);
        check("ValueError", "", &deep, ("", ""), Moment::Around, Cause::Assertion);
        check("AssertionError", "", &[("tests/test_a.py", 4)], ("", ""), Moment::Running, Cause::Assertion);
        check("DocTestFailure", "", &[], ("", ""), Moment::Running, Cause::Assertion);
        check(
            "TypeError",
            "'NoneType' object is not subscriptable",
            &[("tests/test_a.py", 5)],
            ("", ""),
            Moment::Running,
            Cause::Assertion,
        );
    }

    #[test]
    fn the_tests_own_mistakes_have_their_own_answers() {
        let line = |line| [("tests/test_a.py", line)];
        check("ValueError", "", &line(6), ("", ""), Moment::Running, Cause::UnrelatedFailure);
        check("NameError", "", &line(6), ("y", ""), Moment::Running, Cause::UnrelatedFailure);
        check("SystemExit", "0", &line(6), ("", ""), Moment::Running, Cause::Crash);
        check("SyntaxError", "", &[], ("", "tests/test_a.py"), Moment::Loading, Cause::SyntaxError);
        check("Failed", &format!("{NOT_AWAITED}.\n…"), &[], ("", ""), Moment::Running, Cause::LoadFailure);
        check("FixtureLookupError", "", &[], ("", ""), Moment::Around, Cause::LoadFailure);
        check("ModuleNotFoundError", "", &line(1), ("requests", ""), Moment::Loading, Cause::LoadFailure);
        check("ModuleNotFoundError", "", &line(1), ("shop", ""), Moment::Loading, Cause::LoadFailure);
        check("ZeroDivisionError", "", &line(1), ("", ""), Moment::Loading, Cause::LoadFailure);
        check(
            "ImportError",
            "",
            &[("tests/test_a.py", 1), ("calc.py", 1)],
            ("os", ""),
            Moment::Loading,
            Cause::LoadFailure,
        );
    }
}
