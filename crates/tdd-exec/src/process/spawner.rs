//! What a project's commands have in common: their folder, their environment, and how they are stopped.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tdd_core::command::CommandSpec;

use super::cancel::Cancel;
use super::env::scrub;
use super::error::ProcessError;
use super::run_dirs::{RunDirs, Untouched};

/// Whether a command sees the user's home and temporary folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// Yes: for build tools, which keep their caches there.
    #[default]
    Shared,
    /// No, it gets empty ones that are discarded afterwards: for tests.
    Fresh,
}

/// Starts the commands of one project; made once, cheap to clone.
#[derive(Clone, Debug)]
pub struct Spawner {
    root: PathBuf,
    vars: BTreeMap<OsString, OsString>,
    isolation: Isolation,
    untouched: Arc<Untouched>,
    pub(super) supervisor: PathBuf,
    pub(super) cancel: Cancel,
}

impl Spawner {
    /// For the project at `root`. Commands see those of `vars` (usually `std::env::vars_os()`) that [`scrub`] keeps.
    pub fn new(root: impl Into<PathBuf>, vars: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self {
            root: root.into(),
            vars: scrub(vars).into_iter().collect(),
            isolation: Isolation::default(),
            untouched: Arc::default(),
            supervisor: own_program(),
            cancel: Cancel::new(),
        }
    }

    /// Sets the flag that stops its commands.
    #[must_use]
    pub fn with_cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// Sets whether commands see the user's folders.
    #[must_use]
    pub fn with_isolation(mut self, isolation: Isolation) -> Self {
        self.isolation = isolation;
        self
    }

    /// Uses another program than our own as supervisor; its `main` must begin with
    /// [`supervise_if_asked`](super::supervise_if_asked).
    #[must_use]
    pub fn with_supervisor(mut self, program: impl Into<PathBuf>) -> Self {
        self.supervisor = program.into();
        self
    }

    /// Runs commands in another folder, such as a scratch copy of the project.
    #[must_use]
    pub fn with_root(mut self, root: impl Into<PathBuf>) -> Self {
        self.root = root.into();
        self
    }

    /// Adds these variables to every command's environment.
    #[must_use]
    pub fn with_vars(mut self, vars: impl IntoIterator<Item = (String, String)>) -> Self {
        self.vars.extend(vars.into_iter().map(|(name, value)| (name.into(), value.into())));
        self
    }

    /// The folder in which a command runs.
    pub(super) fn folder(&self, spec: &CommandSpec) -> PathBuf {
        self.root.join(&spec.cwd)
    }

    /// The command's private folders, if it gets any.
    pub(super) fn run_dirs(&self) -> Result<Option<RunDirs>, ProcessError> {
        match self.isolation {
            Isolation::Shared => Ok(None),
            Isolation::Fresh => {
                let temp = self.vars.get(&OsString::from("TMPDIR")).map_or(Path::new("/tmp"), Path::new);
                self.untouched.take(temp).map(Some)
            }
        }
    }

    /// Takes the folders back after everything that the command started has ended.
    pub(super) fn take_back(&self, dirs: Option<RunDirs>) {
        if let Some(dirs) = dirs {
            self.untouched.give_back(dirs);
        }
    }

    /// The complete environment of a command.
    pub(super) fn vars(&self, spec: &CommandSpec, dirs: Option<&RunDirs>) -> BTreeMap<OsString, OsString> {
        let mut vars = self.vars.clone();
        if let Some(dirs) = dirs {
            move_home(&mut vars, dirs.home(), dirs.tmp());
        }
        vars.extend(spec.env.iter().map(|(name, value)| (name.into(), value.into())));
        vars
    }
}

/// Replaces home and temporary folder. Cargo and rustup keep their folders in the real home; `XDG_*` variables are
/// removed, because tests must not see other programs' folders.
fn move_home(vars: &mut BTreeMap<OsString, OsString>, home: PathBuf, tmp: PathBuf) {
    vars.retain(|name, _| !name.to_string_lossy().starts_with("XDG_"));
    // Without `HOME`, cargo and rustup ask the system for it, so we do too.
    if let Some(real) = vars.insert("HOME".into(), home.into()).or_else(|| std::env::home_dir().map(Into::into)) {
        for (name, default) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            vars.entry(name.into()).or_insert_with(|| Path::new(&real).join(default).into());
        }
    }
    vars.insert("TMPDIR".into(), tmp.into());
}

/// Our own program. On Linux this path keeps working even if an update replaces the file.
pub fn own_program() -> PathBuf {
    let link = PathBuf::from("/proc/self/exe");
    if link.exists() { link } else { std::env::current_exe().unwrap_or(link) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(vars: &[(&str, &str)]) -> Vec<String> {
        let mut vars = vars.iter().map(|(name, value)| (name.into(), value.into())).collect();
        move_home(&mut vars, "/run/home".into(), "/run/tmp".into());
        vars.into_iter().map(|(name, value)| format!("{}={}", name.display(), value.display())).collect()
    }

    #[test]
    fn cargo_and_rustup_keep_their_homes_when_home_moves() {
        let expected = ["CARGO_HOME=/me/.cargo", "HOME=/run/home", "RUSTUP_HOME=/me/.rustup", "TMPDIR=/run/tmp"];
        assert_eq!(moved(&[("HOME", "/me"), ("XDG_CACHE_HOME", "/me/.cache")]), expected);
    }

    #[test]
    fn homes_that_are_set_stay_as_they_are() {
        let expected = ["CARGO_HOME=/c", "HOME=/run/home", "RUSTUP_HOME=/r", "TMPDIR=/run/tmp"];
        assert_eq!(moved(&[("HOME", "/me"), ("CARGO_HOME", "/c"), ("RUSTUP_HOME", "/r")]), expected);
    }

    #[test]
    fn without_a_home_cargo_and_rustup_keep_those_that_the_system_knows() {
        let Some(home) = std::env::home_dir() else { return };
        let expected = format!("RUSTUP_HOME={}", home.join(".rustup").display());
        assert!(moved(&[]).contains(&expected), "{:?}", moved(&[]));
    }

    #[test]
    fn a_commands_own_variables_come_on_top() {
        let spawner = Spawner::new("/p", [("PATH".into(), "/bin".into())]);
        let spec = CommandSpec::new(["x"], std::time::Duration::ZERO).with_env("PATH", "/opt").with_env("A_KEY", "v");
        let vars = spawner.vars(&spec, None);
        assert_eq!(vars.get(&OsString::from("PATH")), Some(&OsString::from("/opt")));
        assert_eq!(vars.get(&OsString::from("A_KEY")), Some(&OsString::from("v")));
    }
}
