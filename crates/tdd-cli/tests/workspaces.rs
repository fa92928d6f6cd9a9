//! Tests workspaces of every kind with their real runners: all tests of all members run, each with its own id.
//!
//! Tests print that they are skipped without pytest, node, npm or go.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use serde_json::Value;
use tdd_fixtures::Sandbox;

const SKIPPED: &str = "skipped: pytest, node and go are needed";

/// A committed repository with these files.
fn repository(files: &[(&str, &str)]) -> Option<Sandbox> {
    let sandbox = Sandbox::for_every_language()?;
    sandbox.write(".gitignore", "target\n__pycache__\nnode_modules\n");
    for (path, text) in files {
        sandbox.write(path, text);
    }
    sandbox.commit("chore: begin");
    Some(sandbox)
}

/// The exit code and the JSON output.
fn run(sandbox: &Sandbox, arguments: &[&str]) -> (i32, Value) {
    sandbox.answer(env!("CARGO_BIN_EXE_tdd-cli"), arguments)
}

/// Asserts that exactly these tests pass.
fn check(sandbox: &Sandbox, expected: &[&str]) {
    let (code, report) = run(sandbox, &["auto-test"]);
    assert_eq!(code, 0, "{report}");
    let tests = report["tests"].as_array().unwrap().iter().filter(|test| test["status"] == "pass");
    let ids: Vec<&str> = tests.map(|test| test["test_id"].as_str().unwrap()).collect();
    assert_eq!(ids, expected, "{report}");
}

#[test]
fn the_modules_of_a_go_workspace() {
    let code = |name: &str| format!("package {name}\n\nfunc Add(a, b int) int {{\n\treturn a + b\n}}\n");
    let test = |name: &str, call: &str, import: &str| {
        let check = format!("\tif {call}(1, 2) != 3 {{\n\t\tt.Fail()\n\t}}\n");
        format!("package {name}\n\nimport (\n\t\"testing\"\n{import})\n\nfunc TestAdds(t *testing.T) {{\n{check}}}\n")
    };
    let Some(sandbox) = repository(&[
        ("go.work", "go 1.21\n\nuse (\n\t./a\n\t./b\n)\n"),
        ("a/go.mod", "module example.com/a\n\ngo 1.21\n"),
        ("a/calc.go", &code("a")),
        ("a/calc_test.go", &test("a", "Add", "")),
        ("b/go.mod", "module example.com/b\n\ngo 1.21\n"),
        ("b/calc.go", &code("b")),
        ("b/calc_test.go", &test("b", "a.Add", "\n\t\"example.com/a\"\n")),
    ]) else {
        return println!("{SKIPPED}");
    };
    check(&sandbox, &["a/calc_test.go::TestAdds", "b/calc_test.go::TestAdds"]);
    // Code that one module needs from another also counts as production.
    let more = test("b", "a.Twice", "\n\t\"example.com/a\"\n")
        .replace("TestAdds", "TestTwice")
        .replace("(1, 2) != 3", "(4) != 8");
    sandbox.write("b/twice_test.go", more);
    let (exit, said) = run(&sandbox, &["validate-red", "b/twice_test.go"]);
    assert_eq!((exit, said["cause"].as_str()), (0, Some("missing-symbol")), "{said}");
    sandbox.write("a/calc.go", code("a") + "\nfunc Twice(a int) int {\n\treturn a + a\n}\n");
    let (exit, said) = run(&sandbox, &["validate-green", "b/twice_test.go"]);
    assert_eq!(exit, 0, "{said}");
}

#[test]
fn the_packages_of_a_cargo_workspace_without_one_in_the_root() {
    let manifest = |name: &str| format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    let code = "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n";
    let test = |name: &str| format!("#[test]\nfn adds() {{\n    assert_eq!({name}::add(1, 2), 3);\n}}\n");
    let Some(sandbox) = repository(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\nresolver = \"3\"\n"),
        ("crates/a/Cargo.toml", &manifest("a")),
        ("crates/a/src/lib.rs", code),
        ("crates/a/tests/calc.rs", &test("a")),
        ("crates/b/Cargo.toml", &manifest("b")),
        ("crates/b/src/lib.rs", code),
        ("crates/b/tests/calc.rs", &test("b")),
    ]) else {
        return println!("{SKIPPED}");
    };
    check(&sandbox, &["crates/a/tests/calc.rs::adds", "crates/b/tests/calc.rs::adds"]);
}

#[test]
fn the_members_of_a_uv_workspace() {
    let manifest =
        "[project]\nname = \"x\"\nversion = \"0.1.0\"\n\n[tool.pytest.ini_options]\npythonpath = [\"src\"]\n";
    let code = "def add(a, b):\n    return a + b\n";
    let test = "import calc\n\n\ndef test_adds():\n    assert calc.add(1, 2) == 3\n";
    let Some(sandbox) = repository(&[
        (
            "pyproject.toml",
            "[project]\nname = \"root\"\nversion = \"0.1.0\"\n\n[tool.uv.workspace]\nmembers = [\"packages/*\"]\n",
        ),
        ("tests/test_calc.py", "def test_adds():\n    assert 1 + 2 == 3\n"),
        ("packages/a/pyproject.toml", manifest),
        ("packages/a/src/calc.py", code),
        ("packages/a/tests/test_calc.py", test),
        ("packages/b/pyproject.toml", manifest),
        ("packages/b/src/calc.py", code),
        ("packages/b/tests/test_calc.py", test),
    ]) else {
        return println!("{SKIPPED}");
    };
    let ids = [
        "packages/a/tests/test_calc.py::test_adds",
        "packages/b/tests/test_calc.py::test_adds",
        "tests/test_calc.py::test_adds",
    ];
    check(&sandbox, &ids);
    sandbox.write(
        "packages/b/tests/test_more.py",
        "from calc import double\n\n\ndef test_more():\n    assert double(2) == 4\n",
    );
    let (code, said) = run(&sandbox, &["validate-red", "packages/b/tests/test_more.py"]);
    assert_eq!(code, 0, "{said}");
    sandbox.write(
        "packages/b/src/calc.py",
        "def add(a, b):\n    return a + b\n\n\ndef double(a):\n    return add(a, a)\n",
    );
    let (code, said) = run(&sandbox, &["validate-green", "packages/b/tests/test_more.py"]);
    assert_eq!(code, 0, "{said}");
}

const CODE: &str = "export const add = (a, b) => a + b\n";

fn node_test(name: &str, from: &str, call: &str) -> String {
    let imports = "import test from 'node:test'\nimport assert from 'node:assert'\n";
    let import = format!("import {{ {name} }} from '{from}'\n");
    format!("{imports}{import}\ntest('works', () => {{\n  assert.equal({call}, 8)\n}})\n")
}

fn package(name: &str) -> String {
    format!(
        "{{\"name\": \"@shop/{name}\", \"version\": \"1.0.0\", \"type\": \"module\", \"exports\": \"./calc.js\", \"scripts\": {{\"test\": \"node --test\"}}}}\n"
    )
}

/// A workspace of two packages with this root manifest.
fn node_workspace(root: &str, pnpm: Option<&str>) -> Option<Sandbox> {
    let test = node_test("add", "../calc.js", "add(3, 5)");
    let (a, b) = (package("a"), package("b"));
    let mut files = vec![
        ("package.json", root),
        ("packages/a/package.json", &a),
        ("packages/a/calc.js", CODE),
        ("packages/a/test/calc.test.js", &test),
        ("packages/b/package.json", &b),
        ("packages/b/calc.js", CODE),
        ("packages/b/test/calc.test.js", &test),
    ];
    files.extend(pnpm.map(|text| ("pnpm-workspace.yaml", text)));
    repository(&files)
}

const OF_PACKAGES: [&str; 2] = ["packages/a/test/calc.test.js::works", "packages/b/test/calc.test.js::works"];

#[test]
fn the_packages_of_a_pnpm_workspace() {
    let root = "{\"name\": \"root\", \"private\": true, \"scripts\": {\"test\": \"pnpm -r test\"}}\n";
    let packages = "packages:\n  - 'packages/*'\n";
    let Some(sandbox) = node_workspace(root, Some(packages)) else { return println!("{SKIPPED}") };
    check(&sandbox, &OF_PACKAGES);
}

#[test]
fn the_packages_of_an_npm_workspace_and_what_one_needs_of_another() {
    let root = "{\"name\": \"root\", \"private\": true, \"workspaces\": [\"packages/*\"], \"scripts\": {\"test\": \"npm test --workspaces\"}}\n";
    let Some(sandbox) = node_workspace(root, None) else { return println!("{SKIPPED}") };
    check(&sandbox, &OF_PACKAGES);
    // Links the package as `npm install` does.
    let installed = sandbox.project().join("node_modules/@shop");
    std::fs::create_dir_all(&installed).unwrap();
    std::os::unix::fs::symlink("../../packages/a", installed.join("a")).unwrap();
    sandbox.write("packages/b/test/other.test.js", node_test("double", "@shop/a", "double(4)"));
    let (code, said) = run(&sandbox, &["validate-red", "packages/b/test/other.test.js"]);
    assert_eq!((code, said["cause"].as_str()), (0, Some("missing-symbol")), "{said}");
    // In a scratch copy the link must point to the copied package, or the red state could not be reproduced.
    sandbox.write("packages/a/calc.js", format!("{CODE}export const double = (a) => add(a, a)\n"));
    let (code, said) = run(&sandbox, &["validate-green", "packages/b/test/other.test.js"]);
    assert_eq!(code, 0, "{said}");
    sandbox.commit("chore: begin");
    sandbox.write("packages/a/calc.js", format!("{CODE}export const double = (a) => a * 2\n"));
    let (code, said) = run(&sandbox, &["validate-refactor"]);
    assert_eq!(code, 0, "{said}");
}
