//! A project with scripted models, and its events told as a story.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tdd_core::commit::validate_step;
use tdd_exec::ledger;
use tdd_exec::state::StateDir;
use tdd_fixtures::Sandbox;
use tdd_fixtures::processes::processes_in;
use tdd_fixtures::server::{Cast, Reply, Request, Server};

use crate::kata;

/// Time limit of a run, generous for a busy machine.
const LIMIT: Duration = Duration::from_mins(3);

/// The API key, which must never be written anywhere.
pub const KEY: &str = "sk-secret-key-of-a-user";

/// A project with its models and a person.
pub struct Stage {
    pub sandbox: Sandbox,
    pub server: Server,
    cast: Arc<Mutex<Cast>>,
    person: Arc<Mutex<Person>>,
}

/// A person's action when a model is asked.
type Person = Box<dyn FnMut(&Request) + Send>;

/// The result of a run.
pub struct Told {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Stage {
    /// A new project with the kata, and this cast.
    pub fn new(cast: Cast) -> Self {
        Self::with(cast, "")
    }

    /// The same with more configuration: lines `key: value`, with the prefix `llm.` or `ci.` for those sections.
    pub fn with(cast: Cast, settings: &str) -> Self {
        let cast = Arc::new(Mutex::new(cast));
        let person: Arc<Mutex<Person>> = Arc::new(Mutex::new(Box::new(|_: &Request| {})));
        let (playing, acting) = (Arc::clone(&cast), Arc::clone(&person));
        let server = Server::by(move |request: &Request| -> Reply {
            (acting.lock().unwrap())(request);
            playing.lock().unwrap().reply(request)
        });
        let stage = Self { sandbox: Sandbox::new(), server, cast, person };
        let output = stage.command(&["init", "--name", "kata"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        stage.sandbox.write("kata.md", kata::KATA);
        stage.sandbox.write("tdd.yaml", config(&stage.server.url(), settings));
        stage.commit("chore: say what to build");
        stage
    }

    /// From this call on, a person acts on each request before the model answers.
    pub fn meanwhile(&self, act: impl FnMut(&Request) + Send + 'static) {
        *self.person.lock().unwrap() = Box::new(act);
    }

    /// Runs to the end, without checking what is left.
    pub fn run_unchecked(&self, args: &[&str]) -> Told {
        Told::of(assert_cmd::Command::from_std(self.command(args)).timeout(LIMIT).output().unwrap())
    }

    /// Whether a text is in the working tree's file or in a commit under `refs/tdd/kept`.
    pub fn survives(&self, path: &str, text: &str) -> bool {
        let kept = self.sandbox.git(&["for-each-ref", "--format=%(refname)", "refs/tdd/kept"]);
        let in_refs = kept.lines().any(|name| self.sandbox.git(&["show", &format!("{name}:{path}")]).contains(text));
        in_refs || fs::read_to_string(self.path(path)).is_ok_and(|content| content.contains(text))
    }

    /// Replaces the models' answers.
    pub fn recast(&self, cast: Cast) {
        *self.cast.lock().unwrap() = cast;
    }

    /// Commits everything as a person.
    pub fn commit(&self, message: &str) {
        self.sandbox.commit(message);
    }

    /// A person's commit of the kata's first test and its code.
    pub fn commit_first_cycle(&self) {
        self.sandbox.write(kata::TEST_FILE, kata::tests(1));
        self.sandbox.write(kata::CODE_FILE, kata::code(1));
        self.commit("feat: what there was");
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.sandbox.command(env!("CARGO_BIN_EXE_tdd-cli"));
        command.args(args).env("LLM_API_KEY", KEY);
        command
    }

    /// Starts a run.
    pub fn begin(&self, args: &[&str]) -> Child {
        self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs to the end and checks the invariants.
    pub fn run(&self, args: &[&str]) -> Told {
        let told = Told::of(assert_cmd::Command::from_std(self.command(args)).timeout(LIMIT).output().unwrap());
        self.assert_sound();
        told
    }

    /// The story of a run, with its exit code.
    pub fn story_of(&self, args: &[&str]) -> String {
        let before = self.events().len();
        let told = self.run(args);
        let story = story(&self.events()[before..]);
        let words = if told.stderr.is_empty() { String::new() } else { format!("{}\n", told.stderr.trim()) };
        format!("{story}{words}exit {}\n", told.code.unwrap_or(-1))
    }

    /// Runs and compares the story with the expected one, without its indentation.
    #[track_caller]
    pub fn check(&self, args: &[&str], expected: &str) {
        assert_told(&self.story_of(args), expected);
    }

    /// All events so far.
    pub fn events(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.path(".tdd/events.jsonl")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The number of complete lines in the ledger, which may be growing.
    pub fn events_so_far(&self) -> usize {
        fs::read_to_string(self.path(".tdd/events.jsonl")).unwrap_or_default().matches('\n').count()
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.sandbox.project().join(path)
    }

    /// The subjects of all commits, oldest first.
    pub fn subjects(&self) -> Vec<String> {
        self.sandbox.git(&["log", "--reverse", "--format=%s"]).lines().map(str::to_owned).collect()
    }

    /// Asserts the invariants after any run: the tree equals HEAD, the ledger is valid, every step's commit message is
    /// complete, no process is left, and the key is nowhere.
    pub fn assert_sound(&self) {
        let status = self.sandbox.git(&["status", "--porcelain", "--untracked-files=no"]);
        assert_eq!(status, "", "the tree is not clean");
        self.assert_ledger();
        let messages = self.sandbox.git(&["log", "--format=%B%x00", "--grep=^TDD-Step:"]);
        for message in messages.split('\0').map(str::trim).filter(|message| !message.is_empty()) {
            validate_step(message).unwrap_or_else(|error| panic!("{error}: {message}"));
        }
        assert_eq!(processes_in(self.sandbox.outside()), BTreeSet::new());
        assert_no_key(&self.path(".tdd"));
        for request in self.server.requests() {
            assert!(!request.body.to_string().contains(KEY), "the key is in a prompt");
        }
    }

    fn assert_ledger(&self) {
        let Some(dir) = StateDir::find(&self.sandbox.project()).unwrap() else { return };
        for record in ledger::records(&dir).unwrap().into_iter().flatten() {
            record.unwrap();
        }
    }
}

impl Told {
    pub fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

fn config(url: &str, settings: &str) -> String {
    let of = |prefix: &str| -> String {
        let lines = settings.lines().filter_map(|line| line.trim().strip_prefix(prefix));
        lines.fold(String::new(), |text, line| text + "  " + line + "\n")
    };
    let rest = settings.lines().map(str::trim).filter(|line| !line.starts_with("llm.") && !line.starts_with("ci."));
    format!(
        "llm:\n  base_url: \"{url}\"\n  api_key_env: LLM_API_KEY\n{}ci:\n  test_cmd: [cargo, test, --all]\n{}\
         roles:\n  tester: {{ model: model-t, temperature: 0.4 }}\n  implementor: {{ model: model-i, temperature: 0.2 }}\n  \
         refactorer: {{ model: model-r, temperature: 0.3 }}\n{}\n",
        of("llm."),
        of("ci."),
        rest.collect::<Vec<_>>().join("\n")
    )
}

/// What many stories have in common: a line `[first test]` stands for the lines behind that name.
const CHAPTERS: [(&str, &[&str]); 12] = [
    ("[first test]", &["resynced at 0", "1 red", "  test: do it"]),
    (
        "[first cycle]",
        &["resynced at 0", "1 red", "  test: do it", "2 green", "  feat: do it", "3 refactor", "  nothing"],
    ),
    ("[second cycle]", &["4 red", "  test: do it", "5 green", "  feat: do it", "6 refactor", "  nothing"]),
    (
        "[second test passes at once]",
        &["4 red", "  undone red-first unexpected-green (free)", "  arrived tests/add.rs::one_number_is_itself"],
    ),
    (
        "[first test cannot fail]",
        &[
            "resynced at 0",
            "1 red",
            "  test: do it",
            "2 green",
            "  undone counter-proof vacuous-test (free)",
            "2 rethink-test",
        ],
    ),
    ("[first task breaks a test]", &["resynced at 0", "1 refactor", "  undone others-kept unrelated-failure"]),
    (
        "[first test in doubt]",
        &[
            "resynced at 0",
            "1 red",
            "  test: do it",
            "2 green",
            "  undone target-passes assertion",
            "  undone target-passes assertion",
            "  repair",
            "  undone target-passes assertion",
            "2 rethink-test",
        ],
    ),
    ("[kata is done]", &["  done", "end: the kata is done: 4 requirements, each with a test that passes", "exit 0"]),
    ("[green and refactored]", &["2 green", "  feat: do it", "3 refactor", "  nothing", "end: 3 steps done", "exit 0"]),
    (
        "[revised, then green and refactored]",
        &[
            "  revised",
            "  test: do it",
            "3 green",
            "  feat: do it",
            "4 refactor",
            "  nothing",
            "end: 3 steps done",
            "exit 0",
        ],
    ),
    (
        "[green and refactored in three steps]",
        &["3 green", "  feat: do it", "4 refactor", "  nothing", "end: 3 steps done", "exit 0"],
    ),
    (
        "[three attempts in vain]",
        &[
            "  undone target-passes assertion",
            "  undone target-passes assertion",
            "  repair",
            "  undone target-passes assertion",
        ],
    ),
];

/// Compares a text with an expected one that is indented and may use [`CHAPTERS`].
#[track_caller]
pub fn assert_told(told: &str, expected: &str) {
    let lines: Vec<&str> = expected.trim_end().lines().skip_while(|line| line.trim().is_empty()).collect();
    let margin = lines.iter().map(|line| line.len() - line.trim_start().len()).min().unwrap_or_default();
    let whole = |line: &&str| match CHAPTERS.iter().find(|(name, _)| *name == line.trim()) {
        Some((_, chapter)) => chapter.iter().map(|line| (*line).to_owned()).collect(),
        None => vec![line[margin..].to_owned()],
    };
    let expected = lines.iter().flat_map(whole).fold(String::new(), |text, line| text + &line + "\n");
    assert!(told == expected, "expected:\n{expected}\ntold:\n{told}");
}

/// The events as a story, one line per important event.
pub fn story(events: &[Value]) -> String {
    let mut told = String::new();
    let mut refused = false;
    for event in events {
        if let Some(line) = line(event, refused) {
            told += &format!("{line}\n");
        }
        refused = event["type"] == "edit_refused";
    }
    told
}

fn line(event: &Value, refused: bool) -> Option<String> {
    let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
    Some(match event["type"].as_str()? {
        "step_start" => format!("{} {}", event["step"], text("phase")),
        "edit_refused" => format!("  refused {}", text("rule")),
        "reverted" if refused => return None,
        "reverted" => {
            let rule = if event["rule"].is_null() { text("reason") } else { text("rule") };
            let free = if event["spent"] == true { "" } else { " (free)" };
            let cause = event["cause"].as_str().map_or_else(String::new, |cause| format!(" {cause}"));
            format!("  undone {rule}{cause}{free}")
        }
        "green_on_arrival" => format!("  arrived {}", text("test_id")),
        "test_upheld" => "  stays as it is".to_owned(),
        "test_revised" if event["after"].is_null() => "  withdrawn".to_owned(),
        "test_revised" => "  revised".to_owned(),
        "repair" | "stuck" => format!("  {}", text("type")),
        "committed" => format!("  {}", text("subject")),
        "step_end" if event["outcome"] == "kept" => return None,
        "step_end" => format!("  {}", text("outcome")),
        "resynced" => format!("resynced at {}", event["step"]),
        "blocked" => format!("  blocked {}: {}", text("test_id"), text("reason")),
        "paused" => format!("  paused {}", text("reason")),
        "run_end" => format!("end: {}", text("reason")),
        _ => return None,
    })
}

/// Nothing that the machine writes down for itself holds the key; what cargo builds is left out.
fn assert_no_key(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.ends_with("scratch") {
            continue;
        }
        if path.is_dir() {
            assert_no_key(&path);
        } else {
            let bytes = fs::read(&path).unwrap_or_default();
            assert!(!String::from_utf8_lossy(&bytes).contains(KEY), "the key is in {}", path.display());
        }
    }
}
