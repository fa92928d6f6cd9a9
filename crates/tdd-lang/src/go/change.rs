//! Compares two trees of a Go module, test by test, item by item and line by line.
//!
//! Layout and comments do not count, except for directives and the output of examples.

use tdd_core::change::{Change, ItemChange, ItemFate, Sort, SteeringChange};

use super::asks::DependencyFinder;
use super::intrusions::intrusions;
use super::items::items;
use super::known::PackageIndex;
use super::manifest;
use super::owns;
use super::pieces::{PACKAGE, pieces};
use super::sort::sort;
use super::statements;
use super::syntax::Tree;
use crate::analysis::compare::{self, FileFacts, TreeComparer};
use crate::item::TestItem;
use crate::language::{Project, Sources};

/// Items of test files that decide which tests exist, or that run before all of them.
const STEERING_ITEMS: [&str; 3] = ["func `TestMain`", "func `init`", "a build constraint"];

/// The change between two trees that differ in these paths.
pub fn change(project: &Project, before: &dyn Sources, after: &dyn Sources, paths: &[String]) -> Change {
    let comparer = TreeComparer {
        know: &|sources| PackageIndex::of(project, sources),
        sort: &sort,
        owns: &owns,
        read: &read,
        steering: &|path, before, after, _| manifest::compare(path, before, after),
        is_kept: &|_, before, after| statements::is_kept(before, after),
    };
    let mut change = compare::change(&comparer, before, after, paths);
    change.support.retain(|item| !joins_its_package(item, before, after));
    let (steering, support): (Vec<ItemChange>, Vec<ItemChange>) =
        change.support.into_iter().partition(|item| STEERING_ITEMS.contains(&item.item.as_str()));
    change.support = support;
    let tell = |item: ItemChange| {
        let fate = match item.fate {
            ItemFate::Added => "added",
            ItemFate::Removed => "removed",
            ItemFate::Changed => "changed",
        };
        let what = format!("{}, {fate}", item.item);
        SteeringChange { path: item.path, what, free: false }
    };
    change.steering.extend(steering.into_iter().map(tell));
    change
}

/// Whether a test file came to a package that its folder had before, or left one that its folder still has: then its
/// package clause says nothing new.
fn joins_its_package(item: &ItemChange, before: &dyn Sources, after: &dyn Sources) -> bool {
    let (with, without) = match item.fate {
        ItemFate::Added => (after, before),
        ItemFate::Removed => (before, after),
        ItemFate::Changed => return false,
    };
    let package = |sources: &dyn Sources, path: &str| {
        let source = sources.read(path)?;
        Tree::parse(&source).map(|tree| tree.package().to_owned())
    };
    let folder = |path: &str| path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let own = package(with, &item.path);
    let is_like_it = |path: &&String| owns(path) && folder(path) == folder(&item.path) && package(without, path) == own;
    item.item == PACKAGE && own.is_some() && without.files().iter().any(|path| is_like_it(&path))
}

/// Reads a source file.
fn read(known: &PackageIndex, path: &str, source: &str) -> FileFacts {
    let Some(tree) = Tree::parse(source) else { return FileFacts::default() };
    let found = items(path, source);
    let finder = DependencyFinder::new(&tree, known, path);
    let pieces = pieces(&tree, &found, sort(path) == Sort::Test);
    let ask = |item: &TestItem| (finder.assertions(item), finder.asks_production(item));
    let intrusions = if sort(path) == Sort::Test { intrusions(&tree) } else { Vec::new() };
    FileFacts { intrusions, ..FileFacts::new(path, found, ask, pieces, tree.syntax_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{change_between, told};

    const MODULE: (&str, &str) = ("go.mod", "module calc\n");
    const TEST: &str = "package calc\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Error(\"no\")\n\t}\n}\n";

    fn of(before: &[(&str, &str)], after: &[(&str, &str)]) -> Change {
        let (before, after) = ([before, &[MODULE]].concat(), [after, &[MODULE]].concat());
        change_between(&before, &after, change)
    }

    fn check(before: &[(&str, &str)], after: &[(&str, &str)], expected: &[&str]) {
        assert_eq!(told(&of(before, after)), expected, "{after:?}");
    }

    #[test]
    fn a_test_may_move_to_a_file_of_its_own() {
        let other = TEST.replace("TestA", "TestB").replace("Add(1, 2) != 3", "Add(0, 0) != 0");
        let both = format!("{TEST}{}", other.split_once("\n\nimport \"testing\"\n").map_or("", |(_, test)| test));
        let moved = ["a_test.go::TestB -> b_test.go::TestB", "support use `testing` Added"];
        check(&[("a_test.go", &both)], &[("a_test.go", TEST), ("b_test.go", &other)], &moved);
        let back = ["b_test.go::TestB -> a_test.go::TestB", "support use `testing` Removed"];
        check(&[("a_test.go", TEST), ("b_test.go", &other)], &[("a_test.go", &both)], &back);
        let foreign = other.replace("package calc", "package fake");
        let told = ["a_test.go::TestB -> fake/b_test.go::TestB", "support the package's name Added"];
        let moved = of(&[("a_test.go", &both)], &[("a_test.go", TEST), ("fake/b_test.go", &foreign)]);
        assert!(told.iter().all(|line| crate::fixture::told(&moved).contains(&(*line).to_owned())), "{moved:?}");
    }

    #[test]
    fn a_declaration_in_brackets_is_the_same() {
        let grouped = TEST.replace("import \"testing\"", "import (\n\t\"errors\"\n\t\"testing\"\n)");
        check(&[("a_test.go", TEST)], &[("a_test.go", &grouped)], &["support use `errors` Added"]);
        let (alone, both) = ("package calc\n\nvar a = 1\n", "package calc\n\nvar (\n\ta = 1\n\tb = 2\n)\n");
        check(&[("a.go", alone)], &[("a.go", both)], &["production var `b` Added"]);
    }

    #[test]
    fn a_new_test_is_told_with_what_it_uses() {
        let support = ["support the package's name Added", "support use `testing` Added"];
        check(&[], &[("a_test.go", TEST)], &["+a_test.go::TestA", support[0], support[1]]);
        assert!(of(&[], &[("a_test.go", TEST)]).new_demands().all(|test| test.asks_production && test.can_fail()));
    }

    #[test]
    fn a_test_may_gain_assertions_and_rows_and_lose_nothing() {
        let with = |body: &str| format!("package a\n\nfunc TestA(t *testing.T) {{\n{body}}}\n");
        let old = with("\tx := f()\n\tif x != 1 {\n\t\tt.Error()\n\t}\n");
        for (body, expected) in [
            (
                "\tx := f()\n\tif x != 1 {\n\t\tt.Error()\n\t}\n\tif x != 2 {\n\t\tt.Error()\n\t}\n",
                "~a_test.go::TestA true",
            ),
            ("\tx := f()\n\tif x != 2 {\n\t\tt.Error()\n\t}\n", "~a_test.go::TestA false"),
            ("\tx := f()\n\treturn\n\tif x != 1 {\n\t\tt.Error()\n\t}\n", "~a_test.go::TestA false"),
            ("\tx := f()\n", "~a_test.go::TestA false"),
        ] {
            check(&[("a_test.go", &old)], &[("a_test.go", &with(body))], &[expected]);
        }
        let table = |rows: &str| {
            with(&format!(
                "\ttests := []struct{{ in, want int }}{{{rows}}}\n\tfor _, tt := range tests {{\n\t\tif f(tt.in) != tt.want {{\n\t\t\tt.Error()\n\t\t}}\n\t}}\n"
            ))
        };
        let old = table("{1, 2}, {2, 3}");
        check(&[("a_test.go", &old)], &[("a_test.go", &table("{1, 2}, {5, 6}, {2, 3}"))], &["~a_test.go::TestA true"]);
        check(&[("a_test.go", &old)], &[("a_test.go", &table("{1, 2}, {2, 4}"))], &["~a_test.go::TestA false"]);
        check(&[("a_test.go", &old)], &[("a_test.go", &table("{1, 2}"))], &["~a_test.go::TestA false"]);
        let grown = of(&[("a_test.go", &old)], &[("a_test.go", &table("{1, 2}, {2, 3}, {5, 6}"))]);
        assert_eq!(grown.new_demands().count(), 1);
    }

    #[test]
    fn a_table_beside_its_test_belongs_to_it() {
        let test = "func TestA(t *testing.T) {\n\tfor _, tt := range cases {\n\t\tif f(tt.in) != tt.want {\n\t\t\tt.Error()\n\t\t}\n\t}\n}\n";
        let with = |rows: &str, rest: &str| {
            format!("package a\n\nvar cases = []struct{{ in, want int }}{{{rows}}}\n\n{test}{rest}")
        };
        let old = with("{1, 2}, {2, 3}", "");
        for (rows, expected) in [
            ("{1, 2}, {2, 3}, {5, 6}", "~a_test.go::TestA true"),
            ("{0, 1}, {1, 2}, {2, 3}", "~a_test.go::TestA true"),
            ("{1, 2}, {2, 4}", "~a_test.go::TestA false"),
            ("{1, 2}", "~a_test.go::TestA false"),
        ] {
            check(&[("a_test.go", &old)], &[("a_test.go", &with(rows, ""))], &[expected]);
        }
        let grown = of(&[("a_test.go", &old)], &[("a_test.go", &with("{1, 2}, {2, 3}, {5, 6}", ""))]);
        assert_eq!(grown.new_demands().count(), 1);
        // A variable that is also used elsewhere is not the table of a test.
        for rest in
            ["\nfunc init() {\n\tcases = cases[:1]\n}\n", "\nfunc TestB(t *testing.T) {\n\tt.Log(cases[0])\n}\n"]
        {
            let (old, new) = (with("{1, 2}", rest), with("{1, 2}, {2, 3}", rest));
            check(&[("a_test.go", &old)], &[("a_test.go", &new)], &["support var `cases` Changed"]);
        }
        let cut = old.replace("range cases", "range cases[:1]");
        check(&[("a_test.go", &old)], &[("a_test.go", &cut)], &["~a_test.go::TestA false"]);
        // A table without its test does not count as an added item.
        let bare = old.replace(test, "");
        check(&[("a_test.go", &old)], &[("a_test.go", &bare)], &["-a_test.go::TestA"]);
        let grouped = |rows: &str| {
            format!("package a\n\nvar (\n\tcases = []struct{{ in, want int }}{{{rows}}}\n\tn = 1\n)\n\n{test}")
        };
        check(
            &[("a_test.go", &grouped("{1, 2}"))],
            &[("a_test.go", &grouped("{1, 2}, {2, 3}"))],
            &["~a_test.go::TestA true"],
        );
    }

    #[test]
    fn a_suite_may_gain_methods_and_lose_none() {
        let with = |methods: &str| {
            format!("package a\n\n{methods}\nfunc TestCalc(t *testing.T) {{\n\tsuite.Run(t, new(Calc))\n}}\n")
        };
        let (one, two) =
            ("func (s *Calc) TestA() { s.Equal(1, F()) }\n", "func (s *Calc) TestB() { s.Equal(2, G()) }\n");
        let old = with(one);
        check(&[("a_test.go", &old)], &[("a_test.go", &with(&[one, two].concat()))], &["~a_test.go::TestCalc true"]);
        let grown = of(&[("a_test.go", &old)], &[("a_test.go", &with(&[one, two].concat()))]);
        assert!(grown.new_demands().all(|test| test.asks_production) && grown.new_demands().count() == 1);
        for methods in [two, "func (s *Calc) TestA() { s.Equal(2, F()) }\n", ""] {
            check(&[("a_test.go", &old)], &[("a_test.go", &with(methods))], &["~a_test.go::TestCalc false"]);
        }
    }

    #[test]
    fn a_renamed_or_moved_test_is_the_same_test() {
        let renamed = TEST.replace("TestA", "TestB");
        check(&[("a_test.go", TEST)], &[("a_test.go", &renamed)], &["a_test.go::TestA -> a_test.go::TestB"]);
        check(&[("a_test.go", TEST)], &[("b_test.go", TEST)], &["a_test.go::TestA -> b_test.go::TestA"]);
    }

    #[test]
    fn what_runs_before_the_tests_is_steering() {
        let with = |more: &str| format!("{TEST}\n{more}\n");
        check(
            &[("a_test.go", TEST)],
            &[("a_test.go", &with("func TestMain(m *testing.M) { os.Exit(0) }"))],
            &["steering func `TestMain`, added"],
        );
        check(&[("a_test.go", TEST)], &[("a_test.go", &with("func init() {}"))], &["steering func `init`, added"]);
        check(
            &[("a_test.go", TEST)],
            &[("a_test.go", &format!("//go:build ignore\n\n{TEST}"))],
            &["steering a build constraint, added"],
        );
    }

    #[test]
    fn production_is_told_item_by_item() {
        let old = "package a\n\nconst X = 1\n\nfunc F() int { return 1 }\n\ntype T struct{}\n\nfunc (t T) M() {}\n";
        let new = "package a\n\nconst X = 2\n\n// F does.\nfunc F() int {\n\treturn 1\n}\n\ntype T struct{ a int }\n\nfunc (t T) N() {}\n";
        check(
            &[("a.go", old)],
            &[("a.go", new)],
            &[
                "production const `X` Changed",
                "production func `T.M` Removed",
                "production type `T` Changed",
                "production func `T.N` Added",
            ],
        );
    }

    #[test]
    fn a_new_initialiser_does_not_act_on_tests_that_do_not_name_it() {
        for (added, intrudes) in [
            ("var _ = func() bool { Step = 2; return true }()", true),
            ("var _ = install()\n\nfunc install() int { calc.Step++; return 1 }", true),
            ("var sum = func() int { n := 0; n += 1; return n }()", false),
            ("var update = flag.Bool(\"update\", false, \"\")", false),
            ("func fake() { Step = 2 }", false),
        ] {
            let change =
                of(&[("a_test.go", TEST)], &[("a_test.go", TEST), ("b_test.go", &format!("package a\n\n{added}\n"))]);
            assert_eq!(!change.intrusions.is_empty(), intrudes, "{added}");
        }
    }

    #[test]
    fn a_file_that_does_not_parse_any_more_is_unreadable() {
        check(&[("a_test.go", TEST)], &[("a_test.go", "package a\nfunc (")], &["unreadable a_test.go"]);
    }
}
