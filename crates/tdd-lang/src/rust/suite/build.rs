//! Builds a project's tests once, and reports which targets do not build and why.

use std::collections::BTreeSet;

use tdd_core::command::{Exit, Finished};
use tdd_core::report::Cause;

use super::{CargoSuite, Stage, obstacle, of_target, words_of};
use crate::language::{Job, Sources};
use crate::run::could_not_run;
use crate::rust::compile::{self, Build};
use crate::rust::diagnose;
use crate::rust::modules::ParsedFiles;
use crate::rust::places::Places;
use crate::rust::test_command::Runner;

impl CargoSuite {
    pub(super) fn start_build(&mut self) -> Vec<Job> {
        self.stage = Stage::Building;
        let mut build = self.cargo(["build", "--tests", "--keep-going", "--message-format", "json"]);
        if !self.command.build.iter().any(|flag| matches!(flag.as_str(), "--release" | "-r" | "--profile")) {
            build.extend(["--profile".to_owned(), "test".to_owned()]);
        }
        build.extend(self.command.packages.iter().chain(&self.command.build).cloned());
        vec![self.tool(build, "building tests")]
    }

    pub(super) fn read_build(&mut self, finished: &[Finished], sources: &dyn Sources) -> Vec<Job> {
        let [cargo] = finished else {
            return self.stop("cargo", Cause::UnknownOutput, "the build was not run".to_owned());
        };
        if let Some((cause, message)) = could_not_run(cargo) {
            return self.stop("cargo", cause, message);
        }
        let places = Places::of(&cargo.folder, &self.project.root);
        let build = compile::read(&cargo.stdout);
        match (build, places) {
            (Err(bad), _) => self.stop("cargo", Cause::UnknownOutput, bad.to_string()),
            (Ok(Build { success: None, .. }), _) => {
                let (cause, message) = why_nothing_was_built(cargo);
                self.stop("Cargo.toml", cause, message)
            }
            (Ok(_), None) => {
                let message = format!("cargo ran in `{}`, which is not `{}`", cargo.folder, self.project.root);
                self.stop("cargo", Cause::UnknownOutput, message)
            }
            (Ok(build), Some(places)) => {
                self.places = places;
                self.build = build;
                self.note_failed_targets(cargo, sources);
                self.find_libraries(sources)
            }
        }
    }

    fn note_failed_targets(&mut self, built: &Finished, sources: &dyn Sources) {
        let explained = !self.build.errors.is_empty();
        // All tests are built; errors in tests that nobody asked for do not matter.
        self.build.errors.retain(|error| !error.target.is("test") || self.command.wants(&error.target));
        let mut files = ParsedFiles::new(sources);
        let diagnosed = diagnose::obstacles(&self.build, &self.places, sources).into_iter();
        let mut obstacles: Vec<_> = diagnosed.map(|obstacle| of_target(obstacle, &mut files)).collect();
        let message = || words_of(built);
        let failed = self.build.success == Some(false);
        if failed && !explained {
            obstacles.push(obstacle("cargo build", Cause::UnrelatedCompileError, message()));
        }
        if failed == (built.exit == Exit::Passed) {
            obstacles.push(obstacle("cargo build", Cause::UnknownOutput, format!("{}: {}", built.exit, message())));
        }
        let known: BTreeSet<&str> = self.build.artifacts.iter().map(|artifact| artifact.target.name.as_str()).collect();
        let refused: BTreeSet<&str> = self.build.errors.iter().map(|error| error.target.name.as_str()).collect();
        for name in self.command.named_targets().filter(|name| !known.contains(name) && !refused.contains(name)) {
            let message = format!("there is no target `{name}` with tests");
            obstacles.push(obstacle(name, Cause::TargetNotFound, message));
        }
        self.obstacles.extend(obstacles);
    }

    /// Finds the compiler's libraries, which test binaries of macro crates load.
    fn find_libraries(&mut self, sources: &dyn Sources) -> Vec<Job> {
        let needed =
            self.build.artifacts.iter().any(|artifact| {
                artifact.profile.test && (artifact.target.is("proc-macro") || artifact.target.is("dylib"))
            });
        if !needed || self.command.runner != Runner::Libtest {
            return self.start_lists(String::new(), sources);
        }
        self.stage = Stage::FindingLibraries;
        let mut argv = vec!["rustc".to_owned()];
        argv.extend(self.command.cargo.iter().skip(1).cloned());
        argv.extend(["--print".to_owned(), "target-libdir".to_owned()]);
        vec![self.tool(argv, "finding the compiler's libraries")]
    }

    pub(super) fn read_libraries(&mut self, finished: &[Finished], sources: &dyn Sources) -> Vec<Job> {
        let folder = finished.first().filter(|rustc| rustc.exit == Exit::Passed).map(|rustc| rustc.stdout.text());
        self.start_lists(folder.unwrap_or_default().trim().to_owned(), sources)
    }
}

/// Why cargo printed no build messages: the toolchain is missing, the registry cannot be reached, or the manifest
/// cannot be loaded.
fn why_nothing_was_built(built: &Finished) -> (Cause, String) {
    let message = words_of(built);
    let network = [
        "failed to download",
        "failed to get ",
        "failed to query",
        "Unable to update",
        "Could not resolve host",
        "--offline",
    ];
    let no_toolchain = ["is not installed", "no override and no default toolchain"];
    let not_there = message.contains("failed to read `") && message.contains("No such file");
    if no_toolchain.iter().any(|words| message.contains(words)) {
        (Cause::RunnerMissing, message)
    } else if !not_there && (network.iter().any(|words| message.contains(words)) || built.exit == Exit::Passed) {
        (Cause::UnknownOutput, message)
    } else {
        (Cause::LoadFailure, message)
    }
}
