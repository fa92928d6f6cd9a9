//! Tests `eval` with scripted models: the arms, the tables, the second start, the replay, and our own exercises.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tdd_fixtures::Sandbox;
use tdd_fixtures::server::{Cast, Reply, Request, Server};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tdd-cli");

const HALF_TEST: &str = "from price import half\n\n\ndef test_an_odd_price_is_rounded_up():\n    assert half(5) == 3\n";
const HALF: &str = "def half(cents):\n    return (cents + 1) // 2\n";
const LONGEST_TEST: &str =
    "use long_jump::longest;\n\n#[test]\nfn the_longest_counts() {\n    assert_eq!(longest(&[3, 5, 4]), Some(5));\n}\n";
const LONGEST: &str = "//! Jumps.\n\n/// The longest jump.\npub fn longest(jumps: &[u32]) -> Option<u32> {\n    jumps.iter().copied().max()\n}\n";

/// One exercise in Python that needs care, and one in Rust.
const EXERCISES: [(&str, &str); 6] = [
    ("half-price/instructions.md", "# Half price\n\n`half(cents)` is half of a price, rounded up: `half(5)` is 3.\n"),
    ("half-price/stub/price.py", "def half(cents):\n    raise NotImplementedError\n"),
    (
        "half-price/hidden/tests/test_secret.py",
        "from price import half\n\n\ndef test_even():\n    assert half(10) == 5\n\n\ndef test_odd():\n    assert half(7) == 4\n",
    ),
    ("long-jump/instructions.md", "# Long jump\n\n`longest(&[3, 5, 4])` is `Some(5)`; without jumps it is `None`.\n"),
    (
        "long-jump/stub/src/lib.rs",
        "//! Jumps.\n\n/// The longest jump.\npub fn longest(jumps: &[u32]) -> Option<u32> {\n    todo!(\"{jumps:?}\")\n}\n",
    ),
    (
        "long-jump/hidden/tests/secret.rs",
        "use long_jump::longest;\n\n#[test]\nfn some() {\n    assert_eq!(longest(&[1, 2]), Some(2));\n}\n\n#[test]\nfn none() {\n    assert_eq!(longest(&[]), None);\n}\n",
    ),
];

/// A sandbox with exercises in `../exercises`, and models at a server.
fn sandbox(files: &[(&str, &str)], url: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    for (path, text) in files {
        sandbox.write(&format!("../exercises/{path}"), text);
    }
    let role = "{ model: m, protocol: edit-plan }";
    let roles = format!("roles:\n  tester: {role}\n  implementor: {role}\n  refactorer: {role}\n");
    sandbox.write("tdd.yaml", format!("{roles}llm: {{ base_url: '{url}', max_retries: 0 }}\n"));
    sandbox
}

/// Runs `eval`; returns the exit code, standard output and standard error.
fn eval(sandbox: &Sandbox, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = sandbox.command(PROGRAM).arg("eval").args(arguments).output().unwrap();
    let text =
        |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(&sandbox.outside().display().to_string(), "[outside]");
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// Writes a test and makes it pass; the first attempt at that changes the test.
fn machine(test: (&str, &str), cheat: &str, code: (&str, &str), id: &str) -> Cast {
    let done = json!({"done": [{"requirement": "all of it", "test_id": id}]});
    let cheat = [(test.0, Some(cheat)), (code.0, Some(code.1))];
    let cast = Cast::new().writes("tester", test.0, test.1).edits("implementor", &cheat, &json!({"summary": "do it"}));
    cast.writes("implementor", code.0, code.1).edits("tester", &[], &done)
}

/// A model that is careless in one shot and careful in small steps.
fn model() -> Server {
    let half_test = ("tests/test_price.py", HALF_TEST);
    let loosened = HALF_TEST.replace("half(5) == 3", "half(5) > 0");
    let half_id = "tests/test_price.py::test_an_odd_price_is_rounded_up";
    let mut half = machine(half_test, &loosened, ("price.py", HALF), half_id);
    let jump_test = ("tests/longest.rs", LONGEST_TEST);
    let loosened = LONGEST_TEST.replace("assert_eq!(longest(&[3, 5, 4]), Some(5))", "longest(&[])");
    let mut jump = machine(jump_test, &loosened, ("src/lib.rs", LONGEST), "tests/longest.rs::the_longest_counts");
    Server::by(move |request| {
        let is_half = (0..request.messages()).any(|at| request.message(at).contains("Half price"));
        if !request.message(0).starts_with("You are an experienced programmer") {
            return if is_half { half.reply(request) } else { jump.reply(request) };
        }
        assert_no_hidden_test(request);
        Reply::Says(match (is_half, request.messages()) {
            (true, 2) => "price.py\n```python\ndef half(cents):\n    return cents // 2\n```\n".to_owned(),
            (true, _) => format!("price.py\n```python\n{HALF}```\n"),
            (false, _) => format!("Here it is:\n```rust\n{LONGEST}```\n"),
        })
    })
}

/// In the second round a model sees the failing test's name and message; before, nothing of it.
fn assert_no_hidden_test(request: &Request) {
    let said: Vec<String> = (0..request.messages()).map(|at| request.message(at)).collect();
    let is_shown = said.iter().any(|text| text.contains("test_odd"));
    assert_eq!(is_shown, request.messages() > 2, "{said:?}");
    assert!(!said.concat().contains("test_even"), "{said:?}");
}

fn cell<'d>(document: &'d Value, exercise: &str, arm: &str) -> &'d Value {
    let cells = document["exercises"].as_array().unwrap();
    cells.iter().find(|cell| cell["exercise"] == exercise && cell["arm"] == arm).unwrap()
}

/// Snapshot with minutes replaced.
macro_rules! assert_tables {
    ($text:expr) => {
        let mut settings = insta::Settings::clone_current();
        settings.add_filter(r"\b\d+\.\d\b", "[n]");
        settings.bind(|| insta::assert_snapshot!($text));
    };
}

#[test]
fn the_machine_is_compared_with_one_shot_and_a_second_start_goes_on() {
    let server = model();
    let sandbox = sandbox(&EXERCISES, &server.url());
    if !sandbox.has_pytest() {
        return;
    }
    let (code, stdout, stderr) = eval(&sandbox, &["../exercises", "--record", "tapes", "--jobs", "2"]);
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    assert_tables!(stdout);
    assert_eq!(stderr.lines().count(), 6, "{stderr}");
    let hidden = |request: &Request| request.body.to_string().contains("test_even");
    assert!(!server.requests().iter().any(hidden), "a model saw a hidden test");

    let asked = server.requests().len();
    let (code, stdout, stderr) = eval(&sandbox, &["../exercises", "--format", "json"]);
    assert_eq!((code, server.requests().len(), stderr.as_str()), (Some(0), asked, ""));
    let document: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&document["earlier"], &document["new"]), (&json!(6), &json!(0)));
    assert_eq!(cell(&document, "half-price", "one-shot")["solved"], 0);
    assert_eq!(cell(&document, "half-price", "one-shot-retry")["calls"], 2);
    assert_eq!(cell(&document, "half-price", "machine")["solved"], 1);
    let total = &document["totals"][2];
    assert_eq!((&total["arm"], &total["solved"], &total["trials"]), (&json!("machine"), &json!(2), &json!(2)));
    assert_eq!((&total["low"], &total["high"]), (&json!(0.342), &json!(1.0)));

    drop(server);
    let replay = ["../exercises", "--replay", "tapes", "--only", "half-price", "--out", "replayed.jsonl"];
    let (code, stdout, stderr) = eval(&sandbox, &[&replay[..], &["--format", "json"]].concat());
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    let replayed: Value = serde_json::from_str(&stdout).unwrap();
    for arm in ["one-shot", "one-shot-retry", "machine"] {
        let (first, again) = (cell(&document, "half-price", arm), cell(&replayed, "half-price", arm));
        assert_eq!(
            (&first["solved"], &first["calls"], &first["tokens"]),
            (&again["solved"], &again["calls"], &again["tokens"])
        );
    }
}

#[test]
fn a_folder_that_is_no_exercise_does_not_stop_the_others() {
    let sandbox = sandbox(&EXERCISES, "http://127.0.0.1:1/v1");
    if !sandbox.has_pytest() {
        return;
    }
    sandbox.write("../exercises/odd/notes.txt", "later");
    sandbox.write("tapes/half-price.one-shot.1.jsonl", tape(&[("price.py", HALF)]));
    let only = ["--only", "half-price", "--only", "odd"];
    let arguments = [&["../exercises", "--arms", "one-shot", "--replay", "tapes"][..], &only].concat();
    let (code, stdout, stderr) = eval(&sandbox, &arguments);
    assert_eq!(code, Some(2), "{stdout}{stderr}");
    assert!(stdout.contains("one-shot  1 of 1"), "{stdout}");
    assert!(stdout.contains("no exercise: `odd` has neither `instructions.md` nor `.meta/config.json`"), "{stdout}");
}

#[test]
fn a_trial_without_a_result_is_told_and_made_again() {
    let sandbox = sandbox(&EXERCISES, "http://127.0.0.1:1/v1");
    if !sandbox.has_pytest() {
        return;
    }
    let arguments = ["../exercises", "--arms", "one-shot", "--replay", "tapes", "--only", "half-price"];
    let (code, stdout, _) = eval(&sandbox, &arguments);
    assert_eq!(code, Some(3), "{stdout}");
    assert!(stdout.contains("no result: half-price, one-shot, run 1: cannot read the cassette"), "{stdout}");
    sandbox.write("tapes/half-price.one-shot.1.jsonl", tape(&[("price.py", HALF)]));
    let (code, stdout, _) = eval(&sandbox, &arguments);
    assert_eq!(code, Some(0), "{stdout}");
}

#[test]
fn what_cannot_be_evaluated_is_named() {
    let sandbox = sandbox(&EXERCISES, "http://127.0.0.1:1/v1");
    let refused = |arguments: &[&str]| {
        let (code, stdout, stderr) = eval(&sandbox, arguments);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{stderr}");
        stderr
    };
    let mut told = vec![refused(&["nowhere"]), refused(&["."]), refused(&["../exercises", "--only", "half"])];
    told.push(refused(&["../exercises", "--arms", "two-shot"]));
    sandbox.write("tdd.yaml", "roles: {}\n");
    told.push(refused(&["../exercises"]));
    sandbox.write("mine.jsonl", "{}\n");
    told.push(refused(&["../exercises", "--replay", "tapes", "--out", "mine.jsonl"]));
    insta::assert_snapshot!(told.join("\n"));
}

/// A cassette with one answer in fenced files.
fn tape(files: &[(&str, &str)]) -> String {
    let fenced: Vec<String> = files.iter().map(|(path, text)| format!("{path}\n```\n{text}```\n")).collect();
    json!({"ask": {"key": "one-shot"}, "answer": {"content": fenced.concat()}}).to_string() + "\n"
}

/// Our own exercises: run 1 answers with the reference solution, run 2 with the stub.
fn own_exercises(language: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tdd-eval/exercises").canonicalize().unwrap();
    let sandbox = sandbox(&[], "http://127.0.0.1:1/v1");
    if language == "python" && !sandbox.has_pytest() {
        return;
    }
    let (kind, ending) = if language == "python" { ("", "py") } else { ("src/", "rs") };
    let mut arguments = vec![folder.to_str().unwrap().to_owned()];
    for exercise in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = exercise.file_name().unwrap().to_str().unwrap();
        let answer = |part: &str| answer(&exercise.join(part).join(kind), kind, ending);
        let (Some(solution), Some(stub)) = (answer("solution"), answer("stub")) else { continue };
        sandbox.write(&format!("tapes/{name}.one-shot.1.jsonl"), solution);
        sandbox.write(&format!("tapes/{name}.one-shot.2.jsonl"), stub);
        arguments.extend(["--only".to_owned(), name.to_owned()]);
    }
    assert_eq!(arguments.len(), 11, "there are five exercises in {language}");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let how = ["--arms", "one-shot", "--runs", "2", "--jobs", "2", "--replay", "tapes", "--out", "results.jsonl"];
    let (code, stdout, stderr) = eval(&sandbox, &[&arguments[..], &how].concat());
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    for line in sandbox.read("results.jsonl").lines() {
        let result: Value = serde_json::from_str(line).unwrap();
        let (passed, tests) = (result["tests_passed"].as_u64().unwrap(), result["tests"].as_u64().unwrap());
        assert!((6..=14).contains(&tests), "{line}");
        assert_eq!(passed, if result["run"] == 1 { tests } else { 0 }, "{line}\n{stderr}");
    }
}

/// A cassette that answers with the files of a folder.
fn answer(folder: &Path, kind: &str, ending: &str) -> Option<String> {
    let entries: Vec<PathBuf> = fs::read_dir(folder).ok()?.map(|entry| entry.unwrap().path()).collect();
    let files = entries.iter().filter(|path| path.extension().is_some_and(|own| own == ending)).map(|path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        (format!("{kind}{name}"), fs::read_to_string(path).unwrap())
    });
    let files: Vec<(String, String)> = files.collect();
    let borrowed: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    (!files.is_empty()).then(|| tape(&borrowed))
}

#[test]
fn our_python_exercises_are_passed_by_their_solutions_and_failed_by_their_stubs() {
    own_exercises("python");
}

#[test]
fn our_rust_exercises_are_passed_by_their_solutions_and_failed_by_their_stubs() {
    own_exercises("rust");
}
