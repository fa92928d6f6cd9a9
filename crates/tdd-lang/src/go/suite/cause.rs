//! Finds out why a package did not build and why a test panicked: because production code is missing, because of what
//! production code does, or for another reason.

use tdd_core::change::Sort;
use tdd_core::report::Cause;

use crate::go::asks::DependencyFinder;
use crate::go::items::{called, is_test_file};
use crate::go::known::{PackageIndex, folder, imports};
use crate::go::sort::sort;
use crate::go::syntax::Tree;
use crate::language::{Project, Sources, join};

/// Compiler errors that no production code could fix.
const OWN_FAULT: [&str; 6] =
    ["declared and not used", "imported and not used", "redeclared", "missing return", "is not used", "duplicate "];

/// Errors about a missing package.
const NO_PACKAGE: [&str; 7] = [
    "is not in std",
    "no required module provides package",
    "cannot find module providing package",
    "no non-test Go files in",
    "no Go files in",
    "build constraints exclude all Go files in",
    "does not contain package",
];

/// One error of the compiler or of the package loader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Complaint {
    /// The file, relative to the repository's root, if it is known.
    pub path: Option<String>,
    pub line: usize,
    pub column: usize,
    pub message: String,
}

/// Reads the errors of a build; `root` is the project's folder.
pub(super) fn complaints(root: &str, output: &str) -> Vec<Complaint> {
    let mut found: Vec<Complaint> = Vec::new();
    for line in output.lines().filter(|line| !line.starts_with("# ") && !line.trim().is_empty()) {
        match (placed(root, line), found.last_mut()) {
            (Some(complaint), _) => found.push(complaint),
            (None, Some(last)) if line.starts_with('\t') => last.message += &format!("\n{line}"),
            (None, _) if line.trim() == "too many errors" => {}
            (None, _) => found.push(Complaint { path: None, line: 0, column: 0, message: line.to_owned() }),
        }
    }
    found
}

/// `./a_test.go:5:33: undefined: x`
fn placed(root: &str, line: &str) -> Option<Complaint> {
    let (path, rest) = line.split_once(".go:")?;
    if path.contains([' ', '\t']) {
        return None;
    }
    let (row, rest) = rest.split_once(':')?;
    let (column, message) = rest.split_once(": ")?;
    let path = join(root, &format!("{}.go", path.trim_start_matches("./")));
    Some(Complaint {
        path: Some(path),
        line: row.parse().ok()?,
        column: column.parse().ok()?,
        message: message.to_owned(),
    })
}

/// How syntax errors of Go's parsers begin.
const SYNTAX: [&str; 3] = ["syntax error", "unexpected ", "expected "];

/// Finds the causes of failures.
pub(super) struct Diagnosis<'d> {
    project: &'d Project,
    sources: &'d dyn Sources,
    known: PackageIndex,
}

impl<'d> Diagnosis<'d> {
    /// Indexes these sources.
    pub fn new(project: &'d Project, sources: &'d dyn Sources) -> Self {
        Self { project, sources, known: PackageIndex::of(project, sources) }
    }

    /// Why a build failed, and the index of the error that shows it best.
    pub fn build(&self, complaints: &[Complaint]) -> (Cause, usize) {
        let causes: Vec<Cause> = complaints.iter().map(|complaint| self.complaint(complaint)).collect();
        let first = |wanted: Cause| causes.iter().position(|cause| *cause == wanted).map(|at| (wanted, at));
        first(Cause::SyntaxError)
            .or_else(|| first(Cause::UnrelatedCompileError))
            .or_else(|| first(Cause::LoadFailure))
            .or_else(|| first(Cause::MissingSymbol))
            .unwrap_or((Cause::UnknownOutput, 0))
    }

    fn complaint(&self, complaint: &Complaint) -> Cause {
        let message = complaint.message.as_str();
        if NO_PACKAGE.iter().any(|words| message.contains(words)) {
            let mut words = message.split([' ', ':', ';', '\n']);
            let wanted = words.any(|word| self.known.is_ours(word.trim_matches(['"', '`', '\t'])));
            let asked_by_test = complaint.path.as_deref().is_none_or(is_test_file);
            return if wanted && asked_by_test { Cause::MissingSymbol } else { Cause::LoadFailure };
        }
        let Some(path) = &complaint.path else { return Cause::LoadFailure };
        let Some(source) = self.sources.read(path) else { return Cause::UnrelatedCompileError };
        let Some(tree) = Tree::parse(&source) else { return Cause::UnrelatedCompileError };
        if !tree.parses() || SYNTAX.iter().any(|words| message.starts_with(words)) {
            return Cause::SyntaxError;
        }
        let is_own_fault = OWN_FAULT.iter().any(|words| message.contains(words));
        if sort(path) == Sort::Test && !is_own_fault && self.is_missing(&tree, path, complaint) {
            Cause::MissingSymbol
        } else {
            Cause::UnrelatedCompileError
        }
    }

    /// Whether a test uses something that production does not have, or has in another form.
    fn is_missing(&self, tree: &Tree<'_>, path: &str, complaint: &Complaint) -> bool {
        let at = offset(tree.source(), complaint.line, complaint.column);
        if let Some(name) = complaint.message.strip_prefix("undefined: ") {
            return match name.trim().split_once('.') {
                Some((package, _)) => self.is_our_package(tree, package),
                None => self.may_define(tree, name.trim(), at),
            };
        }
        if let Some(rest) = complaint.message.strip_prefix("name ") {
            return rest
                .rsplit(' ')
                .next()
                .is_some_and(|package| self.known.is_package(package) || self.known.is_ours(package));
        }
        let finder = DependencyFinder::new(tree, &self.known, path);
        self.mentions(tree, path, &complaint.message) || finder.place_asks(complaint.line, at)
    }

    /// Whether an undefined plain name could be production's: a function, a type, or an exported name that is used
    /// inside of its package.
    fn may_define(&self, tree: &Tree<'_>, name: &str, at: Option<usize>) -> bool {
        let takes_all = imports(tree).iter().any(|(name, path)| *name == "." && self.known.is_ours(path));
        if tree.package().ends_with("_test") && !takes_all {
            return false;
        }
        let node = (1..tree.len())
            .find(|node| Some(tree.range(*node).start) == at && tree.is_name(*node) && tree.text(*node) == name);
        let is_asked_for = node.is_some_and(|node| {
            let parent = tree.parent(node);
            tree.kind(node) == "type_identifier"
                || tree.kind(parent) == "call_expression" && called(tree, parent) == name
        });
        // `var Carry = carry` exports something of the package for tests outside of it.
        let is_opened = node.is_some_and(|node| {
            let outermost = tree.ancestors(node).find(|outer| tree.parent(*outer) == 0);
            outermost.is_some_and(|outer| tree.kind(outer) == "var_declaration")
        });
        is_asked_for || is_opened || name.starts_with(char::is_uppercase)
    }

    fn is_our_package(&self, tree: &Tree<'_>, package: &str) -> bool {
        imports(tree).iter().any(|(name, path)| *name == package && self.known.is_ours(path))
    }

    /// Whether an error mentions something of production.
    fn mentions(&self, tree: &Tree<'_>, path: &str, message: &str) -> bool {
        let words = message.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'));
        words.filter(|word| !word.is_empty()).any(|word| {
            let inside = || !tree.package().ends_with("_test") && self.known.is_defined(folder(path), word);
            word.split_once('.').map_or_else(inside, |(package, _)| self.is_our_package(tree, package))
        })
    }

    /// Why a test panicked, from the runtime's output; `root` is the module's folder on disk.
    pub fn panic(&self, root: &str, output: &str) -> Cause {
        let below = |line: &str| {
            let place = line.strip_prefix('\t')?.strip_prefix(root)?.strip_prefix('/')?;
            let (path, rest) = place.split_once(".go:")?;
            let line: usize = rest.split(' ').next()?.trim().parse().ok()?;
            Some((join(&self.project.root, &format!("{path}.go")), line))
        };
        let trace = output.lines().skip_while(|line| !line.starts_with("goroutine "));
        match trace.into_iter().find_map(below) {
            Some((path, _)) if sort(&path) == Sort::Production => Cause::Assertion,
            Some((path, line)) if self.line_asks(&path, line) => Cause::Assertion,
            Some(_) | None => Cause::UnrelatedFailure,
        }
    }

    fn line_asks(&self, path: &str, line: usize) -> bool {
        let Some(source) = self.sources.read(path) else { return false };
        Tree::parse(&source)
            .is_some_and(|tree| DependencyFinder::new(&tree, &self.known, path).place_asks(line, /* at */ None))
    }
}

/// The byte offset of a line and a column, both from 1.
fn offset(source: &str, line: usize, column: usize) -> Option<usize> {
    let start: usize = source.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
    Some(start + column.checked_sub(1)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;

    fn cause(test: &str, said: &str) -> Cause {
        let sources = memory(&[
            ("go.mod", "module calc\n"),
            ("calc.go", "package calc\nfunc Add(a, b int) int { return a + b }\ntype Thing struct{ Name string }\n"),
            ("calc_test.go", test),
        ]);
        let project = Project { root: String::new(), description: String::new() };
        let complaints = complaints("", said);
        Diagnosis::new(&project, &sources).build(&complaints).0
    }

    fn inside(line: &str) -> String {
        format!("package calc\nimport (\"testing\"; \"strings\")\nfunc TestA(t *testing.T) {{\n{line}\n}}\n")
    }

    #[test]
    fn production_code_that_is_not_there_is_a_missing_symbol() {
        for (line, said) in [
            ("Sub(1, 2)", "./calc_test.go:4:1: undefined: Sub"),
            ("parse(1)", "./calc_test.go:4:1: undefined: parse"),
            ("var g game", "./calc_test.go:4:7: undefined: game"),
            ("_ = Max", "./calc_test.go:4:5: undefined: Max"),
            (
                "_ = Thing{}.Size",
                "./calc_test.go:4:13: Thing{}.Size undefined (type Thing has no field or method Size)",
            ),
            ("_ = Thing{Size: 1}", "./calc_test.go:4:11: unknown field Size in struct literal of type Thing"),
            ("Add(1)", "./calc_test.go:4:6: not enough arguments in call to Add\n\thave (number)\n\twant (int, int)"),
            (
                "Add(\"1\", 2)",
                "./calc_test.go:4:5: cannot use \"1\" (untyped string constant) as int value in argument to Add",
            ),
            ("a, b := Add(1, 2)", "./calc_test.go:4:9: assignment mismatch: 2 variables but Add returns 1 value"),
            (
                "got := Add(1, 2); strings.ToUpper(got)",
                "./calc_test.go:4:35: cannot use got (variable of type int) as string value in argument to strings.ToUpper",
            ),
            ("x()", "# calc\ncalc_test.go:5:2: package calc/geometry is not in std (/go/src/calc/geometry)"),
            ("x()", "calc/ext2: no non-test Go files in /tmp/calc/ext2"),
        ] {
            assert_eq!(cause(&inside(line), said), Cause::MissingSymbol, "{said}");
        }
        let outside = "package calc_test\nimport (\"testing\"; \"calc\")\nfunc TestA(t *testing.T) {\ncalc.Sub(1)\n}\n";
        assert_eq!(cause(outside, "./calc_test.go:4:6: undefined: calc.Sub"), Cause::MissingSymbol);
        let opened = "package calc\nvar Carry = carry\n";
        assert_eq!(cause(opened, "./calc_test.go:2:13: undefined: carry"), Cause::MissingSymbol);
    }

    #[test]
    fn the_tests_own_mistakes_have_their_own_answers() {
        for (line, said) in [
            ("Add(1, x)", "./calc_test.go:4:8: undefined: x"),
            (
                "var x int = \"a\"",
                "./calc_test.go:4:13: cannot use \"a\" (untyped string constant) as int value in variable declaration",
            ),
            ("y := Add(1, 2)", "./calc_test.go:4:1: declared and not used: y"),
            ("strings.Foo()", "./calc_test.go:4:9: undefined: strings.Foo"),
            ("t.Foo()", "./calc_test.go:4:3: t.Foo undefined (type *testing.T has no field or method Foo)"),
            (
                "Sub(1); var x int = \"a\"",
                "./calc_test.go:4:1: undefined: Sub\n./calc_test.go:4:21: cannot use \"a\" (untyped string constant) as int value in variable declaration",
            ),
        ] {
            assert_eq!(cause(&inside(line), said), Cause::UnrelatedCompileError, "{said}");
        }
        let outside = "package calc_test\nimport \"testing\"\nfunc TestA(t *testing.T) {\nSub(1)\n}\n";
        assert_eq!(cause(outside, "./calc_test.go:4:1: undefined: Sub"), Cause::UnrelatedCompileError);
        assert_eq!(cause(&inside("f( }"), "calc_test.go:4:4: expected operand, found '}'"), Cause::SyntaxError);
        let newline = "calc_test.go:4:8: unexpected newline, expecting { after if clause";
        assert_eq!(cause(&inside("if true\n{}"), newline), Cause::SyntaxError);
        let foreign =
            "calc_test.go:3:2: no required module provides package github.com/x/y; to add it:\n\tgo get github.com/x/y";
        assert_eq!(cause(&inside("x()"), foreign), Cause::LoadFailure);
        assert_eq!(cause(&inside("x()"), "./calc.go:2:1: undefined: Sub"), Cause::UnrelatedCompileError);
    }

    #[test]
    fn a_panic_is_judged_by_where_it_came_from() {
        let sources = memory(&[
            ("go.mod", "module calc\n"),
            ("calc.go", "package calc\nfunc Add(a, b int) []int { return nil }\n"),
            (
                "calc_test.go",
                "package calc\nimport \"testing\"\nfunc TestA(t *testing.T) {\nx := Add(1, 2)\n_ = x[0]\nvar own []int\n_ = own[0]\n}\n",
            ),
        ]);
        let project = Project { root: String::new(), description: String::new() };
        let diagnosis = Diagnosis::new(&project, &sources);
        let of = |place: &str| {
            let said = format!(
                "panic: x [recovered]\n\ngoroutine 7 [running]:\ntesting.tRunner.func1.2()\n\t/go/src/testing/testing.go:1 +0x1\ncalc.F()\n\t/p/{place} +0x1d\ncalc.TestA()\n\t/p/calc_test.go:4 +0x1\n"
            );
            diagnosis.panic("/p", &said)
        };
        assert_eq!(of("calc.go:2"), Cause::Assertion);
        assert_eq!(of("calc_test.go:5"), Cause::Assertion);
        assert_eq!(of("calc_test.go:7"), Cause::UnrelatedFailure);
    }
}
