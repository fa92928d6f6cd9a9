//! Tests the program on Go modules with the real `go test`: causes of a red, cheats, and a person's commands.
//!
//! Tests print that they are skipped without Go.

use serde_json::{Value, json};
use tdd_fixtures::script::Script;

tdd_fixtures::language_tests!("go", has_go);

const SKIPPED: &str = "skipped: there is no Go; put one on the path";

#[test]
fn every_test_has_its_cause() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    machine(&sandbox).set_test_timeout(2);
    sandbox.write(
        "calc.go",
        "package calc\n\nimport \"os\"\n\nfunc Add(a, b int) int { return a + b }\n\nfunc Die() { os.Exit(0) }\n\n\
         func Later() int { panic(\"not implemented\") }\n\nfunc None() []int { return nil }\n",
    );
    sandbox.write(
        "calc_test.go",
        "package calc\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\t\"testing\"\n\t\"time\"\n)\n\n\
         func TestPasses(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Error()\n\t}\n}\n\
         func TestFails(t *testing.T) {\n\tif got := Add(1, 2); got != 4 {\n\t\tt.Errorf(\"got %d\", got)\n\t}\n}\n\
         func TestDies(t *testing.T) { Die() }\n\
         func TestEnds(t *testing.T) { os.Exit(3) }\n\
         func TestHangs(t *testing.T) { time.Sleep(time.Minute) }\n\
         func TestPanics(t *testing.T) {\n\tif Later() != 1 {\n\t\tt.Error()\n\t}\n}\n\
         func TestEmpty(t *testing.T) {\n\tif None()[0] != 1 {\n\t\tt.Error()\n\t}\n}\n\
         func TestMistaken(t *testing.T) {\n\tvar own []int\n\tif own[0] != 1 {\n\t\tt.Error()\n\t}\n}\n\
         func TestSkips(t *testing.T) { t.Skip(\"no\") }\n\
         func TestParts(t *testing.T) {\n\tfor _, n := range []int{1, 2} {\n\t\tt.Run(fmt.Sprint(\"a (b) \", n), func(t *testing.T) {\n\t\t\tif Add(n, 0) != 1 {\n\t\t\t\tt.Error()\n\t\t\t}\n\t\t})\n\t}\n}\n\
         func TestAllSkipped(t *testing.T) { t.Run(\"x\", func(t *testing.T) { t.Skip() }) }\n\
         func TestTogether(t *testing.T) { t.Parallel(); _ = Later() }\n\
         func TestBeside(t *testing.T) { t.Parallel(); time.Sleep(100 * time.Millisecond) }\n\
         func ExampleAdd() {\n\tfmt.Println(Add(1, 2))\n\t// Output: 4\n}\n\
         func FuzzAdd(f *testing.F) {\n\tf.Add(1)\n\tf.Fuzz(func(t *testing.T, n int) {\n\t\tif Add(n, 1) != n+1 {\n\t\t\tt.Error()\n\t\t}\n\t})\n}\n",
    );
    let asks = |package: &str, body: &str| {
        format!("package {package}\n\nimport \"testing\"\n\nfunc TestM(t *testing.T) {{\n\t{body}\n}}\n")
    };
    sandbox.write("asks/asks_test.go", asks("asks", "if Mul(1, 2) != 2 {\n\t\tt.Error()\n\t}"));
    sandbox.write("broken/broken_test.go", asks("broken", "if Mul(1, 2 {"));
    sandbox.write("wrong/wrong_test.go", asks("wrong", "var x int = \"a\"\n\t_ = x"));
    sandbox.write("ends/ends.go", "package ends\n\nimport \"os\"\n\nfunc init() { os.Exit(0) }\n");
    sandbox.write("ends/ends_test.go", asks("ends", "t.Error()"));
    sandbox.write("left/left_test.go", format!("//go:build ignore\n\n{}", asks("left", "t.Error()")));
    sandbox.write(
        "main/main_test.go",
        "package main\n\nimport \"testing\"\n\nfunc TestMain(m *testing.M) {}\n\nfunc TestNever(t *testing.T) { t.Error() }\n",
    );
    check(
        &sandbox,
        &[
            "calc_test.go::ExampleAdd assertion",
            "calc_test.go::FuzzAdd pass",
            "calc_test.go::TestAllSkipped skipped",
            "calc_test.go::TestBeside pass",
            "calc_test.go::TestDies crash",
            "calc_test.go::TestEmpty assertion",
            "calc_test.go::TestEnds crash",
            "calc_test.go::TestFails assertion",
            "calc_test.go::TestHangs timeout",
            "calc_test.go::TestMistaken unrelated-failure",
            "calc_test.go::TestPanics assertion",
            "calc_test.go::TestParts assertion",
            "calc_test.go::TestPasses pass",
            "calc_test.go::TestSkips skipped",
            "calc_test.go::TestTogether assertion",
            "asks/asks_test.go missing-symbol",
            "broken/broken_test.go syntax-error",
            "calc/ends crash",
            "calc/main crash",
            "wrong/wrong_test.go unrelated-compile-error",
        ],
    );
}

#[test]
fn a_test_is_validated_by_its_file_its_name_or_a_part_of_it() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    sandbox.write(
        "calc_test.go",
        "package calc\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tt.Run(\"one (and) two\", func(t *testing.T) {\n\t\tif Add(1, 2) != 3 {\n\t\t\tt.Error()\n\t\t}\n\t})\n}\n",
    );
    let (_, said) = run(&sandbox, &["validate-red", "calc_test.go::TestAdd", "calc_test.go::TestNowhere"]);
    let causes: Vec<_> = said["verdicts"].as_array().unwrap().iter().map(|it| it["cause"].as_str()).collect();
    assert_eq!(causes, [Some("missing-symbol"), Some("target-not-found")], "{said}");
    for target in ["calc_test.go", "calc_test.go::TestAdd", "calc_test.go::TestAdd/one_(and)_two"] {
        let (code, said) = run(&sandbox, &["validate-red", target]);
        assert_eq!((code, &said["cause"]), (0, &Value::from("missing-symbol")), "{said}");
    }
    sandbox.commit("test: add");
    sandbox.write("calc.go", "package calc\n\n// Add adds.\nfunc Add(a, b int) int { return a + b }\n");
    for target in ["calc_test.go::TestAdd", "calc_test.go::TestAdd/one_(and)_two"] {
        let (code, said) = run(&sandbox, &["validate-green", target]);
        assert_eq!((code, &said["test_id"]), (0, &Value::from("calc_test.go::TestAdd")), "{said}");
    }
}

#[test]
fn a_person_retires_a_test() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    sandbox.write(
        "calc.go",
        "package calc\n\nfunc Add(a, b int) int { return a + b }\n\nfunc Up(a string) string { return a }\n",
    );
    let test = |name: &str, condition: &str| {
        format!("\nfunc {name}(t *testing.T) {{\n\tif {condition} {{\n\t\tt.Error()\n\t}}\n}}\n")
    };
    let adds = test("TestAdds", "Add(1, 2) != 3");
    let both = format!(
        "package calc\n\nimport (\n\t\"strings\"\n\t\"testing\"\n)\n{adds}{}",
        test("TestUp", "Up(\"A\") != strings.ToUpper(\"a\")")
    );
    sandbox.write("calc_test.go", &both);
    sandbox.commit("feat: add and up");
    let (code, said) = run(&sandbox, &["retire", "calc_test.go::TestUp", "--reason", "nobody needs it"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(sandbox.read("calc_test.go"), format!("package calc\n\nimport (\n\t\"testing\"\n)\n{adds}"));
    check(&sandbox, &["calc_test.go::TestAdds pass"]);
}

const RED: &str = "package calc\n\nimport \"testing\"\n\nfunc TestNothingIsZero(t *testing.T) {\n\tif got := Add(\"\"); got != 0 {\n\t\tt.Errorf(\"got %d\", got)\n\t}\n}\n";

fn green(answer: &str) -> String {
    format!(
        "// Package calc is what the kata asks for.\npackage calc\n\n// Add adds.\nfunc Add(text string) int {{\n\t{answer}\n}}\n"
    )
}

#[test]
fn a_cycle_goes_round_and_ways_round_it_do_not() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    let said = json!({"summary": "answer zero"});
    let (exits, answers) = (
        green("panic(text)")
            .replace("package calc\n\n", "package calc\n\nimport \"os\"\n\nfunc init() { os.Exit(0) }\n\n"),
        green("return 0"),
    );
    let main = "package calc\n\nimport \"testing\"\n\nfunc TestMain(m *testing.M) {}\n";
    let script = Script::new()
        .writes("1-tester", "calc_test.go", RED)
        .plans("2-implementor")
        .edits("2-implementor", 1, &[("main_test.go", Some(main)), ("calc.go", Some(&answers))], &said)
        .edits("2-implementor", 2, &[("calc.go", Some(&exits))], &said)
        .edits("2-implementor", 3, &[("calc.go", Some(&answers))], &said)
        .writes("3-refactorer", "calc.go", &answers.replace("text string", "_ string"));
    machine(&sandbox).assert_cycle(&script);
}

#[test]
fn what_vet_complains_of_is_told_and_not_taken_for_what_the_red_lacked() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    let test = "package calc\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Error()\n\t}\n}\n";
    sandbox.write("calc_test.go", test);
    sandbox.commit("test: add");
    let add = "package calc\n\nimport \"fmt\"\n\n// Add adds.\nfunc Add(a, b int) int {\n\tfmt.Printf(\"%d\", \"x\")\n\treturn a + b\n}\n";
    sandbox.write("calc.go", add);
    let (code, said) = run(&sandbox, &["validate-green", "calc_test.go"]);
    assert_eq!((code, &said["rule"]), (1, &Value::from("check-passes")), "{said}");
    let reason = said["reason"].as_str().unwrap();
    assert!(reason.starts_with("`go vet ./...` fails: ") && reason.contains("calc.go:7:"), "{reason}");
}

/// A minimal replacement of testify's suites, so that no module proxy is needed.
const SUITE: &str = "package suite\n\nimport (\n\t\"reflect\"\n\t\"strings\"\n\t\"testing\"\n)\n\n\
    type Suite struct{ t *testing.T }\n\n\
    func (s *Suite) SetT(t *testing.T) { s.t = t }\n\n\
    func (s *Suite) Equal(want, got any) {\n\tif !reflect.DeepEqual(want, got) {\n\t\ts.t.Errorf(\"want %v, got %v\", want, got)\n\t}\n}\n\n\
    func Run(t *testing.T, s interface{ SetT(*testing.T) }) {\n\tv := reflect.ValueOf(s)\n\
    \tfor i := 0; i < v.NumMethod(); i++ {\n\t\tname, method := v.Type().Method(i).Name, v.Method(i)\n\
    \t\tif strings.HasPrefix(name, \"Test\") {\n\t\t\tt.Run(name, func(t *testing.T) { s.SetT(t); method.Call(nil) })\n\t\t}\n\t}\n}\n";

#[test]
fn a_suite_of_testify_goes_round_method_by_method() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    let module = sandbox.read("go.mod");
    let testify = "github.com/stretchr/testify";
    sandbox.write("go.mod", format!("{module}\nrequire {testify} v1.9.0\n\nreplace {testify} => ./third/testify\n"));
    sandbox.write("third/testify/go.mod", format!("module {testify}\n\ngo 1.20\n"));
    sandbox.write("third/testify/suite/suite.go", SUITE);
    sandbox.write("calc.go", "package calc\n\n// Add adds.\nfunc Add(a, b int) int { return a + b }\n");
    let head = format!(
        "package calc\n\nimport (\n\t\"testing\"\n\n\t\"{testify}/suite\"\n)\n\ntype Calc struct{{ suite.Suite }}\n\n"
    );
    let (adds, run_all) = (
        "func (s *Calc) TestAdds() { s.Equal(3, Add(1, 2)) }\n",
        "\nfunc TestCalc(t *testing.T) { suite.Run(t, new(Calc)) }\n",
    );
    sandbox.write("calc_test.go", format!("{head}{adds}{run_all}"));
    sandbox.commit("feat: add");
    let multiplies = "\nfunc (s *Calc) TestMultiplies() { s.Equal(6, Mul(2, 3)) }\n";
    sandbox.write("calc_test.go", format!("{head}{adds}{multiplies}{run_all}"));
    let (code, said) = run(&sandbox, &["validate-red", "calc_test.go"]);
    assert_eq!((code, &said["cause"]), (0, &Value::from("missing-symbol")), "{said}");
    sandbox.git(&["commit", "-q", "-a", "-m", "test: mul"]);
    let code = sandbox.read("calc.go");
    sandbox.write("calc.go", format!("{code}\n// Mul multiplies.\nfunc Mul(a, b int) int {{ return a * b }}\n"));
    let (code, said) = run(&sandbox, &["validate-green", "calc_test.go"]);
    assert_eq!(code, 0, "{said}");
    sandbox.write("calc_test.go", format!("{head}{multiplies}{run_all}"));
    let (code, said) = run(&sandbox, &["validate-green", "calc_test.go"]);
    assert_eq!((code, &said["rule"]), (1, &Value::from("tests-frozen")), "{said}");
}
