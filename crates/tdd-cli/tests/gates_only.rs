//! Tests the gates in a project without models, which needs no kata and no config.
//!
//! Tests print that a language is skipped if its tools are not installed.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]
#![expect(clippy::print_stdout, reason = "a test that is skipped says why")]

use std::process::Output;

use serde_json::{Value, json};
use tdd_fixtures::Sandbox;

const PROGRAM: &str = env!("CARGO_BIN_EXE_tdd-cli");

/// A small project: manifest, wrong code, and a test that detects the mistake.
struct Sample {
    language: &'static str,
    manifest: (&'static str, &'static str),
    code: (&'static str, &'static str),
    test: (&'static str, &'static str),
    id: &'static str,
}

/// The wrong text in each code and its correction.
const MISTAKE: (&str, &str) = ("a - b", "a + b");

const RUST: Sample = Sample {
    language: "rust",
    manifest: ("Cargo.toml", "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
    code: ("src/lib.rs", "//! Adds.\n\n/// The sum.\npub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n"),
    test: ("tests/calc.rs", "#[test]\nfn adds() {\n    assert_eq!(calc::add(1, 2), 3);\n}\n"),
    id: "tests/calc.rs::adds",
};
const PYTHON: Sample = Sample {
    language: "python",
    manifest: ("pyproject.toml", "[project]\nname = \"calc\"\nversion = \"0.1.0\"\n"),
    code: ("calc.py", "def add(a, b):\n    return a - b\n"),
    test: ("test_calc.py", "from calc import add\n\n\ndef test_adds():\n    assert add(1, 2) == 3\n"),
    id: "test_calc.py::test_adds",
};
const JAVASCRIPT: Sample = Sample {
    language: "javascript",
    manifest: (
        "package.json",
        "{\"name\": \"calc\", \"type\": \"module\", \"scripts\": {\"test\": \"node --test\"}}\n",
    ),
    code: ("src/calc.js", "export const add = (a, b) => a - b;\n"),
    test: (
        "test/calc.test.js",
        "import test from 'node:test';\nimport assert from 'node:assert';\nimport { add } from '../src/calc.js';\n\n\
         test('adds', () => {\n  assert.equal(add(1, 2), 3);\n});\n",
    ),
    id: "test/calc.test.js::adds",
};
const GO: Sample = Sample {
    language: "go",
    manifest: ("go.mod", "module example.org/calc\n\ngo 1.21\n"),
    code: (
        "calc.go",
        "// Package calc adds.\npackage calc\n\n// Add gives the sum.\nfunc Add(a, b int) int {\n\treturn a - b\n}\n",
    ),
    test: (
        "calc_test.go",
        "package calc\n\nimport \"testing\"\n\nfunc TestAdds(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal(\"no\")\n\t}\n}\n",
    ),
    id: "calc_test.go::TestAdds",
};

impl Sample {
    /// A committed project; `None` without the language's tools.
    fn lay(&self) -> Option<Sandbox> {
        let sandbox = Sandbox::new();
        let installed = match self.language {
            "python" => sandbox.has_pytest(),
            "javascript" => sandbox.has_node(),
            "go" => sandbox.has_go(),
            _ => true,
        };
        if !installed {
            println!("skipped: the tools of {} are not installed", self.language);
            return None;
        }
        sandbox.write(".gitignore", "/target\n__pycache__\n.pytest_cache\n");
        sandbox.write(self.manifest.0, self.manifest.1);
        sandbox.write(self.code.0, self.code.1);
        if self.language == "rust" {
            sandbox.command("cargo").args(["generate-lockfile", "--offline"]).output().unwrap();
        }
        sandbox.git(&["init", "-q", "-b", "main"]);
        sandbox.commit("feat: what there is");
        Some(sandbox)
    }

    /// Checks a red and a green with `check`.
    fn assert_checked(&self, sandbox: &Sandbox) {
        sandbox.write(self.test.0, self.test.1);
        let (code, red) = sandbox.answer(PROGRAM, &["check"]);
        assert_eq!((code, &red["phase"], &red["tests"]), (0, &json!("red"), &json!([self.id])), "{red}");
        sandbox.commit("test: pin addition");
        sandbox.write(self.code.0, self.code.1.replace(MISTAKE.0, MISTAKE.1));
        let (code, green) = sandbox.answer(PROGRAM, &["check"]);
        assert_eq!((code, &green["phase"], &green["tests"]), (0, &json!("green"), &json!([self.id])), "{green}");
    }
}

fn run(sandbox: &Sandbox, arguments: &[&str]) -> Output {
    sandbox.command(PROGRAM).args(arguments).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn check_needs_no_configuration_in_any_language() {
    for sample in [RUST, PYTHON, JAVASCRIPT, GO] {
        let Some(sandbox) = sample.lay() else { continue };
        sample.assert_checked(&sandbox);
        assert_eq!(sandbox.git(&["status", "--porcelain"]), format!(" M {}\n", sample.code.0), "{}", sample.language);
    }
}

#[test]
fn gates_only_adds_a_configuration_and_nothing_else() {
    for sample in [RUST, PYTHON, JAVASCRIPT, GO] {
        let Some(sandbox) = sample.lay() else { continue };
        let (code, outcome) = sandbox.answer(PROGRAM, &["init", "--gates-only"]);
        assert_eq!((code, &outcome["created"], &outcome["kata"]), (0, &json!(["tdd.yaml"]), &Value::Null), "{outcome}");
        assert_eq!(sandbox.git(&["show", "--format=", "--name-only"]), "tdd.yaml\n");
        let config = sandbox.read("tdd.yaml");
        assert!(!["kata", "roles", "llm", "model"].iter().any(|word| config.contains(word)), "{config}");
        assert!(config.contains(&format!("language: \"{}\"", sample.language)), "{config}");
        assert_healthy_without_kata_and_model(&sandbox);
        sample.assert_checked(&sandbox);
        assert_eq!(sandbox.answer(PROGRAM, &["init", "--gates-only"]).1["created"], json!([]), "a second time");
    }
}

/// `doctor` and `status` do not ask for what the gates do not need.
fn assert_healthy_without_kata_and_model(sandbox: &Sandbox) {
    let (code, doctor) = sandbox.answer(PROGRAM, &["doctor"]);
    assert_eq!((code, &doctor["healthy"]), (0, &json!(true)), "{doctor}");
    for finding in doctor["findings"].as_array().unwrap() {
        let is_about_models = ["kata", "models"].iter().any(|subject| finding["subject"] == *subject);
        assert!(!is_about_models || finding["state"] == "ok", "{finding}");
    }
    for arguments in [&["status"][..], &["-q", "status"]] {
        let status = said(&run(sandbox, arguments));
        assert!(!["kata", "model", "tester", "step"].iter().any(|word| status.contains(word)), "{status}");
    }
}

#[test]
fn doctor_and_status_are_content_without_any_configuration() {
    let Some(sandbox) = JAVASCRIPT.lay() else { return };
    assert_healthy_without_kata_and_model(&sandbox);
}

#[test]
fn a_kata_that_is_named_or_asked_for_by_a_model_must_be_there() {
    let Some(sandbox) = JAVASCRIPT.lay() else { return };
    for config in [
        "kata_description: goal.md\n",
        "roles: { tester: { model: small } }\nllm: { base_url: 'http://localhost:1/v1' }\n",
    ] {
        sandbox.write("tdd.yaml", config);
        let (code, doctor) = sandbox.answer(PROGRAM, &["doctor", "--offline"]);
        let findings = doctor["findings"].as_array().unwrap();
        let kata = findings.iter().find(|finding| finding["subject"] == "kata").unwrap();
        assert_eq!((code, &kata["state"]), (2, &json!("config")), "{config}: {doctor}");
    }
}

#[test]
fn gates_only_in_an_empty_folder_makes_a_project_without_a_kata() {
    let sandbox = Sandbox::new();
    let (code, outcome) = sandbox.answer(PROGRAM, &["init", "--gates-only", "--language", "javascript"]);
    assert_eq!(code, 0, "{outcome}");
    assert_eq!(outcome["created"], json!([".gitignore", "package.json", "tdd.yaml", "test/.gitkeep"]));
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
}

#[test]
fn gates_only_puts_no_scaffold_beside_a_persons_files() {
    let sandbox = Sandbox::new();
    sandbox.git(&["init", "-q", "-b", "main"]);
    sandbox.write("notes.txt", "mine\n");
    sandbox.commit("docs: notes");
    let output = run(&sandbox, &["init", "--gates-only"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("try: "), "{}", said(&output));
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    let both = run(&sandbox, &["init", "--gates-only", "--kata", "notes.txt"]);
    assert_eq!(both.status.code(), Some(2), "a kata is not for the gates: {}", said(&both));
}

#[test]
fn no_commit_writes_and_says_what_to_commit() {
    let Some(sandbox) = JAVASCRIPT.lay() else { return };
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    sandbox.write(".git/index.lock", "");
    let output = run(&sandbox, &["init", "--no-commit"]);
    std::fs::remove_file(sandbox.project().join(".git/index.lock")).unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("`git add kata.md tdd.yaml && git commit`"), "{}", said(&output));
    assert_eq!(sandbox.git(&["rev-parse", "HEAD"]), head);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "?? kata.md\n?? tdd.yaml\n", "nothing is staged");
    let sandbox = JAVASCRIPT.lay().unwrap();
    let (code, outcome) = sandbox.answer(PROGRAM, &["init", "--no-commit", "--gates-only"]);
    assert_eq!((code, &outcome["commit"], &outcome["uncommitted"]), (0, &Value::Null, &json!(["tdd.yaml"])));
    let quiet = run(&JAVASCRIPT.lay().unwrap(), &["-q", "init", "--no-commit"]);
    assert_eq!(said(&quiet).lines().count(), 1, "{}", said(&quiet));
}

/// The author and committer of the last commit.
fn author(sandbox: &Sandbox) -> String {
    sandbox.git(&["log", "-1", "--format=%an <%ae>, %cn <%ce>"]).trim().to_owned()
}

#[test]
fn what_a_person_sets_up_or_retires_is_committed_in_their_name() {
    let Some(sandbox) = JAVASCRIPT.lay() else { return };
    let output = run(&sandbox, &["init"]);
    assert_eq!(author(&sandbox), "TDD Machine <tdd@local>, TDD Machine <tdd@local>");
    assert!(said(&output).contains("git has no name for you"), "{}", said(&output));

    let person = "Ada <ada@example.org>, Ada <ada@example.org>";
    let sandbox = JAVASCRIPT.lay().unwrap();
    sandbox.git(&["config", "user.name", "Ada"]);
    sandbox.git(&["config", "user.email", "ada@example.org"]);
    let output = run(&sandbox, &["init"]);
    assert_eq!((author(&sandbox).as_str(), String::from_utf8_lossy(&output.stderr).as_ref()), (person, ""));
    sandbox.write(JAVASCRIPT.test.0, JAVASCRIPT.test.1);
    sandbox.commit("test: pin addition");
    let output = run(&sandbox, &["retire", JAVASCRIPT.id, "--reason", "no sums any more"]);
    assert_eq!((output.status.code(), author(&sandbox).as_str()), (Some(0), person), "{}", said(&output));

    let sandbox = JAVASCRIPT.lay().unwrap();
    let mut command = sandbox.command(PROGRAM);
    command.args(["init"]).envs([("GIT_AUTHOR_NAME", "Ada"), ("GIT_AUTHOR_EMAIL", "ada@example.org")]);
    assert!(command.output().unwrap().status.success());
    assert_eq!(author(&sandbox), person, "the environment's word counts, as with git");
}
