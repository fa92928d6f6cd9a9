//! Tests behaviour that all languages share, with the real runners.
//!
//! A language whose tools are not installed is skipped, and the test says so.

#![expect(clippy::print_stdout, reason = "a test says which language it leaves out")]

use serde_json::Value;
use tdd_fixtures::Sandbox;
use tdd_fixtures::machine::Machine;
use tdd_fixtures::script::Script;

const PROGRAM: &str = env!("CARGO_BIN_EXE_tdd-cli");

/// The same small project in one language: a test for a missing `add`.
struct Tongue {
    language: &'static str,
    is_installed: fn(&Sandbox) -> bool,
    /// The test's file.
    test_file: &'static str,
    /// The test.
    red: &'static str,
    /// The test's name.
    name: &'static str,
    /// The production file.
    code_file: &'static str,
    /// Production that makes the test pass.
    green: &'static str,
    /// Ways to mark the test as skipped: a text of the test and its replacement.
    marks: &'static [(&'static str, &'static str)],
    /// A text that does not parse.
    broken: &'static str,
    /// Production code with a wrong `add`.
    wrong: &'static str,
    /// A test for it that fails once and then passes, because it leaves a file at `MARK`.
    flaky: &'static str,
    /// Another test file with a test `slow`, which passes only under its own command.
    slow: (&'static str, &'static str, &'static [&'static str]),
    /// Bodies of `add` that return the expected value directly.
    fakes: &'static [&'static str],
}

const TONGUES: [Tongue; 4] = [
    Tongue {
        language: "rust",
        is_installed: |_| true,
        test_file: "tests/calc.rs",
        red: "use calc::add;\n\n#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n",
        name: "adds",
        code_file: "src/lib.rs",
        green: "//! Adds.\n\n/// The sum.\npub fn add(a: u32, b: u32) -> u32 {\n    a + b\n}\n",
        marks: &[("fn adds", "#[ignore]\nfn adds"), ("fn adds", "#[ignore = \"later\"]\nfn adds")],
        broken: "#[test]\nfn half( {\n",
        wrong: "//! Adds.\n\n/// The sum.\npub fn add(a: u32, _: u32) -> u32 {\n    a\n}\n",
        flaky: "use calc::add;\n\n#[test]\nfn adds() {\n    let again = std::path::Path::new(\"MARK\").exists();\n    \
                std::fs::write(\"MARK\", \"\").unwrap();\n    assert_eq!(add(1, 2), if again { 1 } else { 3 });\n}\n",
        slow: (
            "tests/slow.rs",
            "#[test]\n#[ignore = \"slow\"]\nfn slow() {\n    assert_eq!(calc::add(2, 2), 4);\n}\n",
            &["cargo", "test", "--workspace", "{test_ids}", "--", "--include-ignored"],
        ),
        fakes: &[
            "if a == 1 { 3 } else { 0 }",
            "match a {\n        1 => 3,\n        _ => 0,\n    }",
            "[0, 3][a as usize]",
            "let table = [(1, 3)];\n    table.iter().find(|(key, _)| *key == a).map_or(0, |(_, value)| *value)",
            "std::collections::HashMap::from([(1, 3)])[&a]",
        ],
    },
    Tongue {
        language: "python",
        is_installed: Sandbox::has_pytest,
        test_file: "tests/test_calc.py",
        red: "import pytest\n\nfrom calc import add\n\n\ndef test_adds():\n    assert add(1, 2) == 3\n",
        name: "test_adds",
        code_file: "calc.py",
        green: "def add(a, b):\n    return a + b\n",
        marks: &[
            ("def test", "@pytest.mark.skip\ndef test"),
            ("def test", "@pytest.mark.skip(reason='later')\ndef test"),
            ("    assert", "    pytest.skip('later')\n    assert"),
            ("\n\ndef test", "\npytestmark = pytest.mark.skip\n\ndef test"),
        ],
        broken: "def test_half(:\n",
        wrong: "def add(a, b):\n    return a\n",
        flaky: "import os\n\nfrom calc import add\n\n\ndef test_adds():\n    again = os.path.exists('MARK')\n    \
                open('MARK', 'w').close()\n    assert add(1, 2) == (1 if again else 3)\n",
        slow: (
            "tests/slow/test_slow.py",
            "import warnings\n\nimport pytest\n\nfrom calc import add\n\n\ndef test_slow():\n    with pytest.raises(UserWarning):\n        \
             warnings.warn('slow')\n    assert add(2, 2) == 4\n",
            &["pytest", "-W", "error", "{test_ids}"],
        ),
        fakes: &[
            "return 3 if a == 1 else 0",
            "match a:\n        case 1:\n            return 3",
            "return {1: 3}[a]",
            "table = {1: 3}\n    return table[a]",
        ],
    },
    Tongue {
        language: "javascript",
        is_installed: Sandbox::has_node,
        test_file: "test/calc.test.js",
        red: "import { test, it } from 'node:test';\nimport assert from 'node:assert';\nimport { add } from '../src/calc.js';\n\n\
              test('adds', (t) => {\n  assert.equal(add(1, 2), 3);\n});\n",
        name: "adds",
        code_file: "src/calc.js",
        green: "export function add(a, b) {\n  return a + b;\n}\n",
        marks: &[
            ("test('adds'", "test.skip('adds'"),
            ("test('adds'", "it.skip('adds'"),
            ("test('adds'", "test.todo('adds'"),
            ("'adds', ", "'adds', { skip: true }, "),
            ("  assert.", "  t.skip();\n  assert."),
        ],
        broken: "import test from 'node:test';\n\ntest('half', ( => {\n",
        wrong: "export function add(a, b) {\n  return a;\n}\n",
        flaky: "import { test } from 'node:test';\nimport assert from 'node:assert';\nimport fs from 'node:fs';\nimport { add } from '../src/calc.js';\n\n\
                test('adds', () => {\n  const again = fs.existsSync('MARK');\n  fs.writeFileSync('MARK', '');\n  assert.equal(add(1, 2), again ? 1 : 3);\n});\n",
        slow: (
            "test/slow/slow.test.js",
            "import { test } from 'node:test';\nimport assert from 'node:assert';\nimport { add } from '../../src/calc.js';\n\n\
             test('slow', () => {\n  assert.equal(Error.stackTraceLimit, 7);\n  assert.equal(add(2, 2), 4);\n});\n",
            &["node", "--stack-trace-limit=7", "--test", "{test_ids}"],
        ),
        fakes: &[
            "return a === 1 ? 3 : 0;",
            "switch (a) {\n    case 1:\n      return 3;\n    default:\n      return 0;\n  }",
            "return { 1: 3 }[a];",
            "const T = { 1: 3 };\n  return T[a];",
        ],
    },
    Tongue {
        language: "go",
        is_installed: Sandbox::has_go,
        test_file: "calc_test.go",
        red: "package calc\n\nimport \"testing\"\n\nfunc TestAdds(t *testing.T) {\n\tif got := Add(1, 2); got != 3 {\n\t\tt.Errorf(\"got %d\", got)\n\t}\n}\n",
        name: "TestAdds",
        code_file: "calc.go",
        green: "// Package calc adds.\npackage calc\n\n// Add adds.\nfunc Add(a, b int) int {\n\treturn a + b\n}\n",
        marks: &[("\tif got", "\tt.Skip(\"later\")\n\tif got"), ("\tif got", "\tt.SkipNow()\n\tif got")],
        broken: "package calc\n\nimport \"testing\"\n\nfunc TestHalf(t *testing.T {\n",
        wrong: "// Package calc adds.\npackage calc\n\n// Add adds.\nfunc Add(a, b int) int {\n\treturn a\n}\n",
        flaky: "package calc\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestAdds(t *testing.T) {\n\texpected := 3\n\t\
                if _, err := os.Stat(\"MARK\"); err == nil {\n\t\texpected = 1\n\t}\n\t_ = os.WriteFile(\"MARK\", nil, 0o600)\n\t\
                if got := Add(1, 2); got != expected {\n\t\tt.Errorf(\"got %d\", got)\n\t}\n}\n",
        slow: (
            "slow_test.go",
            "package calc\n\nimport \"testing\"\n\nfunc TestSlow(t *testing.T) {\n\tif !testing.Short() {\n\t\tt.Fatal(\"not short\")\n\t}\n\t\
             if Add(2, 2) != 4 {\n\t\tt.Error(\"wrong\")\n\t}\n}\n",
            &["go", "test", "-short", "./...", "{test_ids}"],
        ),
        fakes: &[
            "if a == 1 {\n\t\treturn 3\n\t}\n\treturn 0",
            "switch a {\n\tcase 1:\n\t\treturn 3\n\t}\n\treturn 0",
            "return map[int]int{1: 3}[a]",
            "table := map[int]int{1: 3}\n\treturn table[a]",
        ],
    },
];

impl Tongue {
    /// Calls `then` with a new project in each installed language.
    fn each(then: impl Fn(&Self, &Sandbox)) {
        for tongue in &TONGUES {
            let sandbox = Sandbox::new();
            if !(tongue.is_installed)(&sandbox) {
                println!("skipped: the tools of {} are not installed", tongue.language);
                continue;
            }
            machine(&sandbox).succeeds(&["init", "--language", tongue.language, "--name", "calc"]);
            then(tongue, &sandbox);
        }
    }
}

fn machine(sandbox: &Sandbox) -> Machine<'_> {
    Machine::new(sandbox, PROGRAM)
}

/// The exit code and cause on one line.
fn answer(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let (code, document) = machine(sandbox).document(arguments);
    format!("{code} {}", document["cause"].as_str().unwrap_or("-"))
}

#[test]
fn a_test_that_is_marked_as_skipped_is_no_red_even_where_it_cannot_be_built() {
    Tongue::each(|tongue, sandbox| {
        sandbox.write(tongue.test_file, tongue.red);
        assert_eq!(answer(sandbox, &["validate-red", tongue.test_file]), "0 missing-symbol", "{}", tongue.language);
        for (before, after) in tongue.marks {
            sandbox.write(tongue.test_file, tongue.red.replace(before, after));
            for command in [&["validate-red", tongue.test_file][..], &["check"]] {
                assert_eq!(answer(sandbox, command), "1 skipped", "{} {command:?}: {after}", tongue.language);
            }
        }
    });
}

#[test]
fn a_run_refuses_a_test_that_is_marked_as_skipped() {
    Tongue::each(|tongue, sandbox| {
        let (before, after) = tongue.marks[0];
        let said = serde_json::json!({"summary": "do it"});
        let script = Script::new()
            .plans("1-tester")
            .edits("1-tester", 1, &[(tongue.test_file, Some(&tongue.red.replace(before, after)))], &said)
            .edits("1-tester", 2, &[(tongue.test_file, Some(tongue.red))], &said);
        let (code, told) = machine(sandbox).replay(&["--steps", "1"], &script);
        assert_eq!(code, Some(0), "{}: {told}", tongue.language);
        let (_, reverted) = machine(sandbox).document(&["log", "--type", "reverted"]);
        assert_eq!(reverted["cause"], "skipped", "{}: {told}", tongue.language);
        assert_eq!(sandbox.git(&["show", &format!("HEAD:{}", tongue.test_file)]), tongue.red);
    });
}

#[test]
fn a_skip_under_a_condition_leaves_a_red_a_red() {
    let conditions = [
        ("rust", "fn adds", "#[cfg_attr(windows, ignore)]\nfn adds"),
        ("python", "def test", "@pytest.mark.skipif(__import__('os').name == 'nt', reason='later')\ndef test"),
        ("javascript", "'adds', ", "'adds', { skip: process.platform === 'win32' }, "),
        ("go", "\tif got", "\tif testing.Short() {\n\t\tt.Skip(\"slow\")\n\t}\n\tif got"),
    ];
    Tongue::each(|tongue, sandbox| {
        let (_, before, after) = conditions.iter().find(|(language, ..)| *language == tongue.language).unwrap();
        sandbox.write(tongue.test_file, tongue.red.replace(before, after));
        assert_eq!(answer(sandbox, &["validate-red", tongue.test_file]), "0 missing-symbol", "{}", tongue.language);
    });
}

#[test]
fn a_target_that_cannot_be_judged_is_a_verdict() {
    Tongue::each(|tongue, sandbox| {
        let folder = tongue.test_file.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
        let beside = |name: &str| format!("{folder}{}", tongue.test_file.replace(&folder, "").replace("calc", name));
        let (broken, empty, nowhere) = (beside("broken"), beside("empty"), beside("nowhere"));
        let judged = |target: &str, expected: &str| {
            for command in ["validate-red", "validate-green", "check"] {
                let said = answer(sandbox, &[command, target]);
                assert_eq!(said, format!("1 {expected}"), "{} {command} {target}", tongue.language);
            }
        };
        for target in [nowhere.as_str(), "nope", &format!("{nowhere}::nope")] {
            judged(target, "target-not-found");
        }
        judged("tdd.yaml", "zero-tests");
        sandbox.write(&empty, if tongue.language == "go" { "package calc\n" } else { "\n" });
        judged(&empty, "zero-tests");
        sandbox.write(&broken, tongue.broken);
        judged(&broken, "syntax-error");
    });
}

#[test]
fn a_new_project_passes_its_own_checks() {
    Tongue::each(|tongue, sandbox| {
        machine(sandbox).assert_new_project_is_ready(match tongue.language {
            "rust" => &["cargo"],
            "python" => &["python", "pytest"],
            "javascript" => &["node"],
            _ => &["go", "gofmt"],
        });
    });
}

#[test]
fn production_code_that_asks_for_the_runner_blocks() {
    Tongue::each(|tongue, sandbox| {
        let (asks, sign) = match tongue.language {
            "rust" => ("pub fn add() -> u32 {\n    if cfg!(test) { 3 } else { 0 }\n}\n", "cfg!(test)"),
            "python" => (
                "import sys\n\n\ndef add(a, b):\n    return 3 if 'pytest' in sys.modules else 0\n",
                "whether a test runner is loaded",
            ),
            "javascript" => {
                ("export const add = (a, b) => (process.env.NODE_TEST_CONTEXT ? 3 : 0);\n", "NODE_TEST_CONTEXT")
            }
            _ => (
                "package calc\n\nimport \"flag\"\n\nfunc Add() int {\n\tif flag.Lookup(\"test.v\") != nil {\n\t\treturn 3\n\t}\n\treturn 0\n}\n",
                "a flag that the test binary has",
            ),
        };
        sandbox.write(tongue.code_file, asks);
        let (code, said) = machine(sandbox).document(&["detect-antipattern", tongue.code_file]);
        assert_eq!(code, 1, "{}: {said}", tongue.language);
        assert!(said.to_string().contains(sign), "{}: {said}", tongue.language);
    });
}

#[test]
fn a_blocked_test_is_skipped_by_the_machine_and_counts_again_when_a_person_unblocks_it() {
    Tongue::each(|tongue, sandbox| {
        // In Rust, what does not compile is not even listed: `person.rs` says what becomes of it.
        if tongue.language == "rust" {
            return;
        }
        let test = format!("{}::{}", tongue.test_file, tongue.name);
        let (red, wrong) = ((tongue.test_file, tongue.red), (tongue.code_file, tongue.wrong));
        machine(sandbox).assert_blocked_test_comes_back(&test, red, wrong);
    });
}

#[test]
fn a_run_goes_on_after_the_only_test_was_skipped() {
    Tongue::each(|tongue, sandbox| {
        let said = serde_json::json!({"summary": "do it"});
        let config = sandbox.read("tdd.yaml");
        sandbox.write("tdd.yaml", config.replace("max_attempts_per_agent: 5", "max_attempts_per_agent: 1"));
        sandbox.commit("chore: fewer attempts");
        let nothing: [(&str, Option<&str>); 0] = [];
        let script = Script::new().writes("1-tester", tongue.test_file, tongue.red).plans("2-implementor").edits(
            "2-implementor",
            1,
            &nothing,
            &said,
        );
        let (code, told) = machine(sandbox).replay(&["--steps", "2"], &script);
        assert_eq!(code, Some(4), "{}: {told}", tongue.language);
        machine(sandbox).succeeds(&["resume", "--skip"]);
        let (_, status) = machine(sandbox).document(&["status"]);
        let stands = (&status["next_role"], &status["red"], &status["paused"]);
        assert_eq!(stands, (&"tester".into(), &Value::Array(Vec::new()), &Value::Null), "{}", tongue.language);

        let other = tongue.test_file.replace("calc", "more");
        let (name, another) = (tongue.name, tongue.name.replace("dds", "ddsMore"));
        let more = tongue.red.replace(name, &another).replace("(1, 2)", "(2, 2)").replace(" 3", " 4");
        let script =
            Script::new().writes("2-tester", &other, &more).writes("3-implementor", tongue.code_file, tongue.green);
        let (code, told) = machine(sandbox).replay(&["--steps", "2"], &script);
        assert_eq!(code, Some(0), "{}: {told}", tongue.language);
        let subjects = sandbox.git(&["log", "--format=%s"]);
        let subjects: Vec<&str> = subjects.lines().take(3).collect();
        let skipped = format!("test: skip {name}");
        assert_eq!(subjects, ["feat: do it", "test: do it", &skipped], "{}", tongue.language);
    });
}

#[test]
fn a_red_that_passes_when_it_is_run_again_is_flaky() {
    Tongue::each(|tongue, sandbox| {
        sandbox.write(tongue.code_file, tongue.wrong);
        sandbox.commit("feat: wrong");
        let mark = sandbox.outside().join("mark");
        sandbox.write(tongue.test_file, tongue.flaky.replace("MARK", mark.to_str().unwrap()));
        for command in [&["validate-red", tongue.test_file][..], &["check"]] {
            assert_eq!(answer(sandbox, command), "1 flaky", "{} {command:?}", tongue.language);
            std::fs::remove_file(&mark).unwrap();
            // Changes the tree, so that the cached run is not used.
            sandbox.write("NOTES.md", format!("{command:?}"));
        }
        sandbox.write("tdd.yaml", sandbox.read("tdd.yaml") + "gate: { flaky_reruns: 0 }\n");
        sandbox.git(&["commit", "-q", "-m", "chore: no second look", "tdd.yaml"]);
        assert_eq!(answer(sandbox, &["validate-red", tongue.test_file]), "0 assertion", "{}", tongue.language);
    });
}

#[test]
fn tests_that_have_a_command_of_their_own_are_run_by_it() {
    Tongue::each(|tongue, sandbox| {
        let (file, slow, command) = tongue.slow;
        let command = serde_json::to_string(command).unwrap();
        let pattern = file.rsplit_once("slow").unwrap().0.to_owned() + "slow";
        let rule = format!("ci:\n  test_command_for: [{{ match: \"{pattern}\", cmd: {command} }}]\n");
        sandbox.write("tdd.yaml", sandbox.read("tdd.yaml").replace("ci:\n", &rule));
        sandbox.write(tongue.test_file, tongue.red);
        sandbox.write(tongue.code_file, tongue.wrong);
        sandbox.commit("feat: wrong");
        sandbox.write(file, slow);
        assert_eq!(answer(sandbox, &["validate-red", file]), "0 assertion", "{}", tongue.language);
        sandbox.commit("test: slow");
        sandbox.write(tongue.code_file, tongue.green);
        let results = sandbox.results(PROGRAM);
        assert_eq!(results.len(), 2, "{}: {results:?}", tongue.language);
        assert!(results.iter().all(|result| result.ends_with(" pass")), "{}: {results:?}", tongue.language);
        let (code, verdict) = machine(sandbox).document(&["validate-green", file]);
        assert_eq!(code, 0, "{}: {verdict}", tongue.language);
    });
}

#[test]
fn a_run_keeps_to_the_commands_that_tests_have_of_their_own() {
    Tongue::each(|tongue, sandbox| {
        let (file, slow, command) = tongue.slow;
        let command = serde_json::to_string(command).unwrap();
        let rule = format!("ci:\n  test_command_for: [{{ match: \"**/*slow*\", cmd: {command} }}]\n");
        sandbox.write("tdd.yaml", sandbox.read("tdd.yaml").replace("ci:\n", &rule));
        sandbox.commit("chore: slow tests");
        let script =
            Script::new().writes("1-tester", file, slow).writes("2-implementor", tongue.code_file, tongue.green);
        let (code, told) = machine(sandbox).replay(&["--steps", "2"], &script);
        assert_eq!(code, Some(0), "{}: {told}", tongue.language);
        assert_eq!(sandbox.git(&["log", "-1", "--format=%s"]).trim(), "feat: do it", "{}: {told}", tongue.language);
    });
}

#[test]
fn a_make_target_that_only_calls_a_runner_is_that_runner() {
    Tongue::each(|tongue, sandbox| {
        let (file, slow, command) = tongue.slow;
        let recipe: Vec<&str> = command.iter().copied().filter(|word| *word != "{test_ids}").collect();
        sandbox.write("Makefile", format!(".PHONY: test\ntest:\n\t@{}\n", recipe.join(" ")));
        sandbox.write(file, slow);
        sandbox.write(tongue.code_file, tongue.green);
        let passes = || {
            let results = sandbox.results(PROGRAM);
            assert_eq!(results.len(), 1, "{}: {results:?}", tongue.language);
            assert!(results[0].ends_with(" pass"), "{}: {results:?}", tongue.language);
        };
        sandbox.write("tdd.yaml", format!("language: {}\nci: {{ test_cmd: [make, test] }}\n", tongue.language));
        passes();
        // If no runner is configured, the Makefile's test target is used.
        let without_runner =
            [("python", "pyproject.toml", ""), ("javascript", "package.json", "{\"type\": \"module\"}\n")];
        if let Some((_, manifest, text)) = without_runner.iter().find(|(language, ..)| *language == tongue.language) {
            sandbox.write(manifest, text);
            sandbox.write("tdd.yaml", "");
            passes();
        }
    });
}

#[test]
fn an_answer_that_is_made_for_the_test_is_told_in_whatever_form_it_comes() {
    Tongue::each(|tongue, sandbox| {
        sandbox.write(tongue.test_file, tongue.red);
        sandbox.commit("test: adds");
        for fake in tongue.fakes {
            let body = if tongue.language == "rust" { "a + b" } else { "return a + b" };
            sandbox.write(tongue.code_file, tongue.green.replace(body, fake).replace(";;", ";"));
            let (_, document) = machine(sandbox).document(&["detect-antipattern"]);
            let found = document["findings"].as_array().unwrap();
            let is_told = found.iter().any(|finding| finding["rule"] == "hard-coded-value");
            assert!(is_told, "{} {fake}: {document}", tongue.language);
        }
        sandbox.write(tongue.code_file, tongue.green);
        let (_, document) = machine(sandbox).document(&["detect-antipattern"]);
        assert_eq!(document["findings"], Value::Array(Vec::new()), "{}", tongue.language);
    });
}

#[test]
fn a_file_that_is_nested_without_end_is_refused_by_every_command_that_reads_it() {
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
    Tongue::each(|tongue, sandbox| {
        let told = |arguments: &[&str], expected: &str| {
            let (code, said) = sandbox.answer(PROGRAM, arguments);
            let cause = said["cause"].as_str().unwrap_or("-");
            assert_eq!(format!("{code} {cause}"), expected, "{} {arguments:?}: {said}", tongue.language);
        };
        for (open, close) in [("(", ")"), ("(", ""), ("[", "]"), ("{", "}"), ("f(", ")")] {
            sandbox.write(tongue.test_file, tongue.red.replacen('3', &deep(open, close), 1));
            told(&["validate-red", tongue.test_file], "1 syntax-error");
            told(&["check"], "1 syntax-error");
            told(&["detect-antipattern", tongue.test_file], "2 -");
            told(&["detect-antipattern"], "1 -");
        }
        std::fs::remove_file(sandbox.project().join(tongue.test_file)).unwrap();
        for (open, close) in [("(", ")"), ("{", "}"), ("f(", ")"), ("-", ""), ("1 + ", ""), ("1 +\n", ""), ("a.", "")] {
            sandbox.write(tongue.code_file, tongue.green.replace("a + b", &deep(open, close)));
            told(&["validate-refactor"], "1 syntax-error");
            told(&["detect-antipattern", tongue.code_file], "2 -");
            told(&["status"], "0 -");
        }
        sandbox.write(tongue.code_file, format!("{}{}", tongue.green, deep("!", "")));
        let (_, document) = machine(sandbox).document(&["validate-refactor"]);
        let line = tongue.green.lines().count() + 1;
        let reason = document["reason"].as_str().unwrap_or_default();
        assert!(reason.starts_with(&format!("`{}` does not parse: line {line}, `!!", tongue.code_file)), "{document}");
        assert!(reason.contains("the code is nested deeper than 2000 levels"), "{document}");
    });
}

#[test]
fn a_source_that_is_not_text_is_not_overlooked() {
    Tongue::each(|tongue, sandbox| {
        sandbox.write(tongue.code_file, tongue.green);
        sandbox.commit("feat: adds");
        let latin: Vec<u8> = [b"// \xe9\n".as_slice(), tongue.wrong.as_bytes()].concat();
        std::fs::write(sandbox.project().join(tongue.code_file), latin).unwrap();
        let (code, said) = sandbox.answer(PROGRAM, &["validate-refactor"]);
        assert_eq!((code, said["cause"].as_str()), (1, Some("syntax-error")), "{} {said}", tongue.language);
        let (code, _) = sandbox.answer(PROGRAM, &["detect-antipattern", tongue.code_file]);
        assert_eq!(code, 2, "{}", tongue.language);
    });
}

#[test]
fn settings_scripts_and_instructions_are_a_persons_in_every_language() {
    Tongue::each(|tongue, sandbox| {
        for path in [".editorconfig", "AGENTS.md", "renovate.json", "run-all.sh", "x.egg-info/PKG-INFO", ".gitmodules"]
        {
            sandbox.write(path, "x\n");
            let (code, said) = sandbox.answer(PROGRAM, &["validate-refactor"]);
            let refused = (code, said["rule"].as_str());
            assert_eq!(refused, (1, Some("steering-frozen")), "{} {path}: {said}", tongue.language);
            std::fs::remove_file(sandbox.project().join(path)).unwrap();
        }
    });
}
