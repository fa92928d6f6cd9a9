//! Tests nine successful steps and what they leave.

use tdd_fixtures::server::{Cast, Request};

use crate::kata::{CODE_FILE, TEST_FILE, code, id, tests, tidied};
use crate::stage::Stage;

/// Three cycles; only the last refactorer changes something.
pub fn three_cycles() -> Cast {
    let cycles = (1..=3).fold(Cast::new(), |cast, cycle| {
        cast.writes("tester", TEST_FILE, &tests(cycle)).writes("implementor", CODE_FILE, &code(cycle))
    });
    let rest = r#"{"edits": [], "summary": "nothing worth it"}"#;
    cycles.says("refactorer", rest).says("refactorer", rest).writes("refactorer", CODE_FILE, &tidied(3))
}

#[test]
fn nine_steps_go_round_the_cycle_three_times() {
    let stage = Stage::new(three_cycles());
    stage.check(&["run", "--cycles", "3"], NINE_STEPS);
    assert_eq!(stage.sandbox.read(CODE_FILE), tidied(3));
    assert_eq!(stage.sandbox.read(TEST_FILE), tests(3));
    for (step, role) in [(1, "tester"), (5, "implementor"), (6, "refactorer"), (9, "refactorer")] {
        let plan = stage.sandbox.read(&format!(".tdd/plan/step-{step}-{role}.md"));
        assert_eq!(plan, "The smallest thing that can be done.");
        let log: serde_json::Value =
            serde_json::from_str(&stage.sandbox.read(&format!(".tdd/logs/step-{step}-{role}.json"))).unwrap();
        assert_eq!(log["step"], step);
        assert_eq!(log["commit"].is_null(), step == 6, "{log}");
        assert_eq!(log["attempts"].as_array().unwrap().len(), 1, "{log}");
    }
    assert!(stage.sandbox.git(&["log", "-1", "--format=%B", "HEAD~1"]).contains(&format!("TDD-Test: {}", id(3))));
    assert_prompts(&stage.server.requests());
}

const NINE_STEPS: &str = "
    [first cycle]
    [second cycle]
    7 red
      test: do it
    8 green
      feat: do it
    9 refactor
      refactor: do it
    end: 9 steps done
    exit 0
";

/// Asserts two calls per step, each to its role's model, the second starting with the whole first.
fn assert_prompts(requests: &[Request]) {
    assert_eq!(requests.len(), 18);
    for step in requests.chunks(2) {
        let [plan, edit] = step else { panic!("half a step") };
        assert!(!plan.is_edit() && edit.is_edit());
        let (model, temperature) = match plan.part() {
            "tester" => ("model-t", 0.4),
            "implementor" => ("model-i", 0.2),
            _ => ("model-r", 0.3),
        };
        for request in step {
            assert_eq!(request.body["model"], model);
            assert_eq!(request.body["temperature"], temperature);
            assert!(request.head.contains("Bearer sk-secret"), "{}", request.head);
        }
        let asked = plan.body["messages"].as_array().unwrap();
        let then = edit.body["messages"].as_array().unwrap();
        assert_eq!(asked[..], then[..asked.len()]);
    }
}

#[test]
fn a_program_reads_one_event_a_line_and_nothing_else() {
    let stage = Stage::new(three_cycles());
    let told = stage.run(&["run", "--steps", "2", "--format", "json"]);
    assert_eq!(told.code, Some(0), "{}", told.stderr);
    let types: Vec<String> = told
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["type"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(types.first().unwrap(), "resynced");
    assert_eq!(types.iter().filter(|name| *name == "committed").count(), 2);
    assert_eq!(types.last().unwrap(), "run_end");
    // The JSON output is the ledger's own lines, complete and with test runs.
    let ledger = stage.sandbox.read(".tdd/events.jsonl");
    let since = ledger.lines().count() - told.stdout.lines().count();
    assert_eq!(told.stdout.lines().collect::<Vec<_>>(), ledger.lines().skip(since).collect::<Vec<_>>());
    assert!(types.iter().any(|name| name == "suite_run"));
}

#[test]
fn an_empty_folder_becomes_a_project_for_its_kata() {
    let stage = Stage::new(three_cycles());
    let folder = stage.sandbox.outside().join("kata");
    std::fs::create_dir(&folder).unwrap();
    let kata = stage.path("kata.md");
    let config = stage.path("tdd.yaml");
    let args = ["run", "--steps", "2", "--kata", kata.to_str().unwrap(), "--config", config.to_str().unwrap()];
    let output = stage.command(&args).current_dir(&folder).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let log = std::process::Command::new("git").arg("-C").arg(&folder).args(["log", "--format=%s"]).output().unwrap();
    assert_eq!(String::from_utf8(log.stdout).unwrap().lines().count(), 3);
}
