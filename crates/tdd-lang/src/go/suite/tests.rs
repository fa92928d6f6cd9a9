//! Whole runs, replayed with the captured output of real runs.

use tdd_core::command::{Captured, Exit, Finished};
use tdd_core::report::Report;
use tdd_core::test_id::TestId;

use super::begin;
use crate::fixture::memory;
use crate::language::{Next, Project, Selection, Settings};
use crate::rust::captured;

const ENV: &str =
    "{\"GOROOT\":\"/go\",\"GOCACHE\":\"/c\",\"GOMODCACHE\":\"/m\",\"GOPATH\":\"/p\",\"GOMOD\":\"/project/go/go.mod\"}";
const LIST: &str =
    "{\"Dir\":\"/project/go\",\"ImportPath\":\"calc\",\"Name\":\"calc\",\"TestGoFiles\":[\"calc_test.go\"]}";
const CODE: &str =
    "package calc\n\nfunc Add(a, b int) int { return a + b }\n\nfunc Later() int { panic(\"not implemented\") }\n";

fn finished(stdout: &str, code: i32) -> Finished {
    let exit = if code == 0 { Exit::Passed } else { Exit::Failed(code) };
    Finished::new(exit, Captured::whole(stdout), Captured::whole("go: said why"))
}

/// Runs a module with these tests on these outputs. Also returns the arguments of each call, without the runner's own.
fn play(tests: &[&str], selection: Selection, answers: &[(String, i32)]) -> (Report, Vec<String>) {
    let function =
        |name: &&str| format!("func {name}(t *testing.T) {{\n\tif Add(1, 2) != 3 {{\n\t\tt.Error()\n\t}}\n}}\n");
    let functions = tests.iter().map(function).collect::<Vec<_>>().join("\n");
    let source = format!("package calc\n\nimport \"testing\"\n\n{functions}");
    let sources = memory(&[("go.mod", "module calc\n"), ("calc.go", CODE), ("calc_test.go", &source)]);
    let project = Project { root: String::new(), description: String::new() };
    let mut suite = begin(&project, &Settings::default(), selection).unwrap();
    let mut answers = answers.iter();
    let mut asked = Vec::new();
    loop {
        match suite.next(&sources) {
            Next::Done(report) => return (report, asked),
            Next::Run(jobs) if jobs[0].label == "finding go" => suite.feed(vec![finished(ENV, 0), finished(LIST, 0)]),
            Next::Run(jobs) => {
                asked.extend(jobs.iter().map(|job| {
                    job.command
                        .argv
                        .iter()
                        .skip_while(|word| *word != "/go/bin/go")
                        .skip(6)
                        .cloned()
                        .collect::<Vec<_>>()
                        .join(" ")
                }));
                suite.feed(
                    jobs.iter()
                        .map(|_| answers.next().map_or_else(|| finished("", 1), |(text, code)| finished(text, *code)))
                        .collect(),
                );
            }
        }
    }
}

fn said(report: &Report) -> Vec<String> {
    let cause = |cause: Option<tdd_core::report::Cause>| cause.map_or("pass", tdd_core::report::Cause::name);
    let tests = report
        .results()
        .map(|result| format!("{} {}", result.id.name().unwrap_or_default(), cause(result.outcome.cause())));
    tests.chain(report.obstacles().iter().map(|it| format!("{} {} {}", it.subject, it.cause, it.tests.len()))).collect()
}

fn check(name: &str, tests: &[&str], expected: &[&str]) {
    let (report, _) = play(tests, Selection::All, &[captured::output(&format!("go__{name}"))]);
    assert_eq!(said(&report), expected, "{name}");
}

#[test]
fn every_captured_run_gives_each_test_its_cause() {
    check("pass", &["TestAdd"], &["TestAdd pass"]);
    check("assertion_fail", &["TestAdd"], &["TestAdd assertion"]);
    check("exit0", &["TestA", "TestM"], &["TestA assertion", "TestM crash"]);
    check("hang", &["TestA", "TestM"], &["TestA pass", "TestM timeout"]);
    check("sigkill", &["TestA", "TestM"], &["TestA pass", "TestM crash"]);
    check("not_implemented_panic", &["TestOk", "TestLater"], &["TestLater assertion", "TestOk pass"]);
    check("skipped", &["TestM"], &["TestM skipped"]);
    check("subtests", &["TestT"], &["TestT assertion"]);
    check("missing_symbol", &["TestA"], &["calc_test.go missing-symbol 1"]);
    check("missing_package", &["TestA"], &["calc_test.go missing-symbol 1"]);
    check("wrong_arity", &["TestA"], &["calc_test.go missing-symbol 1"]);
    check("unused_var", &["TestA"], &["calc_test.go unrelated-compile-error 1"]);
    check("undeclared_local", &["TestA"], &["calc_test.go unrelated-compile-error 1"]);
}

#[test]
fn a_run_that_leaves_tests_out_is_no_green() {
    check("zero_tests", &["TestA"], &["TestA target-not-found"]);
    check("filter_matches_nothing", &["TestA"], &["TestA target-not-found"]);
    check("testmain_skips_all", &["TestA"], &["calc crash 1"]);
    check("pass", &["TestAdd", "TestGone"], &["TestAdd pass", "TestGone target-not-found"]);
}

#[test]
fn a_report_without_our_own_test_is_not_believed() {
    let (text, code) = captured::output("go__pass");
    let canary = "{\"Action\":\"canary\",\"Test\":\"TestTdd_1\"}\n";
    let forged = play(&["TestAdd"], Selection::All, &[(format!("{canary}{text}"), code)]);
    assert_eq!(said(&forged.0), ["calc crash 1"]);
    let ours = "{\"Action\":\"pass\",\"Package\":\"calc\",\"Test\":\"TestTdd_1\"}\n";
    let whole = play(&["TestAdd"], Selection::All, &[(format!("{canary}{ours}{text}"), code)]);
    assert_eq!(said(&whole.0), ["TestAdd pass"]);
}

#[test]
fn after_a_crash_the_rest_is_run_without_its_culprit() {
    let answers = [captured::output("go__sigkill"), captured::output("go__assertion_fail")];
    let (report, asked) = play(&["TestA", "TestM", "TestAdd"], Selection::All, &answers);
    assert_eq!(said(&report), ["TestA pass", "TestAdd assertion", "TestM crash"]);
    assert!(asked[1].ends_with("-run=^(TestAdd|@NAME@)$ ."), "{asked:?}");
}

#[test]
fn names_are_escaped_and_a_part_is_run_alone() {
    let ids = ["calc_test.go::TestT/a_(b)", "calc_test.go::TestT"].map(|id| TestId::parse(id).unwrap());
    let (_, asked) = play(&["TestT"], Selection::Only(ids.to_vec()), &[]);
    assert!(asked[0].ends_with("-run=^(TestT|@NAME@)$/^a_\\(b\\)$ ."), "{asked:?}");
    assert!(asked[1].ends_with("-run=^(TestT|@NAME@)$ ."), "{asked:?}");
}

#[test]
fn what_contradicts_itself_is_unknown() {
    let (text, _) = captured::output("go__pass");
    let (report, _) = play(&["TestAdd"], Selection::All, &[(text, 1)]);
    assert_eq!(said(&report), ["go test unknown-output 0"]);
    let (report, _) = play(&["TestAdd"], Selection::All, &[(String::new(), 1)]);
    assert_eq!(said(&report), ["go test load-failure 0"]);
}
