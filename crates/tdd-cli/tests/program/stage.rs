//! A project with a program and scripted models.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tdd_fixtures::Sandbox;
use tdd_fixtures::server::{Cast, Reply, Request, Server};

/// Time limit of a run, generous for a busy machine.
const LIMIT: Duration = Duration::from_mins(3);

pub struct Stage {
    pub sandbox: Sandbox,
    pub server: Arc<Server>,
    cast: Arc<Mutex<Cast>>,
}

/// The result of a command.
pub struct Told {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// Ports functions `f1`, `f2`, …; each adds its number. The metric counts tests, minus five for code marked `slow`. A
/// held-out check that no model sees rejects code marked `cheat`.
pub const PROGRAM: &str = r#"---
schedule: every 6h
harness-cap: 12
evaluation:
  held_out: ["bash .autoloop/programs/port/held-out/honest.sh"]
---

# port

## Goal

Port the functions of the reference, one at a time.

## Target

Only modify these files:
- `src/**`
- `tests/**`

## Evaluation

```bash
n=$(grep -c '^fn ' tests/ported.rs || true)
slow=$(grep -c slow src/lib.rs || true)
echo "{\"metric\": $((n - 5 * slow)), \"passing\": $n, \"failing\": 0}"
```

## Evolution Strategy

This program uses the **Test-Driven** strategy: `strategy/test-driven.md`.
"#;

impl Stage {
    /// A project without a program.
    pub fn bare() -> Self {
        let cast = Arc::new(Mutex::new(Cast::new()));
        let playing = Arc::clone(&cast);
        let server = Server::by(move |request: &Request| -> Reply { playing.lock().unwrap().reply(request) });
        let stage = Self { sandbox: Sandbox::new(), server: Arc::new(server), cast };
        stage.ok(&["init", "--name", "kata"]);
        stage.sandbox.write("tdd.yaml", config(&stage.server.url()));
        stage.commit("chore: models");
        stage
    }

    /// A project with the program `port`.
    pub fn port() -> Self {
        let stage = Self::bare();
        stage.add_program(PROGRAM);
        stage
    }

    /// Another machine: a clone of the remote, with the same models.
    pub fn clone_of(&self, url: &str) -> Self {
        let (server, cast) = (Arc::clone(&self.server), Arc::clone(&self.cast));
        let stage = Self { sandbox: Sandbox::new(), server, cast };
        stage.sandbox.git(&["clone", "-q", url, "."]);
        stage
    }

    /// Pushes the project to a new bare repository and returns its URL.
    pub fn share(&self) -> String {
        let url = self.sandbox.outside().join("shared.git").to_str().unwrap().to_owned();
        self.sandbox.git(&["init", "-q", "--bare", &url]);
        self.sandbox.git(&["remote", "add", "origin", &url]);
        self.sandbox.git(&["push", "-q", "origin", "HEAD"]);
        let branch = self.sandbox.git(&["branch", "--show-current"]);
        self.sandbox.git(&["-C", &url, "symbolic-ref", "HEAD", &format!("refs/heads/{}", branch.trim())]);
        url
    }

    pub fn add_program(&self, text: &str) {
        self.ok(&["program", "new", "port", "--strategy", "test-driven"]);
        self.sandbox.write(".autoloop/programs/port/program.md", text);
        for name in ["test-driven.md", "prompts/write-test.md", "prompts/make-green.md", "prompts/refactor.md"] {
            let path = format!(".autoloop/programs/port/strategy/{name}");
            self.sandbox.write(&path, filled(&self.sandbox.read(&path)));
        }
        self.sandbox.write(".autoloop/programs/port/held-out/honest.sh", "! grep -q cheat src/lib.rs\n");
        self.commit("chore: a program");
    }

    /// Creates the memory branch as another tool would: a program's page without state.
    pub fn keep_page(&self, program: &str, page: &str) {
        let blob = self.sandbox.outside().join("page.md");
        fs::write(&blob, page).unwrap();
        let blob = self.sandbox.git(&["hash-object", "-w", blob.to_str().unwrap()]);
        let entry = format!("100644,{},{program}.md", blob.trim());
        self.sandbox.git(&["update-index", "--add", "--cacheinfo", &entry]);
        let tree = self.sandbox.git(&["write-tree", "--prefix="]);
        self.sandbox.git(&["reset", "-q"]);
        let commit = self.sandbox.git(&["commit-tree", tree.trim(), "-m", "an agent's page"]);
        self.sandbox.git(&["branch", "memory/autoloop", commit.trim()]);
    }

    /// Replaces the models' answers.
    pub fn recast(&self, cast: Cast) {
        *self.cast.lock().unwrap() = cast;
    }

    pub fn commit(&self, message: &str) {
        self.sandbox.commit(message);
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.sandbox.command(env!("CARGO_BIN_EXE_tdd-cli"));
        command.args(args);
        command
    }

    pub fn run(&self, args: &[&str]) -> Told {
        let output = assert_cmd::Command::from_std(self.command(args)).timeout(LIMIT).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Told { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Runs a command that must succeed and returns its output.
    #[track_caller]
    pub fn ok(&self, args: &[&str]) -> String {
        let told = self.run(args);
        assert_eq!(told.code, Some(0), "{args:?}\n{}\n{}", told.stdout, told.stderr);
        told.stdout
    }

    pub fn begin(&self, args: &[&str]) -> Child {
        self.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// All events so far.
    pub fn events(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.sandbox.project().join(".tdd/events.jsonl")).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The state of the program on its branch.
    pub fn state(&self) -> Value {
        serde_json::from_str(&self.sandbox.git(&["show", "memory/autoloop:port.json"])).unwrap()
    }

    /// The page of the program on its branch.
    pub fn page(&self) -> String {
        self.sandbox.git(&["show", "memory/autoloop:port.md"])
    }

    /// Runs one iteration; returns its outcome, phase, metric and exit code.
    pub fn iterate(&self, cast: Cast) -> String {
        self.recast(cast);
        let told = self.run(&["program", "run", "port"]);
        assert_eq!(self.sandbox.git(&["status", "--porcelain"]), "", "the tree is not clean");
        let code = told.code.unwrap_or(-1);
        assert!(matches!(code, 0 | 4), "{}\n{}", told.stdout, told.stderr);
        format!("{} exit {code}", self.last())
    }

    /// The outcome, phase and metric of the last iteration.
    pub fn last(&self) -> String {
        let past = &self.state()["history"]["entries"][0];
        let text = |key: &str| past[key].as_str().unwrap_or_default().to_owned();
        format!("{} {} {}", text("outcome"), text("phase"), past["metric"])
    }
}

/// Replaces every marker of a template by a text.
pub fn filled(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<CUSTOMIZE:") {
        out += before;
        out += "the reference is right";
        rest = after.split_once('>').unwrap().1;
    }
    out + rest
}

/// The project's tests and code.
#[derive(Clone)]
pub struct Source {
    pub tests: String,
    pub code: String,
}

impl Source {
    /// As they are in the project.
    pub fn of(stage: &Stage) -> Self {
        let read = |path: &str| fs::read_to_string(stage.sandbox.project().join(path)).unwrap_or_default();
        Self { tests: read("tests/ported.rs"), code: read("src/lib.rs") }
    }

    /// With one more function and its test.
    pub fn with(&self, k: u32) -> Self {
        let test = format!("\n#[test]\nfn t{k}() {{\n    assert_eq!(kata::f{k}(1), {});\n}}\n", k + 1);
        let code = format!("\n/// Adds {k}.\npub fn f{k}(x: i64) -> i64 {{\n    x + {k}\n}}\n");
        Self {
            tests: (self.tests.clone() + &test).trim_start().to_owned(),
            code: (self.code.clone() + &code).trim_start().to_owned(),
        }
    }
}

/// Adds a tester's answer with a test for `f{k}`.
pub fn tester(cast: Cast, k: u32, source: &Source) -> Cast {
    let rationale = format!("Target: f{k} adds {k}\nSpec source: reference/f{k}.py\nLesson: f{k} adds {k}.");
    let said = json!({"summary": format!("pin f{k}"), "rationale": rationale});
    cast.edits("tester", &[("tests/ported.rs", Some(&source.tests))], &said)
}

/// Adds an implementor's answer with this code.
pub fn implementor(cast: Cast, k: u32, code: &str) -> Cast {
    cast.edits("implementor", &[("src/lib.rs", Some(code))], &json!({"summary": format!("add f{k}")}))
}

/// The answers of a cycle for `f{k}`, based on the current project.
pub fn cycle(stage: &Stage, k: u32) -> Cast {
    let source = Source::of(stage).with(k);
    implementor(tester(Cast::new(), k, &source), k, &source.code)
}

fn config(url: &str) -> String {
    format!(
        "llm:\n  base_url: \"{url}\"\n  max_retries: 0\nci:\n  test_cmd: [cargo, test, --all]\n  \
         check_cmd: [cargo, check]\nroles:\n  tester: {{ model: t }}\n  implementor: {{ model: i }}\n  \
         refactorer: {{ model: r }}\n"
    )
}

/// Waits until a condition holds or the time limit passes.
pub fn soon(is_true: impl Fn() -> bool) -> bool {
    tdd_fixtures::processes::soon(LIMIT, is_true)
}
