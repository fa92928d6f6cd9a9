//! Runs the real program in a sandbox and checks its output and that files stay unchanged.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use serde_json::Value;
use tdd_fixtures::Sandbox;

/// Time limit of a refused command.
const LIMIT: Duration = Duration::from_mins(1);

/// The program under test and its sandbox.
pub struct Machine {
    pub sandbox: Sandbox,
}

impl Machine {
    /// In an empty folder.
    pub fn new() -> Self {
        Self { sandbox: Sandbox::new() }
    }

    /// In a folder that holds this file.
    pub fn with(path: &str, text: &str) -> Self {
        let machine = Self::new();
        machine.sandbox.write(path, text);
        machine
    }

    /// In a project that `init` has set up.
    pub fn ready() -> Self {
        Self::new().set_up()
    }

    /// In a project set up by `init` with tests, one of which fails.
    pub fn calc() -> Self {
        let machine = Self { sandbox: Sandbox::with_project("calc") };
        machine.sandbox.git(&["init", "-q", "-b", "main"]);
        machine.sandbox.git(&["add", "."]);
        machine.sandbox.git(&["commit", "-q", "-m", "a person's commit"]);
        machine.set_up()
    }

    fn set_up(self) -> Self {
        let output = self.output(&["init"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        self
    }

    pub fn root(&self) -> PathBuf {
        self.sandbox.project()
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    /// The program, not yet started.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.sandbox.command(env!("CARGO_BIN_EXE_tdd-cli"));
        command.args(args);
        command
    }

    /// Runs the program to its end.
    pub fn output(&self, args: &[&str]) -> Output {
        finish(self.command(args))
    }

    /// The exit code and output of a run, without parts that vary.
    pub fn says(&self, args: &[&str]) -> String {
        self.told(args, &self.output(args))
    }

    /// The same for a run that the test started itself.
    pub fn told(&self, args: &[&str], output: &Output) -> String {
        let code = output.status.code().map_or_else(|| output.status.to_string(), |code| code.to_string());
        let mut text = format!("$ tdd-cli {}\nexit {code}\n", args.join(" "));
        for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
            let said = self.scrubbed(&String::from_utf8_lossy(bytes));
            for line in said.lines() {
                text += &format!("{name}| {}\n", without_seconds(line));
            }
        }
        text
    }

    /// The output of a refused command. Asserts that the JSON output has the same exit code and that neither run
    /// changes a file.
    pub fn refused(&self, args: &[&str]) -> String {
        let before = self.state();
        let output = self.output(args);
        self.assert_unchanged(&before);
        let json: Vec<&str> = args.iter().copied().chain(["--format", "json"]).collect();
        assert_one_error_document(&self.output(&json), output.status.code());
        self.assert_unchanged(&before);
        self.told(args, &output)
    }

    /// Every file of the sandbox with its content, except internal ones.
    pub fn state(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        walk(self.sandbox.outside(), Path::new(""), &mut found);
        found
    }

    pub fn assert_unchanged(&self, before: &BTreeMap<String, String>) {
        let after = self.state();
        let lost: Vec<_> = before.iter().filter(|(path, what)| after.get(*path) != Some(what)).collect();
        let gained: Vec<_> = after.iter().filter(|(path, what)| before.get(*path) != Some(what)).collect();
        assert!(lost.is_empty() && gained.is_empty(), "before: {lost:#?}\nafter: {gained:#?}");
    }

    /// Replaces temporary paths and object ids.
    pub fn scrubbed(&self, text: &str) -> String {
        let sandbox = self.sandbox.outside().canonicalize().expect("the sandbox");
        let text = text.replace(&sandbox.display().to_string(), "[sandbox]");
        without_ids(&text.replace(&self.sandbox.outside().display().to_string(), "[sandbox]"))
    }
}

/// Removes the duration from the last line of `auto-test`.
fn without_seconds(line: &str) -> &str {
    if line.ends_with(" s") { line.rsplit_once(" in ").map_or(line, |(before, _)| before) } else { line }
}

/// Runs a command to its end, within the time limit.
pub fn finish(command: Command) -> Output {
    assert_cmd::Command::from_std(command).timeout(LIMIT).output().expect("the program ends in time")
}

/// The only JSON document that a run printed.
pub fn document(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("not one JSON document ({error}): {text:?}"))
}

/// Asserts that the last line is an error document; earlier lines may be a stream.
fn assert_one_error_document(output: &Output, code: Option<i32>) {
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    let document = lines.last().expect("an error document");
    assert_eq!(output.status.code(), code, "{document}");
    assert_eq!(document["exit_code"].as_i64(), code.map(i64::from), "{document}");
    assert!(document["hint"].is_string(), "no way out: {document}");
}

/// Git's objects and our own folders may change; everything else must stay.
const OURS: [&str; 5] = [".git/objects", ".git/tdd-machine", ".git/refs/tdd", ".tdd/lock", ".tdd/tmp"];

fn walk(root: &Path, below: &Path, found: &mut BTreeMap<String, String>) {
    let path = root.join(below);
    let name = below.display().to_string();
    if OURS.iter().any(|ours| name.ends_with(ours)) || name.split('/').any(|part| part == "target") {
        return;
    }
    let meta = fs::symlink_metadata(&path).expect("what the walk came upon");
    let mode = meta.permissions().mode();
    if meta.is_dir() {
        found.insert(name, format!("folder {mode:o}"));
        for entry in fs::read_dir(&path).expect("a folder") {
            walk(root, &below.join(entry.expect("an entry").file_name()), found);
        }
    } else if meta.is_file() {
        let mut hasher = DefaultHasher::new();
        fs::read(&path).expect("a file").hash(&mut hasher);
        found.insert(name, format!("file {mode:o} {} bytes {:x}", meta.len(), hasher.finish()));
    } else if meta.is_symlink() {
        found.insert(name, format!("link to {}", fs::read_link(&path).expect("a link").display()));
    } else {
        found.insert(name, format!("special {mode:o}"));
    }
}

/// Replaces ids: words of at least seven hex digits that contain a number.
fn without_ids(text: &str) -> String {
    let mut scrubbed = String::new();
    let mut word = String::new();
    for c in text.chars().chain(['\0']) {
        if c.is_ascii_alphanumeric() {
            word.push(c);
            continue;
        }
        let is_id = word.len() >= 7 && word.chars().all(|c| c.is_ascii_hexdigit()) && word.contains(char::is_numeric);
        let is_number = word.chars().all(|c| c.is_ascii_digit());
        scrubbed += if is_id && !is_number { "[id]" } else { &word };
        word.clear();
        scrubbed.extend((c != '\0').then_some(c));
    }
    scrubbed
}
