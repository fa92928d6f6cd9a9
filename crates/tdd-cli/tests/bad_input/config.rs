//! Tests invalid `tdd.yaml` files.

use std::fs;

use crate::machine::Machine;

fn with(config: impl AsRef<[u8]>) -> Machine {
    let machine = Machine::ready();
    machine.sandbox.write("tdd.yaml", config);
    machine
}

/// The message of `status` about an invalid config; asserts that `init` and `auto-test` refuse it too.
fn refused(config: impl AsRef<[u8]>) -> String {
    let machine = with(config);
    for args in [["init"], ["auto-test"]] {
        let said = machine.refused(&args);
        assert!(said.contains("exit 2"), "{said}");
    }
    machine.refused(&["status"])
}

snapshots! {
    an_unknown_key_is_named => refused("steps: 3\ncommitt: {}\n");
    a_missing_key_is_named => refused("roles:\n  tester: { temperature: 0.4 }\n");
    a_value_of_another_type_is_named => refused("steps: lots\n");
    a_key_that_is_there_twice_is_named => refused("steps: 3\nlanguage: rust\nsteps: 4\n");
    a_bomb_of_anchors_goes_off_harmlessly => refused(bomb(|n| format!("a{n}: ")));
    a_bomb_of_anchors_under_a_known_key_goes_off_harmlessly =>
        refused("ci:\n  test_cmd:\n".to_owned() + &bomb(|_| "    - ".to_owned()));
    bytes_that_are_no_text_are_named => refused(b"steps: 3\nlanguage: \"\xff\"\n");
    five_megabytes_are_too_much => refused("# padding\n".repeat(500_000));
    a_named_file_that_is_missing_is_named => Machine::ready().refused(&["status", "--config", "other.yaml"]);
    a_named_file_that_is_missing_is_no_reason_to_make_a_repository =>
        Machine::new().refused(&["init", "--config", "other.yaml"]);
    a_wrong_file_is_no_reason_to_make_a_repository => Machine::with("tdd.yaml", "stepps: 3\n").refused(&["init"]);
}

/// Lists of ten that hold the list before them ten times; `name` says what stands before a list.
fn bomb(name: impl Fn(usize) -> String) -> String {
    let list = |n: usize| if n == 0 { "x".to_owned() } else { format!("*a{}", n - 1) };
    let line = |n: usize| format!("{}&a{n} [{}]\n", name(n), vec![list(n); 10].join(", "));
    (0..12).map(line).collect()
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_change_nothing() {
    let machine = Machine::ready();
    let before = machine.says(&["status"]);
    let text = machine.sandbox.read("tdd.yaml").replace('\n', "\r\n");
    machine.sandbox.write("tdd.yaml", format!("\u{feff}{text}"));
    assert_eq!(machine.says(&["status"]), before);
}

#[test]
fn a_folder_of_that_name_is_refused() {
    let machine = Machine::ready();
    fs::remove_file(machine.path("tdd.yaml")).expect("remove");
    machine.sandbox.write("tdd.yaml/mine", "mine");
    insta::assert_snapshot!(machine.refused(&["status"]) + &machine.refused(&["init"]));
}

#[test]
fn a_projects_language_that_nobody_knows_is_named() {
    let machine = with("projects: [{ path: backend, language: cobol }]\n");
    insta::assert_snapshot!(machine.refused(&["auto-test"]));
}

#[test]
fn a_language_that_we_do_not_know_is_named_with_those_that_we_know() {
    let machine = with("language: cobol\n");
    insta::assert_snapshot!(machine.refused(&["auto-test"]) + &machine.refused(&["init"]));
}

#[test]
fn a_test_command_that_we_cannot_read_is_named() {
    let machine = Machine::calc();
    machine.sandbox.write("tdd.yaml", "ci: { test_cmd: [make, test] }\n");
    insta::assert_snapshot!(machine.refused(&["auto-test"]));
}

#[test]
fn a_secret_in_a_wrong_place_is_repeated_nowhere() {
    const SECRET: &str = "sk-verysecret";
    let wrong = [
        "llm: { api_key: sk-verysecret }",
        "llm: { api_key_env: sk-verysecret }",
        "llm: { base_url: sk-verysecret }",
        "llm: { base_url: 'https://me:sk-verysecret@host/v1' }",
        "llm: { base_url: 'https://host/v1?key=sk-verysecret' }",
        "llm: { providers: { x: sk-verysecret } }",
        "llm: { timeout_secs: sk-verysecret }",
        "llm: { budget: sk-verysecret }",
        "llm: sk-verysecret",
        "sk-verysecret",
        "steps: sk-verysecret",
        "language: sk-verysecret",
        "kata_description: /sk-verysecret",
        "kata_description: ../sk-verysecret",
        "gate: { red_compile: sk-verysecret }",
        "gate: { test_gate: sk-verysecret }",
        "roles: { tester: sk-verysecret }",
        "roles: { tester: { model: m, protocol: sk-verysecret } }",
        "roles: { tester: { model: m, temperature: sk-verysecret } }",
        "roles: { tester: { model: m, key: sk-verysecret } }",
        "commit: { author_name: 'a\\nsk-verysecret' , author: sk-verysecret }",
        "projects: [sk-verysecret]",
        "steps: !!int sk-verysecret",
        "steps: *sk-verysecret",
        "steps: &sk-verysecret",
        "steps: \"sk-verysecret",
        "steps: [sk-verysecret",
        "steps: {sk-verysecret: 1}}",
    ];
    let machine = Machine::ready();
    for text in wrong {
        machine.sandbox.write("tdd.yaml", format!("{text}\n"));
        for args in [&["status"][..], &["doctor", "-v"], &["auto-test"], &["init", "--format", "json"]] {
            let said = machine.says(args);
            assert!(!said.contains("verysecret"), "{text}\n{said}");
        }
    }
    for entry in fs::read_dir(machine.path(".tdd")).expect("state") {
        let bytes = fs::read(entry.expect("entry").path()).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&bytes).contains(SECRET));
    }
}
