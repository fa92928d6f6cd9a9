//! Tests invalid katas: missing, not a file, not text, too long, empty, or still the placeholder.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use crate::machine::Machine;

/// The message of `init` about an invalid kata; asserts that the folder stays empty.
fn refused(content: impl AsRef<[u8]>) -> String {
    let machine = Machine::new();
    fs::write(machine.sandbox.outside().join("bad.md"), content).expect("write");
    machine.refused(&["init", "--kata", "../bad.md"])
}

/// The same for a path that is not a file, plus the finding of `doctor` if the project's kata is one.
fn refused_thing(make: impl Fn(&std::path::Path)) -> String {
    let machine = Machine::new();
    make(&machine.sandbox.outside().join("bad.md"));
    let ready = Machine::ready();
    fs::remove_file(ready.path("kata.md")).expect("remove");
    make(&ready.path("kata.md"));
    let before = ready.state();
    let output = ready.output(&["doctor", "--format", "json"]);
    ready.assert_unchanged(&before);
    let document = crate::machine::document(&output);
    let findings = document["findings"].as_array().expect("findings");
    let kata = findings.iter().find(|finding| finding["subject"] == "kata").expect("a finding about the kata");
    let doctor = ready.scrubbed(&format!("doctor: {}\n    fix: {}\n", kata["detail"], kata["fix"]));
    machine.refused(&["init", "--kata", "../bad.md"]) + &doctor
}

#[test]
fn the_placeholder_is_no_kata_for_a_model_that_costs_something() {
    let machine = Machine::ready();
    insta::assert_snapshot!(machine.refused(&["run", "--steps", "1"]) + &machine.refused(&["step"]));
}

snapshots! {
    a_missing_one_is_named => Machine::new().refused(&["init", "--kata", "../missing.md"]);
    an_empty_one_is_refused => refused("");
    one_of_white_space_is_refused => refused("\u{feff} \n\t\r\n\u{a0}");
    one_of_five_megabytes_is_refused => refused("x".repeat(5 << 20));
    one_that_is_not_utf_8_is_refused => refused(b"caf\xe9 au lait");
    one_that_ends_within_a_character_is_refused => refused(b"caf\xc3");
    a_folder_is_refused => refused_thing(|path| fs::create_dir(path).expect("mkdir"));
    a_link_to_an_endless_device_is_refused => refused_thing(|path| symlink("/dev/zero", path).expect("link"));
    a_link_to_itself_is_refused => refused_thing(|path| symlink(path, path).expect("link"));
}

#[test]
fn a_pipe_is_refused_without_waiting_for_its_other_end() {
    insta::assert_snapshot!(refused_thing(|path| {
        assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
    }));
}

#[test]
fn a_pipe_in_the_place_of_the_new_one_is_refused_without_waiting() {
    let machine = Machine::ready();
    fs::remove_file(machine.path("kata.md")).expect("remove");
    assert!(Command::new("mkfifo").arg(machine.path("kata.md")).status().expect("mkfifo").success());
    fs::write(machine.sandbox.outside().join("new.md"), "new").expect("write");
    insta::assert_snapshot!(machine.refused(&["init", "--kata", "../new.md"]));
}
