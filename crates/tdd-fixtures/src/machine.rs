//! Runs the real program on a sandbox project, with assertions that hold for every language.

use std::fs;

use serde_json::Value;

use crate::script::Script;
use crate::{Sandbox, must};

/// What differs from run to run in what the program prints (a pattern), and what a snapshot holds instead.
pub const VOLATILE: [(&str, &str); 4] = [
    (r"\b[0-9a-f]{10}\b", "[commit]"),
    (r"\b[0-9a-f]{40}\b", "[id]"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "[time]"),
    (r"in \d+\.\d\d s", "in [seconds]"),
];

/// The real program on the project of a sandbox.
#[derive(Clone, Copy, Debug)]
pub struct Machine<'s> {
    sandbox: &'s Sandbox,
    program: &'s str,
}

impl<'s> Machine<'s> {
    /// Uses the program at this path.
    pub fn new(sandbox: &'s Sandbox, program: &'s str) -> Self {
        Self { sandbox, program }
    }

    /// Runs a command; returns its exit code and its JSON document.
    ///
    /// # Panics
    /// If the command prints anything else.
    pub fn document(&self, arguments: &[&str]) -> (i32, Value) {
        let mut command = self.sandbox.command(self.program);
        let output = must("run it", command.args(arguments).args(["--format", "json"]).output());
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let document = serde_json::from_str(&text).unwrap_or_else(|_| {
            panic!("{arguments:?} gave `{text}`: {}", String::from_utf8_lossy(&output.stderr));
        });
        (output.status.code().unwrap_or(-1), document)
    }

    /// Runs a command that must succeed.
    ///
    /// # Panics
    /// If it fails.
    pub fn succeeds(&self, arguments: &[&str]) -> Value {
        let (code, said) = self.sandbox.answer(self.program, arguments);
        assert_eq!(code, 0, "{arguments:?}: {said}");
        said
    }

    /// From now on each test may take this many seconds.
    pub fn set_test_timeout(&self, seconds: u32) {
        let config = self.sandbox.read("tdd.yaml").replace("ci:\n", &format!("ci:\n  timeout_secs: {seconds}\n"));
        self.sandbox.write("tdd.yaml", config);
    }

    /// Runs steps with the models of a script; exit code and what was told.
    pub fn replay(&self, how: &[&str], script: &Script) -> (Option<i32>, String) {
        let path = self.sandbox.outside().join("script.jsonl");
        must("write the script", fs::write(path, script.cassette()));
        let mut command = self.sandbox.command(self.program);
        let output = must("run it", command.arg("run").args(how).args(["--replay", "../script.jsonl"]).output());
        let told = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.code(), told)
    }

    /// Asserts that a new project passes its own checks and that `doctor` finds these tools.
    ///
    /// # Panics
    /// If an assertion fails.
    pub fn assert_new_project_is_ready(&self, tools: &[&str]) {
        assert_eq!(self.sandbox.results(self.program), [""; 0]);
        assert_eq!(self.sandbox.git(&["status", "--porcelain"]), "");
        let (_, doctor) = self.sandbox.answer(self.program, &["doctor"]);
        let findings = doctor["findings"].as_array().into_iter().flatten();
        let states: Vec<_> = findings.map(|finding| (&finding["subject"], &finding["state"])).collect();
        for subject in tools.iter().chain(&["project"]) {
            assert!(states.contains(&(&Value::from(*subject), &Value::from("ok"))), "{states:?}");
        }
        for word in ["begin", "end"] {
            self.succeeds(&["refactor", word]);
        }
    }

    /// Asserts that three steps of a script make one cycle, even if its implementor fails at first.
    ///
    /// # Panics
    /// If an assertion fails.
    pub fn assert_cycle(&self, script: &Script) {
        let (code, told) = self.replay(&["--steps", "3"], script);
        assert_eq!(code, Some(0), "{told}");
        let subjects = self.sandbox.git(&["log", "--format=%s"]);
        let subjects: Vec<&str> = subjects.lines().take(3).collect();
        assert_eq!(subjects, ["refactor: do it", "feat: answer zero", "test: do it"], "{told}");
        assert_eq!(self.sandbox.git(&["status", "--porcelain"]), "");
        self.succeeds(&["audit"]);
    }

    /// Asserts that `resume --skip` skips a test that the implementor failed twice, and that `resume --unblock`
    /// restores it unchanged.
    ///
    /// # Panics
    /// If an assertion fails.
    pub fn assert_blocked_test_comes_back(&self, test: &str, (file, red): (&str, &str), production: (&str, &str)) {
        let config = self.sandbox.read("tdd.yaml");
        self.sandbox.write("tdd.yaml", config.replace("max_attempts_per_agent: 5", "max_attempts_per_agent: 2"));
        self.sandbox.git(&["commit", "-q", "-a", "-m", "chore: fewer attempts"]);
        let said = serde_json::json!({"summary": "answer one"});
        let wrong = [(production.0, Some(production.1))];
        let script = Script::new()
            .writes("1-tester", file, red)
            .plans("2-implementor")
            .edits("2-implementor", 1, &wrong, &said)
            .edits("2-implementor", 2, &wrong, &said);
        let (code, told) = self.replay(&["--steps", "2"], &script);
        assert_eq!(code, Some(4), "{told}");
        self.succeeds(&["resume", "--skip"]);
        assert_eq!(self.sandbox.results(self.program), [format!("{test} skipped")]);
        self.succeeds(&["resume", "--unblock", test]);
        assert_eq!(self.sandbox.read(file), red);
    }
}

/// Defines the helpers of a test binary for one language: `project` (`None` if its tools are not installed), `machine`,
/// `run` and `check`.
#[macro_export]
macro_rules! language_tests {
    ($language:literal, $is_installed:ident) => {
        /// A project made by `init`, or `None` if the language's tools are not installed.
        fn project() -> Option<$crate::Sandbox> {
            let sandbox = $crate::Sandbox::new();
            if !sandbox.$is_installed() {
                return None;
            }
            machine(&sandbox).succeeds(&["init", "--language", $language, "--name", "calc"]);
            Some(sandbox)
        }

        /// The program on a project.
        fn machine(sandbox: &$crate::Sandbox) -> $crate::machine::Machine<'_> {
            $crate::machine::Machine::new(sandbox, env!("CARGO_BIN_EXE_tdd-cli"))
        }

        /// Returns the exit code and the JSON output.
        fn run(sandbox: &$crate::Sandbox, arguments: &[&str]) -> (i32, serde_json::Value) {
            sandbox.answer(env!("CARGO_BIN_EXE_tdd-cli"), arguments)
        }

        /// Compares the results of all tests with the expected ones.
        fn check(sandbox: &$crate::Sandbox, expected: &[&str]) {
            assert_eq!(sandbox.results(env!("CARGO_BIN_EXE_tdd-cli")), expected);
        }
    };
}
