//! A test binary: its folder, its environment, and the commands that list and run its tests.

use std::collections::BTreeMap;
use std::time::Duration;

use tdd_core::command::CommandSpec;

use crate::language::{Job, Sources, Starts};
use crate::rust::cargo_config;
use crate::rust::compile::{Artifact, Build, BuildScript};
use crate::rust::diagnose::package_name;
use crate::rust::libtest::JSON_ARGS;
use crate::rust::places::{Places, folder};

/// A test binary of the project.
#[derive(Clone, Debug)]
pub(crate) struct Binary {
    /// The target's root file, in the repository.
    pub(crate) root: String,
    pub(crate) executable: String,
    /// The names of its tests.
    pub(crate) listed: Vec<String>,
    cwd: String,
    env: Vec<(String, String)>,
}

/// What all test binaries of a build share.
pub(super) struct Surroundings<'a> {
    scripts: BTreeMap<&'a str, &'a BuildScript>,
    programs: Vec<&'a Artifact>,
    libraries: Vec<String>,
    configured: Vec<(String, String)>,
}

impl<'a> Surroundings<'a> {
    /// `libraries` is the compiler's own library folder, or empty.
    pub(super) fn new(build: &'a Build, places: &Places, sources: &dyn Sources, libraries: String) -> Self {
        let linked = build.scripts.iter().flat_map(|script| &script.linked_paths);
        let linked = linked.map(|path| path.split_once('=').map_or(path.as_str(), |(_, path)| path).to_owned());
        Self {
            scripts: build.scripts.iter().map(|script| (script.package_id.as_str(), script)).collect(),
            programs: build.artifacts.iter().filter(|a| a.target.is("bin") && !a.profile.test).collect(),
            libraries: linked.chain([libraries]).filter(|path| !path.is_empty()).collect(),
            configured: cargo_config::variables(places, sources),
        }
    }
}

impl Binary {
    /// `None` if the artifact is not a test binary of a package in the repository.
    pub(super) fn new(artifact: &Artifact, places: &Places, surroundings: &Surroundings) -> Option<Self> {
        let executable = artifact.executable.clone().filter(|_| artifact.profile.test)?;
        Some(Self {
            root: places.relative(&artifact.target.src_path)?,
            cwd: folder(&artifact.manifest_path).to_owned(),
            env: environment(artifact, &executable, surroundings),
            executable,
            listed: Vec::new(),
        })
    }

    /// A binary for tests that need only its root and its program.
    #[cfg(test)]
    pub(crate) fn for_test(root: &str, executable: &str) -> Self {
        let (root, executable) = (root.to_owned(), executable.to_owned());
        Self { root, executable, listed: Vec::new(), cwd: String::new(), env: Vec::new() }
    }

    /// The command that lists its tests.
    pub(super) fn list(&self, filters: &[String], deadline: Duration) -> Job {
        let mut argv = vec![self.executable.clone(), "--list".to_owned()];
        argv.extend(filters.iter().cloned());
        self.job(argv, format!("listing tests of {}", self.root), deadline)
    }

    /// The command that runs tests; the arguments in `choice` say which.
    pub(super) fn run(&self, choice: &[String], deadline: Duration) -> Job {
        let mut argv = vec![self.executable.clone()];
        argv.extend(JSON_ARGS.map(str::to_owned));
        argv.extend(choice.iter().cloned());
        let mut job = self.job(argv, format!("running tests of {}", self.root), deadline);
        job.command = job.command.with_env("RUSTC_BOOTSTRAP", "1");
        job
    }

    fn job(&self, argv: Vec<String>, label: String, deadline: Duration) -> Job {
        let mut command = CommandSpec::new(argv, deadline).in_dir(self.cwd.clone());
        command.env.clone_from(&self.env);
        Job { command, starts: Starts::Tests, label }
    }
}

/// The environment variables that cargo sets for a test of this package.
fn environment(artifact: &Artifact, executable: &str, surroundings: &Surroundings) -> Vec<(String, String)> {
    let mut env = surroundings.configured.clone();
    let mut set = |name: &str, value: &str| env.push((name.to_owned(), value.to_owned()));
    set("CARGO", "cargo");
    set("CARGO_MANIFEST_DIR", folder(&artifact.manifest_path));
    set("CARGO_MANIFEST_PATH", &artifact.manifest_path);
    set("CARGO_PKG_NAME", package_name(&artifact.package_id));
    let version = artifact.package_id.rsplit(['#', '@']).next().unwrap_or_default();
    set("CARGO_PKG_VERSION", version);
    let (numbers, pre) = version.split_once('-').unwrap_or((version, ""));
    for (part, name) in numbers.split('.').zip(["MAJOR", "MINOR", "PATCH"]) {
        set(&format!("CARGO_PKG_VERSION_{name}"), part);
    }
    set("CARGO_PKG_VERSION_PRE", pre);
    for program in surroundings.programs.iter().filter(|program| program.package_id == artifact.package_id) {
        if let Some(path) = program.executable.as_ref().filter(|_| artifact.target.is("test")) {
            set(&format!("CARGO_BIN_EXE_{}", program.target.name), path);
        }
    }
    if let Some(script) = surroundings.scripts.get(artifact.package_id.as_str()) {
        set("OUT_DIR", &script.out_dir);
        for (name, value) in &script.env {
            set(name, value);
        }
    }
    set("LD_LIBRARY_PATH", &library_path(executable, surroundings));
    set("RUST_BACKTRACE", "0");
    env
}

fn library_path(executable: &str, surroundings: &Surroundings) -> String {
    let deps = folder(executable);
    let own = [folder(deps).to_owned(), deps.to_owned()];
    let paths: Vec<&String> = surroundings.libraries.iter().chain(&own).collect();
    paths.into_iter().map(String::as_str).collect::<Vec<_>>().join(":")
}
