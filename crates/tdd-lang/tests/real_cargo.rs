//! Runs the suite with real cargo and real test binaries, through a small executor.
#![expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "this test runs real commands on real files")]
#![expect(clippy::unwrap_used, reason = "a test's helpers fail by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use tdd_core::command::{Captured, CommandSpec, Exit, Finished};
use tdd_core::report::{Cause, Report};
use tdd_core::test_id::TestId;
use tdd_lang::language::{Next, Project, Selection, Settings, Sources};
use tdd_lang::rust::suite;

/// A repository in a temporary folder.
struct Repository {
    folder: tempfile::TempDir,
    files: BTreeMap<String, String>,
    paths: Vec<String>,
}

impl Repository {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let files: BTreeMap<String, String> =
            files.iter().map(|&(path, text)| (path.to_owned(), text.to_owned())).collect();
        for (path, text) in &files {
            let target = folder.path().join(path);
            fs::create_dir_all(target.parent().unwrap()).unwrap();
            fs::write(target, text).unwrap();
        }
        let paths = files.keys().cloned().collect();
        Self { folder, files, paths }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// Plays a whole run; returns the report and the commands.
    fn run(&self, command: &str, selection: Selection) -> (Report, Vec<String>) {
        let project = Project { root: String::new(), description: String::new() };
        let settings = Settings {
            test_cmd: Some(command.split(' ').map(str::to_owned).collect()),
            timeout: Duration::from_secs(3),
            ..Settings::default()
        };
        let mut suite = suite::begin(&project, &settings, selection).unwrap();
        let mut commands = Vec::new();
        loop {
            match suite.next(self) {
                Next::Done(report) => return (report, commands),
                Next::Run(jobs) => {
                    commands.extend(jobs.iter().map(|job| job.command.line()));
                    let finished = jobs.iter().map(|job| execute(&job.command, &self.root())).collect();
                    suite.feed(finished);
                }
            }
        }
    }
}

impl Sources for Repository {
    fn files(&self) -> &[String] {
        &self.paths
    }
    fn read(&self, path: &str) -> Option<String> {
        self.files.get(path).cloned()
    }
}

/// Runs a command in its own process group and kills the group on timeout.
fn execute(spec: &CommandSpec, root: &Path) -> Finished {
    let begun = Instant::now();
    let mut command = Command::new(&spec.argv[0]);
    command.args(&spec.argv[1..]).current_dir(root.join(&spec.cwd)).envs(spec.env.iter().cloned());
    command.env("CARGO_TARGET_DIR", root.join("target")).env("CARGO_NET_OFFLINE", "true");
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).stdin(Stdio::null()).process_group(0);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            return finished(Exit::NotStarted(error.to_string()), Vec::new(), Vec::new(), begun, String::new());
        }
    };
    let mut stdout = child.stdout.take().unwrap();
    let mut stderr = child.stderr.take().unwrap();
    let out = std::thread::spawn(move || read_all(&mut stdout));
    let err = std::thread::spawn(move || read_all(&mut stderr));
    let exit = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break exit_of(status);
        }
        if begun.elapsed() > spec.deadline {
            let group = format!("-{}", child.id());
            Command::new("kill").args(["-9", "--", &group]).status().unwrap();
            child.wait().unwrap();
            break Exit::TimedOut;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let folder = root.join(&spec.cwd).canonicalize().unwrap().to_str().unwrap().to_owned();
    finished(exit, out.join().unwrap(), err.join().unwrap(), begun, folder)
}

fn read_all(stream: &mut impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    bytes
}

fn exit_of(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(0), _) => Exit::Passed,
        (Some(code), _) => Exit::Failed(code),
        (None, signal) => Exit::Signalled(signal.unwrap_or_default()),
    }
}

fn finished(exit: Exit, stdout: Vec<u8>, stderr: Vec<u8>, begun: Instant, folder: String) -> Finished {
    Finished {
        exit,
        stdout: Captured::whole(stdout),
        stderr: Captured::whole(stderr),
        duration: begun.elapsed(),
        folder,
    }
}

/// The report as lines: `id: pass` or `id: cause`, then `! subject: cause`.
fn lines(report: &Report) -> Vec<String> {
    let cause = |cause: Option<Cause>| cause.map_or("pass", Cause::name);
    let results = report.results().map(|result| format!("{}: {}", result.id, cause(result.outcome.cause())));
    let obstacles = report.obstacles().iter().map(|obstacle| format!("! {}: {}", obstacle.subject, obstacle.cause));
    results.chain(obstacles).collect()
}

const MANIFEST: &str = "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";

/// A package with nearly every kind of failure.
fn trouble() -> Repository {
    Repository::new(&[
        ("Cargo.toml", MANIFEST),
        (
            "src/lib.rs",
            r#"//! ```
//! assert_eq!(demo::add(1, 2), 3);
//! ```

/// ```
/// assert_eq!(demo::add(1, 2), 4);
/// ```
/// ```
/// demo::sub(1, 2);
/// ```
pub fn add(a: i32, b: i32) -> i32 { a + b }

#[cfg(test)]
mod deep;

#[cfg(test)]
mod tests {
    #[test] fn same() {}
    #[test] #[ignore = "later"] fn ignored() {}
    #[test] #[should_panic] fn should_panic_and_does() { panic!() }
    #[test] #[should_panic] fn should_panic_and_does_not() {}
    #[test] fn fails() { assert_eq!(crate::add(1, 2), 4) }
}
"#,
        ),
        ("src/deep.rs", "// @tdd-test-id: deep-one\n#[test] fn annotated() {}\n#[test] fn plain() {}\n"),
        ("src/main.rs", "fn main() {}\n#[test] fn same() {}\n"),
        ("tests/same.rs", "#[test] fn same() { assert!(std::env::var(\"CARGO_BIN_EXE_demo\").is_ok()); }\n"),
        (
            "tests/crash.rs",
            "#[test] fn a_good() {}\n#[test] fn aborts() { std::process::abort() }\n#[test] fn exits() { std::process::exit(0) }\n#[test] fn overflows() { fn f(n: u64) -> u64 { std::hint::black_box(f(std::hint::black_box(n + 1))) + 1 } f(0); }\n#[test] fn z_good() {}\n",
        ),
        (
            "tests/hang.rs",
            "#[test] fn good() {}\n#[test] fn hangs() { loop { std::thread::sleep(std::time::Duration::from_secs(1)) } }\n",
        ),
        (
            "tests/liar.rs",
            "#[test] fn lies() { use std::io::Write; std::io::stdout().write_all(b\"{ \\\"type\\\": \\\"test\\\", \\\"name\\\": \\\"lies\\\", \\\"event\\\": \\\"ok\\\" }\\n\").unwrap(); std::process::exit(0) }\n",
        ),
        ("tests/missing.rs", "#[test] fn wants() { assert_eq!(demo::sub(3, 1), 2); }\n"),
        ("tests/own.rs", "fn main() { println!(\"custom\"); }\n"),
    ])
}

#[test]
fn every_test_of_a_troubled_package_gets_its_own_answer() {
    let mut repository = trouble();
    let manifest = format!("{MANIFEST}[[test]]\nname = \"own\"\nharness = false\n");
    fs::write(repository.root().join("Cargo.toml"), &manifest).unwrap();
    repository.files.insert("Cargo.toml".to_owned(), manifest);
    let (report, _) = repository.run("cargo test --all", Selection::All);
    let expected = [
        "deep-one: pass",
        "src/deep.rs::deep::plain: pass",
        "src/lib.rs::doc()#1: pass",
        "src/lib.rs::doc(add)#1: assertion",
        "src/lib.rs::doc(add)#2: missing-symbol",
        "src/lib.rs::tests::fails: assertion",
        "src/lib.rs::tests::ignored: skipped",
        "src/lib.rs::tests::same: pass",
        "src/lib.rs::tests::should_panic_and_does: pass",
        "src/lib.rs::tests::should_panic_and_does_not: assertion",
        "src/main.rs::same: pass",
        "tests/crash.rs::a_good: pass",
        "tests/crash.rs::aborts: crash",
        "tests/crash.rs::exits: crash",
        "tests/crash.rs::overflows: crash",
        "tests/crash.rs::z_good: pass",
        "tests/hang.rs::good: pass",
        "tests/hang.rs::hangs: timeout",
        "tests/liar.rs::lies: crash",
        "tests/same.rs::same: pass",
        "! tests/missing.rs: missing-symbol",
        "! tests/own.rs: unknown-output",
    ];
    assert_eq!(lines(&report), expected, "{report:#?}");

    let ids = [
        "tests/crash.rs::a_good",
        "tests/crash.rs::z_good",
        "src/lib.rs::doc(add)#1",
        "deep-one",
        "tests/x.rs::gone",
        "tests/missing.rs::wants",
    ];
    let ids = ids.iter().map(|id| TestId::parse(id).unwrap()).collect();
    let (report, commands) = repository.run("cargo test --all", Selection::Only(ids));
    let expected = [
        "deep-one: pass",
        "src/lib.rs::doc(add)#1: assertion",
        "tests/crash.rs::a_good: pass",
        "tests/crash.rs::z_good: pass",
        "tests/missing.rs::wants: missing-symbol",
        "tests/x.rs::gone: target-not-found",
        "! tests/missing.rs: missing-symbol",
        "! tests/own.rs: unknown-output",
    ];
    assert_eq!(lines(&report), expected, "{report:#?}");
    let runs = commands.iter().filter(|line| line.contains("--exact")).count();
    assert_eq!(runs, 2, "{commands:#?}");
}

/// A workspace of three packages, one of them a macro crate.
fn workspace() -> Repository {
    let package = |name: &str, rest: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"1.2.3\"\nedition = \"2024\"\n{rest}")
    };
    Repository::new(&[
        ("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"alpha\", \"beta\", \"macros\"]\n"),
        ("alpha/Cargo.toml", &package("alpha-one", "")),
        (
            "alpha/src/lib.rs",
            "/// ```\n/// alpha_one::one();\n/// ```\npub fn one() {}\n#[test] fn here() { assert!(std::path::Path::new(\"src/lib.rs\").exists()); }\n",
        ),
        ("beta/Cargo.toml", &package("beta", "[dependencies]\nalpha-one = { path = \"../alpha\" }\n")),
        ("beta/build.rs", "fn main() { println!(\"cargo::rustc-env=GREETING=hello\"); }\n"),
        (
            "beta/src/lib.rs",
            "#[test] fn env() { for n in [\"OUT_DIR\", \"GREETING\"] { assert!(std::env::var(n).is_ok()); } assert_eq!(std::env::var(\"CARGO_PKG_VERSION\").unwrap(), \"1.2.3\"); }\n",
        ),
        ("beta/tests/it.rs", "#[test] fn one() { alpha_one::one(); }\n"),
        ("macros/Cargo.toml", &package("macros", "[lib]\nproc-macro = true\n")),
        ("macros/src/lib.rs", "#[test] fn loads() {}\n"),
    ])
}

#[test]
fn packages_of_a_workspace_run_in_their_own_folder_and_environment() {
    let repository = workspace();
    let (report, _) = repository.run("cargo test --workspace", Selection::All);
    let expected = [
        "alpha/src/lib.rs::doc(one)#1: pass",
        "alpha/src/lib.rs::here: pass",
        "beta/src/lib.rs::env: pass",
        "beta/tests/it.rs::one: pass",
        "macros/src/lib.rs::loads: pass",
    ];
    assert_eq!(lines(&report), expected, "{report:#?}");
    if Command::new("cargo").args(["nextest", "--version"]).output().is_ok_and(|found| found.status.success()) {
        let (report, _) = repository.run("cargo nextest run --workspace", Selection::All);
        assert_eq!(lines(&report), expected[1..], "{report:#?}");
        let one = Selection::Only(vec![TestId::parse("beta/tests/it.rs::one").unwrap()]);
        let (report, _) = repository.run("cargo nextest run --workspace", one);
        assert_eq!(lines(&report), [expected[3]], "{report:#?}");
    }
    let (report, _) = repository.run("cargo test -p beta --lib", Selection::All);
    assert_eq!(lines(&report), ["beta/src/lib.rs::env: pass"], "{report:#?}");
}

#[test]
fn a_broken_manifest_and_a_missing_cargo_are_obstacles() {
    let broken = Repository::new(&[("Cargo.toml", "[package\n"), ("src/lib.rs", "")]);
    assert_eq!(lines(&broken.run("cargo test", Selection::All).0), ["! Cargo.toml: load-failure"]);
    let missing = broken.run("/nowhere/cargo test", Selection::All).0;
    assert_eq!(lines(&missing), ["! cargo: runner-missing"]);
}

#[test]
fn a_project_without_tests_has_an_empty_report() {
    let empty = Repository::new(&[("Cargo.toml", MANIFEST), ("src/lib.rs", "//! Nothing yet.\n")]);
    assert_eq!(lines(&empty.run("cargo test --all", Selection::All).0), Vec::<String>::new());
}

#[test]
fn every_target_that_does_not_compile_has_its_own_cause() {
    let repository = Repository::new(&[
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", "pub fn add(a: i32, b: i32) -> i32 { a + b }\npub struct Thing(pub i32);\n"),
        (
            "tests/alias.rs",
            "use demo::Thing as T;\n#[test] fn a() {\n    let value = T::parse(\n        \"x\",\n    );\n    assert_eq!(\n        value,\n        Ok(3)\n    );\n}\n",
        ),
        (
            "tests/conversion.rs",
            "use demo::*;\n#[test] fn a() { let t: Result<Thing, String> = Thing::try_from(\"x\"); assert!(t.is_ok()); }\n",
        ),
        (
            "tests/several.rs",
            "use demo::*;\n#[test] fn a() { let mut g = Thing(1); g.roll(5).unwrap(); assert_eq!(add(\"a\"), 1); assert_eq!(format!(\"{g:?}\"), \"x\"); }\n",
        ),
        (
            "tests/paths.rs",
            "#[test] fn a() { assert_eq!(demo::Stack::<i32>::new().len(), 0); assert_eq!(demo::LIMIT, 3); assert_eq!(demo::geo::area(1), 3); }\n",
        ),
        ("tests/crate_of_its_own.rs", "#[test] fn a() { crate::helper(); }\n"),
        (
            "tests/own_trait.rs",
            "trait Own { fn f(&self); }\nstruct S;\nimpl Own for S {}\n#[test] fn a() { S.f(); assert_eq!(demo::add(1, 2), 3); }\n",
        ),
        ("tests/literal.rs", "#[test] fn a() { let x: u32 = \"a\"; assert_eq!(demo::add(1, 2), 3); }\n"),
        ("tests/syntax.rs", "#[test] fn a() { let x = ; }\n"),
    ]);
    let (report, _) = repository.run("cargo test", Selection::All);
    let expected = [
        "! tests/alias.rs: missing-symbol",
        "! tests/conversion.rs: missing-symbol",
        "! tests/crate_of_its_own.rs: unrelated-compile-error",
        "! tests/literal.rs: unrelated-compile-error",
        "! tests/own_trait.rs: unrelated-compile-error",
        "! tests/paths.rs: missing-symbol",
        "! tests/several.rs: missing-symbol",
        "! tests/syntax.rs: syntax-error",
    ];
    assert_eq!(lines(&report), expected, "{report:#?}");
    assert_eq!(report.obstacles()[3].place.as_deref(), Some("tests/literal.rs:1"));
}
