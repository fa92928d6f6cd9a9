//! Corpora of changes, each judged by the real program with the real runner of its language: ways round the law, which must be
//! refused for the right reason, and honest work, which must not be.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde::Deserialize;
use serde_json::Value;
use tdd_fixtures::Sandbox;

/// More than there are cores: a case waits for processes and disks.
const THREADS: usize = 4;

/// What a case expects of the machine.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    /// What the change tries, in one sentence.
    why: String,
    gate: String,
    targets: Vec<String>,
    exit: i32,
    rule: Option<String>,
    cause: Option<String>,
}

/// A folder with `before/`, `attempt/` and `expected.json`.
struct Case {
    /// `bypass/a-test-is-deleted`.
    name: String,
    expected: Expected,
}

#[test]
fn every_way_round_is_refused_and_all_honest_work_accepted() {
    let (rates, wrong) = judged("");
    println!("{rates}");
    assert!(wrong.is_empty(), "{} answers are other than expected:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_way_round_in_python_is_refused_and_all_honest_work_accepted() {
    if !Sandbox::new().has_pytest() {
        println!("skipped: there is no pytest; install it into a virtual environment and set VIRTUAL_ENV");
        return;
    }
    let (rates, wrong) = judged("python/");
    println!("{rates}");
    assert!(wrong.is_empty(), "{} answers are other than expected:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_way_round_in_go_is_refused_and_all_honest_work_accepted() {
    if !Sandbox::new().has_go() {
        println!("skipped: there is no Go; put one on the path");
        return;
    }
    let (rates, wrong) = judged("go/");
    println!("{rates}");
    assert!(wrong.is_empty(), "{} answers are other than expected:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_way_round_in_javascript_is_refused_and_all_honest_work_accepted() {
    if !Sandbox::new().has_node() {
        println!("skipped: there is no node");
        return;
    }
    if !Sandbox::new().link_node_modules() {
        println!("skipped: the cases with `-vitest` and `-jest`; `.ci/run` installs both into target/node");
    }
    let (rates, wrong) = judged("javascript/");
    println!("{rates}");
    assert!(wrong.is_empty(), "{} answers are other than expected:\n{}", wrong.len(), wrong.join("\n"));
}

/// Both rates of a language's corpora, and where the machine answered otherwise.
fn judged(language: &str) -> (String, Vec<String>) {
    let wanted = std::env::var("CORPUS").unwrap_or_default();
    let [bypass, honest] = ["bypass", "honest"].map(|folder| cases(&format!("{language}{folder}"), &wanted));
    let (wrong_bypass, wrong_honest) = (judge(&bypass), judge(&honest));
    let rates = format!(
        "bypass: {} of {} refused; honest: {} of {} accepted",
        bypass.len() - wrong_bypass.len(),
        bypass.len(),
        honest.len() - wrong_honest.len(),
        honest.len(),
    );
    (rates, wrong_bypass.into_iter().chain(wrong_honest).collect())
}

#[test]
fn every_case_says_what_it_is_about() {
    let folders = ["", "python/", "javascript/", "go/"]
        .map(|language| [("bypass", 1), ("honest", 0)].map(|(kind, exit)| (language, kind, exit)));
    for (language, kind, exit) in folders.into_iter().flatten() {
        let folder = format!("{language}{kind}");
        for Case { name, expected } in cases(&folder, "") {
            assert!(!expected.why.is_empty(), "{name} does not say why");
            assert_eq!(expected.exit, exit, "{name}");
            assert_eq!(expected.rule.is_some(), exit == 1, "{name}");
            assert!(["red", "green", "refactor"].contains(&expected.gate.as_str()), "{name}");
        }
    }
}

/// The cases of a folder whose names contain this text.
fn cases(folder: &str, wanted: &str) -> Vec<Case> {
    let path = corpus().join(folder);
    let names = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.contains(wanted)).collect();
    names.sort();
    let case = |name: String| {
        let text = fs::read_to_string(path.join(&name).join("expected.json"))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let expected = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        Case { name: format!("{folder}/{name}"), expected }
    };
    names.into_iter().map(case).collect()
}

fn corpus() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../tdd-fixtures/corpus"))
}

/// Runs all cases, a few at a time, and tells where the machine answered otherwise.
fn judge(cases: &[Case]) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mismatch = mismatch(case);
                    wrong.lock().unwrap().extend(mismatch);
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().unwrap();
    wrong.sort();
    wrong
}

/// What the machine said, if it is not what was expected.
fn mismatch(case: &Case) -> Option<String> {
    let sandbox = laid(&case.name)?;
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli"));
    command.arg(format!("validate-{}", case.expected.gate)).args(&case.expected.targets).args(["--format", "json"]);
    let output = command.output().unwrap();
    let verdict: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let text = |key: &str| verdict[key].as_str().map(str::to_owned);
    let Expected { why, exit, rule, cause, .. } = &case.expected;
    let said = (output.status.code(), text("rule"), text("cause"));
    if said == (Some(*exit), rule.clone(), cause.clone()) {
        return None;
    }
    let reason = text("reason").unwrap_or_else(|| String::from_utf8_lossy(&output.stderr).into_owned());
    let name = &case.name;
    Some(format!("{name}: {why}\n    expected {exit} {rule:?} {cause:?}\n    but was  {said:?}: {reason}"))
}

/// The case's project, its base committed and its attempt in the working tree; `None` if its runner is not there.
fn laid(case: &str) -> Option<Sandbox> {
    let sandbox = Sandbox::new();
    let languages = ["python/", "javascript/", "go/"];
    let language = languages.into_iter().find(|language| case.starts_with(language)).unwrap_or_default();
    let is_installed = || ["-vitest", "-jest"].iter().any(|runner| case.contains(runner));
    if language == "javascript/" && is_installed() && !sandbox.link_node_modules() {
        return None;
    }
    sandbox.lay(&format!("corpus/{language}skeleton"));
    sandbox.lay(&format!("corpus/{case}/before"));
    sandbox.git(&["init", "-q", "-b", "main"]);
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "chore: the base"]);
    sandbox.lay(&format!("corpus/{case}/attempt"));
    Some(sandbox)
}
