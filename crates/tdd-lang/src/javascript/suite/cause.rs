//! Decides why a test failed: missing production code, an assertion, or something else.

use tdd_core::change::Sort;
use tdd_core::report::Cause;

use crate::javascript::asks::DependencyFinder;
use crate::javascript::assertion::Asserting;
use crate::javascript::manifest::requirements;
use crate::javascript::modules::{Modules, Origin, definitions, own_names};
use crate::javascript::sort::sort;
use crate::javascript::syntax::Tree;
use crate::language::join;
use crate::run::{DiagnosisContext, Moment};

use super::complaint::{About, Complaint, complaints};
use super::events::Error;

/// Error code for an import whose path cannot name a file.
const NO_ENDING: &str = "TDD_NO_ENDING";
/// Error code for a comparison with a snapshot that is not stored.
const NO_SNAPSHOT: &str = "TDD_NO_SNAPSHOT";

/// Finds the causes in one run.
pub(super) type Diagnosis<'d> = DiagnosisContext<'d, Modules>;

impl Diagnosis<'_> {
    /// Why this error occurred in the run of a test file.
    pub(super) fn cause(&self, file: &str, error: &Error, moment: Moment) -> Cause {
        if error.is_timeout() {
            return Cause::Timeout;
        }
        if error.message.contains("process.exit unexpectedly called") || error.message.contains("process.exit called") {
            return Cause::Crash;
        }
        // This version of node cannot run TypeScript, which no change to the project caused.
        if error.code.as_deref() == Some("ERR_UNKNOWN_FILE_EXTENSION") && error.message.contains(".ts\"") {
            return Cause::RunnerMissing;
        }
        match error.code.as_deref() {
            Some(NO_ENDING) => return Cause::LoadFailure,
            Some(NO_SNAPSHOT) => return Cause::UnrelatedFailure,
            _ => {}
        }
        if let Some((module, importer)) = wanted(error) {
            return self.import(file, &module, importer.as_deref(), error);
        }
        if let Some(cause) = self.types(error) {
            return cause;
        }
        if moment == Moment::Loading && self.is_broken(file, error) {
            return Cause::SyntaxError;
        }
        if moment != Moment::Loading && error.is_assertion() {
            return if self.patches_assertions(file) { Cause::UnrelatedFailure } else { Cause::Assertion };
        }
        let place = error.frames.first().map(|(path, line)| (join(&self.project.root, path), *line));
        let sort = place.as_ref().map_or(Sort::Test, |(path, _)| sort(path));
        match (sort, moment) {
            (Sort::Steering, _) | (Sort::Production, Moment::Loading) => Cause::LoadFailure,
            (Sort::Production, Moment::Around | Moment::Running) => Cause::Assertion,
            (Sort::Test | Sort::Document, _) => self.in_test(error, place, moment),
        }
    }

    /// A failed import means missing production code if a test imports something that only production could provide.
    fn import(&self, file: &str, module: &str, importer: Option<&str>, error: &Error) -> Cause {
        let importer =
            importer.or(error.from.as_deref()).or_else(|| error.frames.first().map(|(path, _)| path.as_str()));
        let importer = importer.map_or_else(|| file.to_owned(), |path| join(&self.project.root, path));
        if sort(&importer) != Sort::Test {
            return Cause::LoadFailure;
        }
        let module = self.relative(&importer, module);
        let is_declared = || requirements(&self.manifest()).contains(&module);
        let wanted = match self.modules.origin(&importer, &module) {
            Origin::Inside(path) => sort(&path) == Sort::Production,
            Origin::Own => true,
            Origin::Foreign => false,
            Origin::Package => module.starts_with("@/") && !is_declared(),
        };
        if wanted { Cause::MissingSymbol } else { Cause::LoadFailure }
    }

    /// Reads type errors from a compiler that runs before the test: the cause is missing production code only if every
    /// error is.
    fn types(&self, error: &Error) -> Option<Cause> {
        let complaints = complaints(&error.message);
        if complaints.is_empty() {
            return None;
        }
        let path = |complaint: &Complaint| join(&self.project.root, &complaint.path);
        if complaints.iter().any(|complaint| sort(&path(complaint)) != Sort::Test) {
            return Some(Cause::LoadFailure);
        }
        let causes = complaints.iter().filter_map(|complaint| match &complaint.about {
            About::Syntax => Some(Cause::SyntaxError),
            About::Module(module) => Some(match self.import(&path(complaint), module, Some(&complaint.path), error) {
                Cause::MissingSymbol => Cause::MissingSymbol,
                _ => Cause::LoadFailure,
            }),
            About::Use if self.line_asks(&path(complaint), complaint.line) => Some(Cause::MissingSymbol),
            About::Use | About::Other => Some(Cause::UnrelatedCompileError),
            About::Consequence => None,
        });
        let causes: Vec<Cause> = causes.collect();
        let worst = [Cause::SyntaxError, Cause::UnrelatedCompileError, Cause::LoadFailure, Cause::MissingSymbol];
        Some(worst.into_iter().find(|cause| causes.contains(cause)).unwrap_or(Cause::UnrelatedCompileError))
    }

    /// A path from the project's folder, as the importer would write it.
    fn relative(&self, importer: &str, module: &str) -> String {
        let is_path = !module.starts_with('.') && (module.contains('/') || crate::javascript::owns(module));
        let below = join(&self.project.root, module.trim_start_matches('/'));
        let first = module.split('/').next().unwrap_or(module);
        let is_ours = self
            .sources
            .files()
            .iter()
            .any(|path| self.project.relative_path(path).is_some_and(|path| path.split('/').next() == Some(first)));
        if is_path && (is_ours || crate::javascript::owns(module)) && !module.starts_with('@') {
            let up = "../".repeat(importer.matches('/').count());
            return format!("./{up}{below}");
        }
        module.to_owned()
    }

    /// Whether a file does not parse, or the runner says so.
    fn is_broken(&self, file: &str, error: &Error) -> bool {
        let said =
            ["Failed to parse source", "Jest encountered an unexpected token", "Transform failed", "Parse failure"];
        let parses = |path: &str| {
            let text = self.sources.read(path);
            text.is_none_or(|text| Tree::parse(path, &text).is_some_and(|tree| tree.parses()))
        };
        let named = error.from.as_ref().map(|path| join(&self.project.root, path));
        let is_syntax = error.name == "SyntaxError" && (named.is_some() || error.frames.is_empty());
        is_syntax || said.iter().any(|words| error.message.contains(words)) || !parses(file)
    }

    /// The cause of an error in test code: it concerns production if the value came from there.
    fn in_test(&self, error: &Error, place: Option<(String, usize)>, moment: Moment) -> Cause {
        // Production cannot define a name that nobody imports.
        let is_own = error.name == "ReferenceError";
        let (file, line) = place.unwrap_or_default();
        let asks = !is_own && self.line_asks(&file, line) && !self.lacks_own_file(error, &file, line);
        match (asks, moment) {
            (true, _) if self.lacks(error, &file) => Cause::MissingSymbol,
            (true, Moment::Around | Moment::Running) => Cause::Assertion,
            (_, Moment::Running) => Cause::UnrelatedFailure,
            (_, Moment::Around | Moment::Loading) => Cause::LoadFailure,
        }
    }

    /// Whether the test calls something that production lacks: not the test's own value of a wrong type, and not a name
    /// that production defines.
    fn lacks(&self, error: &Error, file: &str) -> bool {
        if error.name != "TypeError" {
            return false;
        }
        let called = ["is not a function", "is not a constructor"].iter().find_map(|end| error.message.split_once(end));
        let Some((called, _)) = called else { return error.message.contains("Class extends value undefined") };
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$' || c == '#';
        let name = called.trim_end_matches(|c: char| !is_word(c)).rsplit(|c: char| !is_word(c)).next().unwrap_or("");
        let source = self.sources.read(file).unwrap_or_default();
        let is_own = Tree::parse(file, &source).is_some_and(|tree| own_names(&tree).contains(name));
        let is_plain = !called.contains('.');
        let known = self.defined(definitions);
        let is_value = is_own && is_plain;
        !is_value && !known.contains(name)
    }

    fn line_asks(&self, path: &str, line: usize) -> bool {
        self.parsed(path, |tree| DependencyFinder::new(path, tree, &self.modules).line_asks(line))
    }

    /// Whether the test lacks a file of its own, which no production code could give it.
    fn lacks_own_file(&self, error: &Error, path: &str, line: usize) -> bool {
        let missing = error.message.strip_prefix("ENOENT").and_then(|rest| rest.split('\'').nth(1));
        missing.is_some_and(|missing| {
            self.parsed(path, |tree| DependencyFinder::new(path, tree, &self.modules).reads_own_file(line, missing))
        })
    }

    /// Whether a test file exchanges the assertions that it uses.
    fn patches_assertions(&self, path: &str) -> bool {
        self.parsed(path, |tree| Asserting::of(tree).is_patched(tree))
    }

    fn parsed(&self, path: &str, ask: impl FnOnce(&Tree<'_>) -> bool) -> bool {
        let Some(source) = self.sources.read(path) else { return false };
        Tree::parse(path, &source).is_some_and(|tree| ask(&tree))
    }

    fn manifest(&self) -> String {
        self.sources.read(&join(&self.project.root, "package.json")).unwrap_or_default()
    }
}

/// The module that is missing, or lacks something, and the file that imports it.
fn wanted(error: &Error) -> Option<(String, Option<String>)> {
    let message = error.message.as_str();
    let between = |start: &str, end: &str| {
        let (_, rest) = message.split_once(start)?;
        rest.split_once(end).map(|(found, _)| found.to_owned())
    };
    let importer = || {
        let (_, rest) = message.split_once(" imported from ").or_else(|| message.split_once(" from "))?;
        // Our own advice follows a semicolon.
        let rest = rest.split(['\n', ';']).next().unwrap_or(rest);
        let path = rest.split(". Does the file exist").next().unwrap_or(rest);
        Some(path.trim_matches(['\'', '"', '.', ' ']).to_owned()).filter(|path| crate::javascript::owns(path))
    };
    if message.contains("does not provide an export named") || message.contains("Named export '") {
        return Some((between("requested module '", "'")?, None));
    }
    if let Some(module) = between("Failed to resolve import \"", "\"") {
        return Some((module, importer()));
    }
    let is_missing = ["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND"].contains(&error.code.as_deref().unwrap_or_default());
    let module = between("Cannot find module '", "'").or_else(|| between("Cannot find package '", "'"));
    let required =
        message.split_once("Require stack:\n- ").and_then(|(_, rest)| rest.lines().next()).map(str::to_owned);
    module.filter(|_| is_missing || message.starts_with("Cannot find")).map(|module| (module, importer().or(required)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;
    use crate::language::Project;

    const TEST: &str = "import { add } from '../calc.js'\nimport * as calc from '../calc.js'\ntest('a', () => {\n  const x = add(1)\n  x.y()\n  JSON.parse('{')\n  calc.sub(1)\n})\n";

    fn check(name: &str, message: &str, frames: &[(&str, usize)], moment: Moment, expected: Cause) {
        let sources = memory(&[
            ("calc.js", "export function add(a) {}\n"),
            ("package.json", "{\"name\": \"calc\", \"dependencies\": {\"lodash\": \"4\"}}"),
            ("test/a.test.js", TEST),
            ("test/broken.test.js", "test('a', () => {\n"),
            ("test/helper.js", ""),
        ]);
        let project = Project { root: String::new(), description: String::new() };
        let error = Error {
            name: name.to_owned(),
            message: message.to_owned(),
            frames: frames.iter().map(|(path, line)| ((*path).to_owned(), *line)).collect(),
            ..Error::default()
        };
        let found = Diagnosis::new(&project, &sources, Modules::of).cause("test/a.test.js", &error, moment);
        assert_eq!(found, expected, "{name}: {message}");
    }

    #[test]
    fn a_test_that_asks_for_production_code_misses_a_symbol() {
        let missing = Cause::MissingSymbol;
        let loading = |message: &str| check("SyntaxError", message, &[], Moment::Loading, missing);
        loading("The requested module '../calc.js' does not provide an export named 'sub'");
        loading("Named export 'sub' not found. The requested module '../calc.js' is a CommonJS module");
        let not_found = |message: &str| check("Error", message, &[], Moment::Loading, missing);
        not_found("Cannot find module 'geo.js' imported from test/a.test.js");
        not_found("Cannot find module '../geo.js' imported from test/a.test.js");
        not_found("Cannot find module '../geo' from 'test/a.test.js'");
        not_found("Cannot find module '../geo'\nRequire stack:\n- test/a.test.js");
        not_found("Failed to resolve import \"../geo\" from \"test/a.test.js\". Does the file exist?");
        let line = |line| [("test/a.test.js", line)];
        check("TypeError", "calc.sub is not a function", &line(7), Moment::Running, missing);
        check("TypeError", "x.y is not a function", &line(5), Moment::Running, missing);
        check("TypeError", "(0 , __vite_ssr_import_1__.sub) is not a function", &line(7), Moment::Running, missing);
    }

    #[test]
    fn what_production_throws_or_answers_is_an_assertion() {
        let deep = [("calc.js", 1), ("test/a.test.js", 4)];
        check("RangeError", "no", &deep, Moment::Running, Cause::Assertion);
        check("TypeError", "a is not a function", &deep, Moment::Running, Cause::Assertion);
        check("AssertionError", "1 != 2", &[("test/a.test.js", 6)], Moment::Running, Cause::Assertion);
        let test = [("test/a.test.js", 5)];
        check("TypeError", "x is not a function", &test, Moment::Running, Cause::Assertion);
        check("TypeError", "x.add is not a function", &test, Moment::Running, Cause::Assertion);
        let reading = "Cannot read properties of undefined (reading 'y')";
        check("TypeError", reading, &[("test/a.test.js", 5)], Moment::Running, Cause::Assertion);
    }

    #[test]
    fn the_tests_own_mistakes_have_their_own_answers() {
        let line = |line| [("test/a.test.js", line)];
        check("SyntaxError", "Unexpected end of JSON input", &line(6), Moment::Running, Cause::UnrelatedFailure);
        check("ReferenceError", "sub is not defined", &line(7), Moment::Running, Cause::UnrelatedFailure);
        check("Error", "process.exit unexpectedly called with \"0\"", &line(4), Moment::Running, Cause::Crash);
        check("Error", "Test timed out in 5000ms.", &line(4), Moment::Running, Cause::Timeout);
        check("SyntaxError", "missing ) after argument list", &[], Moment::Loading, Cause::SyntaxError);
        check(
            "Error",
            "Cannot find package 'lodash' imported from test/a.test.js",
            &[],
            Moment::Loading,
            Cause::LoadFailure,
        );
        check(
            "Error",
            "Cannot find module './none.js' imported from test/a.test.js",
            &[],
            Moment::Loading,
            Cause::LoadFailure,
        );
        check("Error", "Cannot find module './x.js' imported from calc.js", &[], Moment::Loading, Cause::LoadFailure);
        check("Error", "boom", &line(6), Moment::Loading, Cause::LoadFailure);
        check("Error", "boom", &[("calc.js", 1)], Moment::Loading, Cause::LoadFailure);
    }

    fn cause_in(test: &str, name: &str, message: &str, line: usize) -> Cause {
        let sources = memory(&[("calc.js", "export function add(a) {}\n"), ("test/a.test.js", test)]);
        let project = Project { root: String::new(), description: String::new() };
        let error = Error {
            name: name.to_owned(),
            message: message.to_owned(),
            frames: vec![("test/a.test.js".to_owned(), line)],
            ..Error::default()
        };
        Diagnosis::new(&project, &sources, Modules::of).cause("test/a.test.js", &error, Moment::Running)
    }

    #[test]
    fn a_test_without_its_own_data_or_with_other_assertions_fails_by_itself() {
        let head = "import assert from 'assert';\nimport { add } from '../calc.js';\n";
        let missing = "ENOENT: no such file or directory, open 'test/data.txt'";
        let read = |before: &str, read: &str| {
            let test = format!("{head}test('a', () => {{ {before}\n  assert.equal(add(1), {read}); }});\n");
            cause_in(&test, "Error", missing, 4)
        };
        assert_eq!(read("", "readFileSync('test/data.txt')"), Cause::UnrelatedFailure);
        assert_eq!(read("add('data');", "readFileSync('test/data.txt')"), Cause::Assertion);
        assert_eq!(read("", "readFileSync(add('test/data.txt'))"), Cause::Assertion);
        let hook = format!(
            "{head}beforeEach(() => add());\ntest('a', () => assert.equal(readFileSync('data.txt'), add()));\n"
        );
        assert_eq!(cause_in(&hook, "Error", missing, 4), Cause::Assertion);
        let patched = |patch: &str| {
            let test = format!("{head}{patch};\ntest('a', () => assert.equal(add(1), 1));\n");
            cause_in(&test, "AssertionError", "no", 4)
        };
        assert_eq!(patched("assert.equal = () => assert.fail()"), Cause::UnrelatedFailure);
        assert_eq!(patched("Object.assign(assert, { equal() {} })"), Cause::UnrelatedFailure);
        assert_eq!(patched("const equal = () => assert.fail()"), Cause::Assertion);
    }
}
