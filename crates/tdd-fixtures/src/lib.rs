//! Sample projects and a hermetic sandbox to run the machine in. Depends on no other crate of ours.

pub mod bowling;
pub mod corpus;
pub mod machine;
pub mod mount;
pub mod processes;
pub mod script;
pub mod server;
pub mod story;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

/// A temporary folder with its own home, isolated from the developer's configuration and from the network.
#[derive(Debug)]
pub struct Sandbox {
    folder: TempDir,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self::new()
    }
}

impl Sandbox {
    /// An empty sandbox.
    pub fn new() -> Self {
        let folder = must("make a temporary folder", TempDir::with_prefix("tdd-sandbox-"));
        must("make a home", fs::create_dir_all(folder.path().join("home")));
        must("make a project folder", fs::create_dir_all(folder.path().join("project")));
        Self { folder }
    }

    /// A sandbox whose project is a copy of the fixture `projects/<name>`.
    pub fn with_project(name: &str) -> Self {
        let sandbox = Self::new();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("projects").join(name);
        must(&format!("copy {}", source.display()), copy(&source, &sandbox.project()));
        sandbox
    }

    /// A sandbox with an empty repository; `None` unless pytest, node and Go are installed.
    pub fn for_every_language() -> Option<Self> {
        let sandbox = Self::new();
        let is_installed = sandbox.has_pytest() && sandbox.has_node() && sandbox.has_go();
        is_installed.then(|| {
            sandbox.git(&["init", "-q", "-b", "main"]);
            sandbox
        })
    }

    /// A sandbox whose project `init` of this program made, with these arguments.
    pub fn initialized(program: &str, arguments: &[&str]) -> Self {
        let sandbox = Self::new();
        let (code, said) = sandbox.answer(program, &[&["init"], arguments].concat());
        must("make a project", succeeded(code == 0, &said.to_string()));
        sandbox
    }

    /// Lays a folder of this crate over the project: `x.disarmed` is written as `x`, `x.removed` takes `x` away.
    /// A folder that is not there changes nothing.
    pub fn lay(&self, folder: &str) {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        if source.is_dir() {
            must(&format!("lay {}", source.display()), copy(&source, &self.project()));
        }
    }

    /// The project's folder.
    pub fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// The folder around the project.
    pub fn outside(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file of the project and creates its folders.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.project().join(path);
        if let Some(folder) = path.parent() {
            must("make a folder", fs::create_dir_all(folder));
        }
        must(&format!("write {}", path.display()), fs::write(&path, content));
    }

    /// Reads a file of the project.
    pub fn read(&self, path: &str) -> String {
        let path = self.project().join(path);
        must(&format!("read {}", path.display()), fs::read_to_string(&path))
    }

    /// A command in the project's folder with a clean environment.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.project()).env_clear();
        for name in ["PATH", "TMPDIR", "RUSTUP_TOOLCHAIN", "VIRTUAL_ENV"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.env("HOME", self.folder.path().join("home"));
        command.env("CARGO_HOME", tool_home("CARGO_HOME", ".cargo"));
        command.env("RUSTUP_HOME", tool_home("RUSTUP_HOME", ".rustup"));
        // A shared cache, because Go would otherwise rebuild its standard library for every sandbox.
        command.env("GOCACHE", tool_home("GOCACHE", ".cache/go-build"));
        command.envs([("CARGO_NET_OFFLINE", "true"), ("TZ", "UTC"), ("GIT_CONFIG_NOSYSTEM", "1")]);
        command
    }

    /// Whether pytest is installed. A test that skips itself without it must say so.
    pub fn has_pytest(&self) -> bool {
        let python = std::env::var_os("VIRTUAL_ENV")
            .map_or_else(|| PathBuf::from("python3"), |folder| Path::new(&folder).join("bin").join("python"));
        let output = self.command(python).args(["-m", "pytest", "--version"]).output();
        output.is_ok_and(|output| output.status.success())
    }

    /// Whether Go is installed. A test that skips itself without it must say so.
    pub fn has_go(&self) -> bool {
        self.command("go").arg("version").output().is_ok_and(|output| output.status.success())
    }

    /// Whether Node is installed. A test that skips itself without it must say so.
    pub fn has_node(&self) -> bool {
        self.command("node").arg("--version").output().is_ok_and(|output| output.status.success())
    }

    /// Links the JavaScript packages that CI installed (vitest, jest and their dependencies) into the project, from
    /// `TDD_NODE_MODULES` or `target/node/`. Returns whether they exist.
    pub fn link_node_modules(&self) -> bool {
        let usual = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/node/node_modules");
        let folder = std::env::var_os("TDD_NODE_MODULES").map_or_else(usual, PathBuf::from);
        let Ok(folder) = fs::canonicalize(folder) else { return false };
        let is_there = self.has_node() && folder.join("vitest").is_dir() && folder.join("jest").is_dir();
        is_there && std::os::unix::fs::symlink(folder, self.project().join("node_modules")).is_ok()
    }

    /// Runs our program; returns its exit code and its JSON output.
    pub fn answer(&self, program: &str, arguments: &[&str]) -> (i32, Value) {
        answer(self.command(program).args(arguments))
    }

    /// Runs all tests; returns each test with its cause or `pass`, and each obstacle with its cause.
    pub fn results(&self, program: &str) -> Vec<String> {
        let (code, report) = self.answer(program, &["auto-test"]);
        must("run all tests", succeeded(code == 0, &report.to_string()));
        let told = |list: &str, name: &str| -> Vec<String> {
            let word = |entry: &Value, key: &str| entry[key].as_str().map(str::to_owned);
            let line = |entry: &Value| {
                let cause = word(entry, "cause").unwrap_or_else(|| "pass".to_owned());
                format!("{} {cause}", word(entry, name).unwrap_or_default())
            };
            report[list].as_array().into_iter().flatten().map(line).collect()
        };
        [told("tests", "test_id"), told("obstacles", "subject")].concat()
    }

    /// Commits all files.
    pub fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    /// Runs git in the project and returns its output.
    pub fn git(&self, arguments: &[&str]) -> String {
        let identity = ["-c", "user.name=A Person", "-c", "user.email=person@local", "-c", "commit.gpgsign=false"];
        let output = must("run git", self.command("git").args(identity).args(arguments).output());
        let stderr = String::from_utf8_lossy(&output.stderr);
        must(&format!("run git {arguments:?}"), succeeded(output.status.success(), &stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

/// Runs a command of ours; returns its exit code and its JSON output, or standard error if there is none.
pub fn answer(command: &mut Command) -> (i32, Value) {
    let output = must("run it", command.args(["--format", "json"]).output());
    let said = serde_json::from_slice(&output.stdout);
    let said = said.unwrap_or_else(|_| Value::from(String::from_utf8_lossy(&output.stderr).into_owned()));
    let code = output.status.code().ok_or_else(|| std::io::Error::other("a signal ended it"));
    (must("read its exit code", code), said)
}

/// Copies a folder. A file `x.disarmed` becomes `x` (the suffix hides fixtures from the workspace), and `x.removed`
/// deletes `x`.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let target = to.join(name.strip_suffix(".disarmed").unwrap_or(&name));
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else if let Some(name) = name.strip_suffix(".removed") {
            fs::remove_file(to.join(name))?;
        } else {
            fs::write(&target, fs::read(entry.path())?)?;
        }
    }
    Ok(())
}

fn tool_home(variable: &str, folder: &str) -> PathBuf {
    std::env::var_os(variable)
        .map_or_else(|| Path::new(&std::env::var_os("HOME").unwrap_or_default()).join(folder), PathBuf::from)
}

fn succeeded(success: bool, said: &str) -> std::io::Result<()> {
    if success { Ok(()) } else { Err(std::io::Error::other(said.to_owned())) }
}

/// Panics, because a fixture that cannot be set up fails the test.
fn must<T, E: std::fmt::Display>(what: &str, result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| panic!("cannot {what}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disarmed_project_is_armed_in_the_sandbox() {
        let sandbox = Sandbox::with_project("calc");
        assert!(sandbox.read("Cargo.toml").contains("name = \"calc\""));
    }

    #[test]
    fn what_runs_in_the_sandbox_does_not_see_the_developers_environment() {
        let output = Sandbox::new().command("env").output().unwrap();
        let seen = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(!seen.contains("CARGO_MANIFEST_DIR"), "{seen}");
    }
}
