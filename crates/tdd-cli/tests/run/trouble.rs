//! Tests misbehaving servers and tests that hang.

use std::time::Duration;

use tdd_fixtures::mount::{self, MAY_NOT_MOUNT, Mount};
use tdd_fixtures::server::{Cast, Reply, edit_plan};

use crate::kata::{CODE_FILE, TEST_FILE, code, code_with, test, tests};
use crate::stage::Stage;

const HTML: &str = "<html><body>Please log in.</body></html>";

fn status(code: u16, headers: &str, body: &str) -> Reply {
    Reply::Status { code, headers: headers.to_owned(), body: body.to_owned() }
}

fn write(path: &str, content: &str) -> String {
    edit_plan(&[(path, Some(content))], &serde_json::json!({"summary": "do it"}))
}

#[test]
fn what_may_pass_is_asked_for_again_and_costs_no_attempt() {
    let (test, code) = (write(TEST_FILE, &tests(1)), write(CODE_FILE, &code(1)));
    let cast = Cast::new()
        .plans("tester", status(429, "Retry-After: 1\r\n", "{\"error\": {\"message\": \"slow down\"}}"))
        .replies("tester", status(500, "", "oops"))
        .says("tester", &test)
        .plans("implementor", Reply::Drop)
        .replies("implementor", Reply::Drips { text: code.clone(), pause: Duration::ZERO, whole: false })
        .replies("implementor", Reply::Drips { text: code, pause: Duration::from_millis(20), whole: true })
        .plans("refactorer", Reply::Body(HTML.to_owned()))
        .replies("refactorer", Reply::Body("{\"choices\": [{\"mess".to_owned()));
    let stage = Stage::new(cast);
    let server = stage.server.url();
    stage.check(
        &["run", "--cycles", "1"],
        &format!(
            "
        [first cycle]
        end: 3 steps done
        `{server}` asks us to wait 1 s (429): slow down
        exit 0
    "
        ),
    );
}

/// The server works again, and the next step writes the first test.
#[track_caller]
fn assert_tester_goes_on(stage: &Stage) {
    stage.recast(Cast::new().writes("tester", TEST_FILE, &tests(1)));
    stage.check(
        &["step"],
        "
          test: do it
        end: 1 step done
        exit 0
    ",
    );
}

#[test]
fn what_stays_wrong_ends_the_run_with_the_servers_own_words_and_the_next_run_works() {
    let stage = Stage::with(Cast::new(), "llm.max_retries: 1\nllm.timeout_secs: 2");
    let error = |words: &str| format!("{{\"error\": {{\"message\": \"{words}\"}}}}");
    let last = [
        (status(401, "", &error("this key is not known")), "this key is not known"),
        (status(404, "", &error("the model `model-t` does not exist")), "model-t` does not exist"),
        (
            status(
                400,
                "",
                "{\"error\": {\"message\": \"maximum context length is 10\", \"code\": \"context_length_exceeded\"}}",
            ),
            "maximum context length",
        ),
        (status(402, "", &error("no credit is left")), "no credit is left"),
        (status(429, "Retry-After: 0\r\n", &error("slow down")), "slow down"),
        (Reply::Drop, ""),
        (Reply::Body(HTML.to_owned()), "log in"),
        (Reply::Silence(Duration::from_secs(5)), ""),
    ];
    for (reply, words) in last {
        let cast = (0..3).fold(Cast::new(), |cast, _| cast.plans("tester", reply.clone()));
        stage.recast(cast);
        let told = stage.run(&["step"]);
        assert_eq!(told.code, Some(3), "{words}: {}{}", told.stdout, told.stderr);
        assert!(told.stderr.contains(words), "{words}: {}", told.stderr);
        assert!(told.stderr.contains("try: "), "no way out: {}", told.stderr);
    }
    assert_tester_goes_on(&stage);
}

#[test]
fn a_wait_that_would_outlast_the_run_ends_it_and_the_next_run_goes_on() {
    let slow = || status(429, "Retry-After: 600\r\n", "{\"error\": {\"message\": \"slow down\"}}");
    let stage = Stage::new(Cast::new().plans("tester", slow()).plans("tester", slow()));
    stage.check(
        &["run", "--steps", "1", "--max-minutes", "2"],
        &format!(
            "
        resynced at 0
        1 red
        end: `{}` asks us to wait 600 s (429: slow down), and this run ends before that
        exit 4
    ",
            stage.server.url()
        ),
    );
    assert_eq!(stage.server.requests().len(), 1, "nobody hammers a busy server");
    assert_tester_goes_on(&stage);
}

#[test]
fn a_server_that_is_not_there_is_reported_soon() {
    let stage = Stage::new(Cast::new());
    for base_url in ["http://127.0.0.1:1/v1", "http://no-such-host.invalid/v1"] {
        let config = stage.sandbox.read("tdd.yaml").replace(&stage.server.url(), base_url);
        std::fs::write(stage.sandbox.outside().join("dead.yaml"), config).unwrap();
        let told = stage.run(&["step", "--config", "../dead.yaml"]);
        let ended = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        assert_eq!(told.code, Some(3), "{}{}", told.stdout, told.stderr);
        assert!(told.stderr.contains(&format!("cannot reach `{base_url}`")), "{}", told.stderr);
        let begun = stage.events().iter().rev().find(|event| event["type"] == "run_start").unwrap()["ts"].clone();
        let took = ended.saturating_sub(Duration::from_millis(begun.as_u64().unwrap()));
        assert!(took < Duration::from_secs(6), "{base_url}: {took:?}");
    }
}

#[test]
fn a_server_without_structured_output_is_asked_in_simpler_ways_and_only_once() {
    let refused = status(400, "", "{\"error\": {\"message\": \"response_format is not supported\"}}");
    let wrapped = |path: &str, text: &str| format!("Here you are:\n```json\n{}\n```\nGood luck!", write(path, text));
    let cast = Cast::new()
        .replies("tester", refused.clone())
        .replies("tester", refused.clone())
        .says("tester", &wrapped(TEST_FILE, &tests(1)))
        .replies("implementor", status(500, "", "cannot"))
        .replies("implementor", status(500, "", "cannot"))
        .says("implementor", &wrapped(CODE_FILE, &code(1)))
        .says("refactorer", "{\"edits\": []}")
        .says("tester", &wrapped(TEST_FILE, &tests(2)));
    let stage = Stage::new(cast);
    assert_eq!(stage.run(&["run", "--steps", "4"]).code, Some(0));
    let requests = stage.server.requests();
    let forms = |part| {
        requests
            .iter()
            .filter(|ask| ask.is_edit() && ask.part() == part)
            .map(|ask| ask.form().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(forms("tester"), ["json_schema", "json_object", "text", "text"]);
    assert_eq!(forms("implementor"), ["json_schema", "json_schema", "json_object"]);
    assert_eq!(forms("refactorer"), ["json_schema"]);
    let named = &requests.iter().find(|ask| ask.form() == "json_schema").unwrap().body["response_format"];
    assert_eq!(named["json_schema"]["name"], "edit_plan");
}

#[test]
fn an_answer_that_was_cut_off_never_passes_for_a_whole_one() {
    let ends = |text: &str| Reply::Ends { text: text.to_owned(), reason: "length" };
    let whole = write(TEST_FILE, &tests(1));
    let cast = Cast::new()
        .plans("tester", ends("First I"))
        .plans("tester", Reply::Says(" write a test.".to_owned()))
        .replies("tester", ends(&whole))
        .replies("tester", ends(&whole))
        .says("tester", &whole);
    let stage = Stage::new(cast);
    stage.check(&["step"], "
        resynced at 0
        1 red
          undone the answer could not be used: the JSON breaks off before its end; send the whole object again, with a smaller change
          test: do it
        end: 1 step done
        exit 0
    ");
    assert_eq!(stage.sandbox.read(".tdd/plan/step-1-tester.md"), "First I write a test.");
}

#[test]
fn a_test_that_hangs_is_ended_with_all_that_it_started() {
    let spawns = "#[test]\nfn hangs() {\n    let _child = std::process::Command::new(\"sleep\").arg(\"600\").spawn();\n    \
                  assert_eq!(kata::add(\"\"), 0);\n    std::thread::sleep(std::time::Duration::from_secs(600));\n}\n";
    let cast = Cast::new()
        .writes("tester", TEST_FILE, &tests(1))
        .writes("implementor", CODE_FILE, &code_with("loop {}"))
        .writes("implementor", CODE_FILE, &code(1))
        .writes("tester", TEST_FILE, &(tests(1) + "\n" + spawns))
        .writes(
            "tester",
            TEST_FILE,
            &(tests(1) + &test("exits", "{ if add(\"\") == 0 { std::process::exit(0) } 1 }, 1")),
        )
        .writes("tester", TEST_FILE, &tests(2));
    Stage::with(cast, "ci.timeout_secs: 2").check(
        &["run", "--steps", "4"],
        "
        [first test]
        2 green
          undone target-passes timeout
          feat: do it
        3 refactor
          nothing
        4 red
          undone red-first timeout
          undone red-first crash
          test: do it
        end: 4 steps done
        exit 0
    ",
    );
}

/// A test that fails on its second run.
const FLAKY: &str = r#"
#[test]
fn counts_its_runs() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/target/runs");
    let runs = std::fs::read_to_string(file).unwrap_or_default().len() + 1;
    std::fs::write(file, "x".repeat(runs)).unwrap();
    assert_ne!(runs, 2);
}
"#;

#[test]
fn an_old_test_that_fails_and_then_passes_on_the_same_files_is_named_flaky() {
    let cast = Cast::new().writes("tester", TEST_FILE, &tests(1)).edits(
        "tester",
        &[(TEST_FILE, Some(&tests(1)))],
        &serde_json::json!({"summary": "do it"}),
    );
    let stage = Stage::new(cast);
    stage.sandbox.write("tests/flaky.rs", FLAKY);
    stage.commit("test: what there was");
    stage.check(
        &["run", "--steps", "1"],
        "
        resynced at 0
        1 red
          undone others-kept flaky
          test: do it
        end: 1 step done
        exit 0
    ",
    );
}

/// A wrapper that kills itself while a flag file exists, and otherwise runs its arguments.
fn killer(stage: &Stage) -> (std::path::PathBuf, std::path::PathBuf) {
    let (program, flag) = (stage.sandbox.outside().join("compiler"), stage.sandbox.outside().join("kill"));
    let script = format!("#!/bin/sh\nif [ -e '{}' ]; then kill -9 $$; fi\nexec \"$@\"\n", flag.display());
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    (program, flag)
}

/// Asserts that an unverifiable attempt is undone without being counted, and that the next run succeeds.
fn assert_not_spent(stage: &Stage, words: &str, mend: impl Fn()) {
    let told = stage.run(&["run", "--steps", "1"]);
    assert_eq!(told.code, Some(3), "{}{}", told.stdout, told.stderr);
    assert!(told.stderr.contains(words) && told.stderr.contains("try: "), "{}", told.stderr);
    let spent = stage.events().iter().filter(|event| event["type"] == "reverted" && event["spent"] == true).count();
    assert_eq!(spent, 0, "{}", told.stdout);
    mend();
    stage.recast(Cast::new().writes("tester", TEST_FILE, &tests(1)));
    let told = stage.run(&["run", "--steps", "1"]);
    assert_eq!(told.code, Some(0), "{}{}", told.stdout, told.stderr);
    assert_eq!(stage.subjects().last().unwrap(), "test: do it");
}

#[test]
fn a_compiler_that_is_killed_costs_no_attempt() {
    let stage = Stage::with(Cast::new().writes("tester", TEST_FILE, &tests(1)), "max_attempts_per_agent: 1");
    let (program, flag) = killer(&stage);
    stage.sandbox.write(".cargo/config.toml", format!("[build]\nrustc-wrapper = \"{}\"\n", program.display()));
    stage.commit("chore: a compiler");
    let kill = flag.clone();
    stage.meanwhile(move |_| std::fs::write(&kill, "").unwrap());
    assert_not_spent(&stage, "memory", || {
        stage.meanwhile(|_| {});
        std::fs::remove_file(&flag).unwrap();
    });
}

#[test]
fn a_disk_that_is_full_costs_no_attempt() {
    let stage = Stage::with(Cast::new().writes("tester", TEST_FILE, &tests(1)), "max_attempts_per_agent: 1");
    let target = stage.path("target");
    std::fs::create_dir_all(&target).unwrap();
    let Some(_mount) = Mount::tmpfs(&target, "size=64m") else { return println!("{MAY_NOT_MOUNT}") };
    let folder = target.clone();
    stage.meanwhile(move |_| drop(mount::fill(&folder)));
    assert_not_spent(&stage, "disk is full", || {
        stage.meanwhile(|_| {});
        std::fs::remove_file(target.join("filler")).unwrap();
    });
}
