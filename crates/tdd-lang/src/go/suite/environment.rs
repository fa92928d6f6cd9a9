//! What Go reports about itself and the module before any test runs: its folders, and the files of each package.

use std::collections::BTreeSet;

use serde::Deserialize;
use tdd_core::command::{CommandSpec, Exit, Finished};
use tdd_core::report::{Cause, Obstacle};

use crate::go::test_command::TestCommand;
use crate::language::{Job, Project, Settings, Starts, join};
use crate::run::{last_words, tool_obstacle};

/// The environment variables that `go env` prints.
const ASKED: [&str; 6] = ["GOROOT", "GOCACHE", "GOMODCACHE", "GOPATH", "GOFLAGS", "GOMOD"];

/// A package with tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Package {
    /// The import path.
    pub import: String,
    /// The package's name on a command line.
    pub pattern: String,
    /// The package's folder, relative to the repository's root.
    pub folder: String,
    /// The test files, relative to the repository's root.
    pub files: Vec<String>,
    /// The package name in its test files.
    pub name: String,
}

/// What must be known before tests run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GoEnvironment {
    /// The program itself: a `go` on the path may be only a wrapper.
    pub go: String,
    /// The module's folder on disk.
    pub root: String,
    /// Go's caches: they are in the user's home, which tests do not see.
    pub env: Vec<(String, String)>,
    pub packages: Vec<Package>,
}

/// The commands that ask Go for its environment and its packages.
pub(super) fn questions(command: &TestCommand, project: &Project, settings: &Settings) -> Vec<Job> {
    let env = ["env", "-json"].into_iter().chain(ASKED).map(str::to_owned);
    let fields = "-json=Dir,ImportPath,Name,TestGoFiles,XTestGoFiles";
    let mut list: Vec<String> = ["list", "-e", fields].map(str::to_owned).to_vec();
    let mut flags = command.flags.iter();
    while let Some(flag) = flags.next() {
        let name = flag.trim_start_matches('-').split('=').next().unwrap_or(flag);
        if matches!(name, "tags" | "mod" | "modfile" | "race") {
            list.push(flag.clone());
            list.extend((!flag.contains('=') && name != "race").then(|| flags.next().cloned()).flatten());
        }
    }
    list.extend(command.packages.iter().cloned());
    let job = |arguments: Vec<String>, label: &str| {
        let argv = std::iter::once(command.go.clone()).chain(arguments);
        let command = CommandSpec::new(argv, settings.build_timeout).in_dir(project.root.clone());
        Job { command, starts: Starts::Tool, label: label.to_owned() }
    };
    vec![job(env.collect(), "finding go"), job(list, "listing packages")]
}

#[derive(Deserialize)]
struct EnvOutput {
    #[serde(rename = "GOROOT")]
    root: String,
    #[serde(rename = "GOCACHE")]
    cache: String,
    #[serde(rename = "GOMODCACHE")]
    modules: String,
    #[serde(rename = "GOPATH")]
    path: String,
    #[serde(rename = "GOFLAGS", default)]
    flags: String,
    #[serde(rename = "GOMOD")]
    manifest: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Listed {
    #[serde(default)]
    dir: String,
    import_path: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    test_go_files: Vec<String>,
    #[serde(default, rename = "XTestGoFiles")]
    external: Vec<String>,
}

impl GoEnvironment {
    /// Reads the output of [`questions`].
    pub fn read(finished: &[Finished], project: &Project) -> Result<Self, Obstacle> {
        let [env, list] = finished else {
            return Err(Obstacle::new("go", Cause::UnknownOutput, "go was asked two questions"));
        };
        if let Some(obstacle) = tool_obstacle("go test", env).or_else(|| tool_obstacle("go test", list)) {
            return Err(obstacle);
        }
        let env: EnvOutput = serde_json::from_slice(&env.stdout.bytes)
            .map_err(|_| Obstacle::new("go", Cause::RunnerMissing, last_words(env)))?;
        let Some(root) = env.manifest.strip_suffix("/go.mod") else {
            return Err(Obstacle::new("go.mod", Cause::LoadFailure, "there is no `go.mod` that Go can use"));
        };
        let listed: Vec<Listed> = serde_json::Deserializer::from_slice(&list.stdout.bytes)
            .into_iter()
            .collect::<Result<_, _>>()
            .map_err(|_| Obstacle::new("go", Cause::UnknownOutput, last_words(list)))?;
        if listed.is_empty() && list.exit != Exit::Passed {
            let message = last_words(list);
            let too_old = message.contains("requires go >=") || message.contains("toolchain not available");
            let cause = if too_old { Cause::RunnerMissing } else { Cause::LoadFailure };
            return Err(Obstacle::new("go.mod", cause, message));
        }
        Ok(Self {
            go: format!("{}/bin/go", env.root),
            root: root.to_owned(),
            packages: listed.into_iter().filter_map(|it| package(it, root, project)).collect(),
            env: [
                ("GOCACHE", env.cache),
                ("GOMODCACHE", env.modules),
                ("GOPATH", env.path),
                // Go reads flags that a user has set permanently from the home folder, which tests do not see.
                ("GOFLAGS", env.flags),
            ]
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
        })
    }
}

impl GoEnvironment {
    /// The overlay that shows Go an additional file in each package: our canary test.
    pub fn overlay(&self) -> String {
        let file = |package: &Package| {
            let folder = format!("{}/{}", self.root, package.pattern.trim_start_matches(['.', '/']));
            let path = format!("{}/zz_@NAME@_test.go", folder.trim_end_matches('/'));
            (path, serde_json::Value::from(format!("@DIR@/{}.go", package.name)))
        };
        let files: serde_json::Map<String, serde_json::Value> = self.packages.iter().map(file).collect();
        serde_json::json!({ "Replace": files }).to_string()
    }

    /// The names of the packages, each once.
    pub fn package_names(&self) -> String {
        let names: BTreeSet<&str> = self.packages.iter().map(|package| package.name.as_str()).collect();
        names.into_iter().collect::<Vec<_>>().join(" ")
    }
}

fn package(listed: Listed, root: &str, project: &Project) -> Option<Package> {
    let below = listed.dir.strip_prefix(root)?.trim_start_matches('/').to_owned();
    let pattern = if below.is_empty() { ".".to_owned() } else { format!("./{below}") };
    let folder = if below.is_empty() { project.root.clone() } else { join(&project.root, &below) };
    let files: Vec<String> =
        listed.test_go_files.iter().chain(&listed.external).map(|file| join(&folder, file)).collect();
    let name = if listed.test_go_files.is_empty() { format!("{}_test", listed.name) } else { listed.name };
    (!files.is_empty()).then_some(Package { import: listed.import_path, pattern, folder, files, name })
}
