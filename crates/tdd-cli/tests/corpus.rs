//! Judges the corpora with the real program and each language's real runner: cheats must be refused for the right
//! reason, honest changes accepted. A second command must agree on each case.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde::Deserialize;
use serde_json::Value;
use tdd_fixtures::{Sandbox, corpus};

/// More than the number of cores, because cases mostly wait for processes and disk.
const THREADS: usize = 4;

/// A case's expected result.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    /// What the change attempts, in one sentence.
    why: String,
    /// Shared folders of the corpus, copied before the case's own `before/` and `attempt/` by [`Sandbox::lay_base`] and
    /// [`Sandbox::lay_attempt`].
    #[serde(default, rename = "before")]
    _before: Vec<String>,
    #[serde(default, rename = "attempt")]
    _attempt: Vec<String>,
    gate: String,
    targets: Vec<String>,
    exit: i32,
    rule: Option<String>,
    cause: Option<String>,
}

/// A folder with `before/`, `attempt/` and `expected.json`: see [`tdd_fixtures::corpus`].
struct Case {
    /// `bypass/a-test-is-deleted`.
    name: String,
    expected: Expected,
}

#[test]
fn every_way_round_is_refused_and_all_honest_work_accepted() {
    check("", |_| true);
}

#[test]
fn every_way_round_in_python_is_refused_and_all_honest_work_accepted() {
    check("python/", Sandbox::has_pytest);
}

#[test]
fn every_way_round_in_go_is_refused_and_all_honest_work_accepted() {
    check("go/", Sandbox::has_go);
}

#[test]
fn every_way_round_in_javascript_is_refused_and_all_honest_work_accepted() {
    if !Sandbox::new().link_node_modules() {
        println!("skipped: the cases with `-vitest` and `-jest`; `.ci/run` installs both into target/node");
    }
    check("javascript/", Sandbox::has_node);
}

/// Judges a language's cases, prints both rates, and fails on any unexpected verdict.
#[expect(clippy::print_stdout, reason = "the rates are for people to read")]
fn check(language: &str, is_installed: fn(&Sandbox) -> bool) {
    if !is_installed(&Sandbox::new()) {
        return println!("skipped: the tools of `{language}` are not installed");
    }
    let (rates, wrong) = judged(language);
    println!("{rates}");
    assert!(wrong.is_empty(), "{} answers are other than expected:\n{}", wrong.len(), wrong.join("\n"));
}

/// Both rates of a language's corpora, and the unexpected verdicts.
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
    let folders =
        corpus::LANGUAGES.map(|language| [("bypass", 1), ("honest", 0)].map(|(kind, exit)| (language, kind, exit)));
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

/// The cases of a folder whose names contain `wanted`.
fn cases(folder: &str, wanted: &str) -> Vec<Case> {
    let case = |name: String| {
        let name = format!("{folder}/{name}");
        let expected =
            serde_json::from_value(corpus::expected(&name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        Case { name, expected }
    };
    corpus::names(folder).into_iter().filter(|name| name.contains(wanted)).map(case).collect()
}

/// Judges the cases in parallel and returns the unexpected verdicts.
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

/// The verdict, if it is unexpected.
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
        // A run may have changed files and a door commits, so the next door gets a fresh copy.
        let is_changed = rule.as_deref() == Some("same-tree");
        return Door::of(case).into_iter().enumerate().find_map(|(number, door)| {
            let again = if is_changed || number > 0 { laid(&case.name) } else { None };
            door.mismatch(case, again.as_ref().unwrap_or(&sandbox))
        });
    }
    let reason = text("reason").unwrap_or_else(|| String::from_utf8_lossy(&output.stderr).into_owned());
    let name = &case.name;
    Some(format!("{name}: {why}\n    expected {exit} {rule:?} {cause:?}\n    but was  {said:?}: {reason}"))
}

/// A second command that must judge the same change alike.
#[derive(Clone, Copy, Debug)]
enum Door {
    /// `check`, on the working tree.
    Check,
    /// `audit`, on a commit that claims the phase.
    Audit,
    /// `prove`, on a commit that claims nothing.
    Prove,
    /// `detect-antipattern`, on a commit that claims the phase.
    Detect,
}

impl Door {
    const ALL: [Self; 4] = [Self::Check, Self::Audit, Self::Prove, Self::Detect];

    /// The doors for a case: one, or all with `DOORS=all`. `prove` does not apply to a red.
    fn of(case: &Case) -> Vec<Self> {
        let mut doors = Self::ALL.to_vec();
        doors.retain(|door| !matches!(door, Self::Prove if case.expected.gate == "red"));
        if std::env::var("DOORS").is_ok_and(|doors| doors == "all") {
            return doors;
        }
        let number: usize = case.name.bytes().map(usize::from).sum();
        vec![doors[number % doors.len()]]
    }

    fn mismatch(self, case: &Case, sandbox: &Sandbox) -> Option<String> {
        let Expected { gate, targets, exit, rule, cause, .. } = &case.expected;
        let tests = targets.iter().filter(|it| it.contains("::"));
        let tests = tests.fold(String::new(), |text, it| {
            text + &format!(
                "TDD-Test: {it}
"
            )
        });
        let claims = format!("chore: the change\n\nTDD-Phase: {gate}\n{tests}");
        let (code, document) = match self {
            Self::Check => {
                let phase = ["check", "--phase", gate].map(str::to_owned);
                document(sandbox, phase.iter().chain(targets))
            }
            Self::Audit => document(committed(sandbox, &claims), &["audit".to_owned(), "HEAD~1..".to_owned()]),
            Self::Prove => {
                document(committed(sandbox, "chore: the change"), &["prove".to_owned(), "HEAD~1..".to_owned()])
            }
            Self::Detect => {
                let at_head = ["detect-antipattern", "--at", "HEAD"].map(str::to_owned);
                document(committed(sandbox, &claims), &at_head)
            }
        };
        let text = |key: &str| document[key].as_str().map(str::to_owned);
        let agrees = match self {
            Self::Check => (code, text("rule"), text("cause")) == (Some(*exit), rule.clone(), cause.clone()),
            // `audit` and `prove` also fail when a commit cannot be judged.
            Self::Audit | Self::Prove => (code == Some(0)) == (*exit == 0),
            Self::Detect => code == Some(0) || *exit != 0,
        };
        (!agrees).then(|| format!("{} at the door {self:?}: {code:?} {document}", case.name))
    }
}

/// Commits the working tree.
fn committed<'s>(sandbox: &'s Sandbox, message: &str) -> &'s Sandbox {
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "--allow-empty", "-m", message]);
    sandbox
}

/// The exit code and JSON output of a command.
fn document<'a>(sandbox: &Sandbox, arguments: impl IntoIterator<Item = &'a String>) -> (Option<i32>, Value) {
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli"));
    let output = command.args(arguments).args(["--format", "json"]).output().unwrap();
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or_default())
}

/// A case's project with its base committed and its attempt in the working tree; `None` if its runner is not installed.
fn laid(case: &str) -> Option<Sandbox> {
    let sandbox = Sandbox::new();
    let is_installed = || ["-vitest", "-jest"].iter().any(|runner| case.contains(runner));
    if case.starts_with("javascript/") && is_installed() && !sandbox.link_node_modules() {
        return None;
    }
    sandbox.lay_base(case);
    sandbox.git(&["init", "-q", "-b", "main"]);
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "chore: the base"]);
    sandbox.lay_attempt(case);
    Some(sandbox)
}
