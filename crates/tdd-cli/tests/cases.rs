//! Tests a Rust project with real rstest: the cases of a function count as one test.

#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "a test that cannot be set up has failed")]

use serde_json::Value;
use tdd_fixtures::Sandbox;

const TESTS: &str = "use kata::double;\nuse rstest::rstest;\n\n#[rstest]\n#[case(1, 2)]\n#[case(2, 4)]\n\
                     fn doubles(#[case] n: i32, #[case] twice: i32) {\n    assert_eq!(double(n), twice);\n}\n";
const MORE: &str = "\n#[rstest]\n#[case(1, 3)]\n#[case(2, 6)]\nfn trebles(#[case] n: i32, #[case] thrice: i32) {\n    \
                    assert_eq!(kata::treble(n), thrice);\n}\n";
const CODE: &str = "//! Multiplies.\n\n/// Twice.\npub fn double(n: i32) -> i32 {\n    n + n\n}\n";
const TREBLE: &str = "\n/// Thrice.\npub fn treble(n: i32) -> i32 {\n    n * 3\n}\n";

/// A project that uses rstest; `None` if it can neither be found nor fetched.
fn project() -> Option<Sandbox> {
    let sandbox = Sandbox::initialized(env!("CARGO_BIN_EXE_tdd-cli"), &["--name", "kata"]);
    let manifest = sandbox.read("Cargo.toml");
    let dependency = "\n[dev-dependencies]\nrstest = { version = \"0.28\", default-features = false }\n";
    sandbox.write("Cargo.toml", format!("{manifest}{dependency}"));
    let fetch = |offline: &str| {
        let mut command = sandbox.command("cargo");
        command.arg("fetch").env("CARGO_NET_OFFLINE", offline).env("CARGO_NET_RETRY", "0");
        command.output().unwrap().status.success()
    };
    if !fetch("true") && !fetch("false") {
        eprintln!("SKIPPED: there is no rstest, and no network to fetch it");
        return None;
    }
    sandbox.write("src/lib.rs", CODE);
    sandbox.write("tests/a.rs", TESTS);
    sandbox.commit("feat: double");
    Some(sandbox)
}

/// The exit code, rule, cause and target of a gate's single verdict.
fn answer(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli"));
    let output = command.args(arguments).args(["--format", "json"]).output().unwrap();
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let word = |key: &str| said[key].as_str().unwrap_or("-").to_owned();
    format!("{} {} {} {}", output.status.code().unwrap(), word("rule"), word("cause"), word("test_id"))
}

#[test]
fn the_cases_of_a_function_are_one_test_to_every_gate() {
    let Some(sandbox) = project() else { return };
    sandbox.write("tests/a.rs", format!("{TESTS}{MORE}"));
    assert_eq!(answer(&sandbox, &["validate-red", "tests/a.rs"]), "0 - missing-symbol tests/a.rs::trebles");
    sandbox.commit("test: treble");
    sandbox.write("src/lib.rs", format!("{CODE}{TREBLE}"));
    assert_eq!(answer(&sandbox, &["validate-green", "tests/a.rs::trebles"]), "0 - - tests/a.rs::trebles");
    for loosened in [TESTS.replace("2, 4", "2, 2 + 2"), TESTS.replace("#[case(2, 4)]\n", "")] {
        sandbox.write("tests/a.rs", format!("{loosened}{MORE}"));
        let refused = answer(&sandbox, &["validate-green", "tests/a.rs::trebles"]);
        assert_eq!(refused, "1 tests-frozen - tests/a.rs::doubles", "{loosened}");
    }
    sandbox.write("tests/a.rs", format!("{TESTS}{MORE}"));
    sandbox.commit("feat: treble");
    // An added case is a new requirement.
    sandbox.write("tests/a.rs", format!("{TESTS}{}", MORE.replace("#[case(2, 6)]", "#[case(2, 6)]\n#[case(3, 10)]")));
    assert_eq!(answer(&sandbox, &["validate-red", "tests/a.rs"]), "0 - assertion tests/a.rs::trebles");
}
