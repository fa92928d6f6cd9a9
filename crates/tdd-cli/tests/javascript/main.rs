//! Tests the program on JavaScript and TypeScript projects with node's runner, vitest and jest.
//!
//! Tests print that they are skipped without node, or without the packages that CI installs into `target/node`.

mod gates;
mod machine;
mod runs;
mod setups;

use tdd_fixtures::Sandbox;

const SKIPPED: &str = "skipped: there is no node";
const NOT_INSTALLED: &str = "skipped: vitest and jest are not in target/node; `.ci/run` installs them";

tdd_fixtures::language_tests!("javascript", has_node);

/// A committed project with an installed runner; `None` if it is missing.
fn with_runner(manifest: &str) -> Option<Sandbox> {
    let sandbox = Sandbox::new();
    if !sandbox.link_node_modules() {
        return None;
    }
    sandbox.write("package.json", manifest);
    sandbox.write(".gitignore", "node_modules\n");
    sandbox.git(&["init", "-q", "-b", "main"]);
    sandbox.commit("chore: begin");
    assert_eq!(run(&sandbox, &["init"]).0, 0);
    Some(sandbox)
}

const VITEST: &str = "{\"name\": \"calc\", \"type\": \"module\", \"scripts\": {\"test\": \"vitest run\"}, \"devDependencies\": {\"vitest\": \"^4\"}}\n";
const JEST: &str =
    "{\"name\": \"calc\", \"scripts\": {\"test\": \"jest\"}, \"devDependencies\": {\"jest\": \"^30\"}}\n";

#[test]
fn typescript_is_another_name_for_it() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    let config = sandbox.read("tdd.yaml").replace("language: \"javascript\"", "language: \"typescript\"");
    sandbox.write("tdd.yaml", config);
    check(&sandbox, &[]);
}
