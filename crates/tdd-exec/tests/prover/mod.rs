//! A project in a sandbox with the prover of its tests.

use tdd_exec::counterproof::Prover;
use tdd_exec::git::Repo;
use tdd_exec::process::Spawner;
use tdd_exec::runner::ProjectRunner;
use tdd_exec::sources::TreeSources;
use tdd_exec::state::StateDir;
use tdd_fixtures::Sandbox;
use tdd_lang::language::Settings;

const SUPERVISOR: &str = env!("CARGO_BIN_EXE_tdd-run-one");

/// Files by path.
pub type Files<'a> = &'a [(&'a str, &'a str)];

/// Calls `then` with the prover of a project with these files.
pub fn with_prover<T>(files: Files<'_>, then: impl FnOnce(&Sandbox, &Prover<'_>, &ProjectRunner<'_>) -> T) -> T {
    let sandbox = Sandbox::new();
    for (path, text) in files {
        sandbox.write(path, text);
    }
    let root = sandbox.project();
    let sources = TreeSources::new(&root, files.iter().map(|(path, _)| (*path).to_owned()).collect());
    let spawner = Spawner::new(&root, std::env::vars_os()).with_supervisor(SUPERVISOR);
    let language = tdd_lang::detect(&sources).expect("language");
    let project = language.detect(&sources).expect("project");
    let runner = ProjectRunner {
        language: language.as_ref(),
        project: &project,
        settings: &Settings::default(),
        sources: &sources,
        spawner: &spawner,
        progress: &|_| {},
    };
    let state = StateDir::ensure(&root).expect("state");
    sandbox.git(&["init", "--quiet"]);
    let repo = Repo::discover(&root).expect("git").expect("repository");
    let tree = repo.tree_id().expect("tree");
    then(&sandbox, &Prover::new(&runner, &repo, &tree, &state).expect("prover"), &runner)
}
