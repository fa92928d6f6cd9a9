//! Tests where `init` must refuse, and that it never stops halfway.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use tdd_fixtures::mount::{MAY_NOT_MOUNT, Mount};

use crate::machine::{Machine, document, finish};

/// A user's repository with one commit.
fn repository() -> Machine {
    let machine = Machine::new();
    machine.sandbox.write("README.md", "mine\n");
    machine.sandbox.git(&["init", "-q", "-b", "main"]);
    machine.sandbox.git(&["add", "."]);
    machine.sandbox.git(&["commit", "-q", "-m", "a person's commit"]);
    machine
}

/// The same with one more file, which is not committed.
fn repository_with(path: &str, text: &str) -> Machine {
    let machine = repository();
    machine.sandbox.write(path, text);
    machine
}

#[test]
fn a_read_only_folder_is_named() {
    let machine = Machine::new();
    let root = machine.root();
    let Some(_mount) = Mount::tmpfs(&root, "ro,size=64k") else { return println!("{MAY_NOT_MOUNT}") };
    insta::assert_snapshot!(machine.refused(&["init"]));
}

#[test]
fn a_full_disk_leaves_the_folder_as_it_was() {
    let mut said = String::new();
    // At any disk size that is too small, `init` leaves nothing behind.
    for pages in [1, 4, 8, 12, 16, 20, 24, 32, 40] {
        let machine = Machine::new();
        let root = machine.root();
        let options = format!("size={}k", pages * 4);
        let Some(_mount) = Mount::tmpfs(&root, &options) else { return println!("{MAY_NOT_MOUNT}") };
        let before = machine.state();
        let output = machine.output(&["init"]);
        if output.status.success() {
            break;
        }
        assert_eq!(output.status.code(), Some(3), "{}", machine.told(&["init"], &output));
        let left: Vec<_> = fs::read_dir(&root).expect("root").map(|entry| entry.expect("entry").file_name()).collect();
        if left.is_empty() {
            machine.assert_unchanged(&before);
        } else {
            // The disk was full at the commit: with more space, the next run completes it.
            let more = Command::new("mount").args(["-o", "remount,size=4m"]).arg(&root).status().expect("mount");
            assert!(more.success() && machine.output(&["init"]).status.success());
            assert_eq!(machine.sandbox.git(&["status", "--porcelain"]), "");
        }
        said = machine.told(&["init"], &output);
    }
    assert!(said.contains("exit 3") && said.contains("try:"), "{said}");
}

#[test]
fn a_manifest_that_leads_out_of_the_project_is_refused() {
    let machine = Machine::new();
    fs::write(machine.sandbox.outside().join("elsewhere.toml"), "[package]\nname = \"x\"\n").expect("write");
    symlink("../elsewhere.toml", machine.path("Cargo.toml")).expect("link");
    insta::assert_snapshot!(machine.refused(&["init"]));
}

#[test]
fn a_manifest_that_leads_nowhere_is_refused() {
    let machine = Machine::new();
    symlink("nothing.toml", machine.path("Cargo.toml")).expect("link");
    insta::assert_snapshot!(machine.refused(&["init"]));
}

#[test]
fn a_manifest_that_leads_to_another_file_of_the_project_is_fine() {
    let machine = Machine::new();
    machine.sandbox.write("real.toml", "[package]\nname = \"x\"\n");
    symlink("real.toml", machine.path("Cargo.toml")).expect("link");
    assert!(machine.output(&["init"]).status.success());
    assert_eq!(fs::read_link(machine.path("Cargo.toml")).expect("link"), Path::new("real.toml"));
}

#[test]
fn a_bare_repository_is_refused() {
    let machine = Machine::new();
    machine.sandbox.git(&["init", "-q", "--bare", "."]);
    insta::assert_snapshot!(machine.refused(&["init"]));
}

#[test]
fn a_repository_that_a_kill_left_half_made_is_completed() {
    let machine = Machine::new();
    fs::create_dir(machine.path(".git")).expect("mkdir");
    assert!(machine.output(&["init"]).status.success());
    assert_eq!(machine.sandbox.git(&["status", "--porcelain"]), "");
}

snapshots! {
    a_git_file_that_leads_nowhere_is_named => Machine::with(".git", "gitdir: /nowhere\n").refused(&["init"]);
    another_languages_project_gets_neither_files_nor_a_repository =>
        Machine::with("pom.xml", "<project/>\n").refused(&["init"]);
    code_of_an_unknown_language_gets_no_scaffold_of_another =>
        Machine::with("src/money.ex", "defmodule Money do\nend\n").refused(&["init"]);
    an_index_that_somebody_holds_is_not_touched => repository_with(".git/index.lock", "").refused(&["init"]);
    a_project_that_ignores_everything_new_gets_no_commit =>
        repository_with(".git/info/exclude", "*\n").says(&["init"]);
    a_folder_in_the_place_of_a_file_is_refused => Machine::with("kata.md/mine", "mine").refused(&["init"]);
}

#[test]
fn a_merge_that_is_under_way_is_not_disturbed() {
    let machine = repository();
    machine.sandbox.git(&["checkout", "-q", "-b", "other"]);
    machine.sandbox.git(&["commit", "-q", "--allow-empty", "-m", "theirs"]);
    machine.sandbox.git(&["checkout", "-q", "main"]);
    machine.sandbox.git(&["merge", "-q", "--no-ff", "--no-commit", "other"]);
    insta::assert_snapshot!(machine.refused(&["init"]));
}

#[test]
fn a_rebase_that_is_under_way_is_not_disturbed() {
    let machine = repository();
    machine.sandbox.git(&["commit", "-q", "--allow-empty", "-m", "second"]);
    machine.sandbox.git(&["-c", "sequence.editor=sed -i 1ibreak", "rebase", "-q", "-i", "HEAD^"]);
    insta::assert_snapshot!(machine.refused(&["init"]));
}

#[test]
fn staged_work_and_untracked_secrets_stay_what_they_are() {
    let machine = repository();
    machine.sandbox.write("README.md", "staged\n");
    machine.sandbox.write("new.txt", "staged\n");
    machine.sandbox.git(&["add", "."]);
    machine.sandbox.write("README.md", "and changed again\n");
    machine.sandbox.write(".env", "KEY=secret\n");
    let before = machine.sandbox.git(&["status", "--porcelain"]);
    let staged = machine.sandbox.git(&["diff", "--cached"]);
    assert!(machine.output(&["init"]).status.success());
    assert_eq!(machine.sandbox.git(&["status", "--porcelain"]), before);
    assert_eq!(machine.sandbox.git(&["diff", "--cached"]), staged);
    assert_eq!(machine.sandbox.read("README.md"), "and changed again\n");
    insta::assert_snapshot!(machine.sandbox.git(&["show", "--stat=60", "--format=%an: %s"]));
}

#[test]
fn no_program_that_the_repository_names_is_started() {
    let machine = repository();
    let trap = machine.sandbox.outside().join("trap.sh");
    let sprung = machine.sandbox.outside().join("sprung");
    fs::write(&trap, format!("#!/bin/sh\ntouch {}\ncat\n", sprung.display())).expect("write");
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).expect("chmod");
    let trap = trap.display().to_string();
    for hook in
        ["pre-commit", "commit-msg", "post-commit", "prepare-commit-msg", "reference-transaction", "post-index-change"]
    {
        symlink(&trap, machine.path(".git/hooks").join(hook)).expect("link");
    }
    let settings = [
        ("core.fsmonitor", trap.as_str()),
        ("core.editor", &trap),
        ("filter.trap.clean", &trap),
        ("filter.trap.smudge", &trap),
        ("filter.trap.process", &trap),
        ("commit.gpgsign", "true"),
        ("gpg.program", &trap),
        ("diff.external", &trap),
    ];
    for (name, value) in settings {
        let line = format!("[{}]\n\t{} = \"{value}\"\n", section(name), name.rsplit('.').next().expect("a name"));
        let config = machine.sandbox.read(".git/config");
        machine.sandbox.write(".git/config", config + &line);
    }
    machine.sandbox.write(".gitattributes", "* filter=trap diff=trap\n");
    let said = machine.says(&["init"]) + &machine.says(&["status"]);
    assert!(!sprung.exists(), "{said}");
    insta::assert_snapshot!(said);
}

/// The git config section of a key: `filter.trap.clean` is in `filter "trap"`.
fn section(name: &str) -> String {
    match name.split('.').collect::<Vec<_>>()[..] {
        [section, sub, _] => format!("{section} \"{sub}\""),
        [section, ..] => section.to_owned(),
        [] => String::new(),
    }
}

#[test]
fn a_kata_from_outside_is_copied_once_and_never_over_another() {
    let machine = Machine::new();
    fs::write(machine.sandbox.outside().join("bowling.md"), "# Bowling\n").expect("write");
    fs::write(machine.sandbox.outside().join("tennis.md"), "# Tennis\n").expect("write");
    assert!(machine.output(&["init", "--kata", "../bowling.md"]).status.success());
    assert_eq!(machine.sandbox.read("kata.md"), "# Bowling\n");
    assert!(machine.output(&["init", "--kata", "../bowling.md"]).status.success());
    insta::assert_snapshot!(machine.refused(&["init", "--kata", "../tennis.md"]));
}

#[test]
fn the_second_time_nothing_happens() {
    let machine = Machine::ready();
    let before = machine.state();
    let said = machine.says(&["init"]);
    machine.assert_unchanged(&before);
    insta::assert_snapshot!(said);
}

#[test]
fn an_init_that_was_cut_short_before_its_commit_is_taken_up_by_the_next() {
    let machine = Machine::new();
    // This folder blocks git's ref, so the files are written but the commit fails.
    machine.sandbox.git(&["init", "-q", "-b", "main"]);
    machine.sandbox.write(".git/refs/heads/main/in-the-way", "");
    let first = machine.says(&["init"]);
    fs::remove_dir_all(machine.path(".git/refs/heads/main")).expect("remove");
    let second = machine.says(&["init"]);
    let status = machine.sandbox.git(&["status", "--porcelain"]);
    insta::assert_snapshot!(format!("{first}{second}status: {status:?}"));
}

#[test]
fn every_folder_name_becomes_a_package_that_cargo_takes() {
    let machine = Machine::new();
    let mut names = Vec::new();
    for folder in ["123", "テスト", "my project", "test", "a b/c-d", "-rf", "crate", "x'\"$(y)"] {
        fs::create_dir_all(machine.path(folder)).expect("mkdir");
        let dir = format!("--dir={folder}");
        let output = machine.output(&["init", &dir, "--format", "json"]);
        assert_eq!(document(&output)["created"].as_array().map(Vec::len), Some(9), "{folder}");
        let mut cargo = machine.sandbox.command("cargo");
        cargo.current_dir(machine.path(folder)).args(["metadata", "--offline", "--locked", "--format-version", "1"]);
        let metadata = document(&finish(cargo));
        names.push(format!("{folder} -> {}", metadata["packages"][0]["name"]));
    }
    insta::assert_snapshot!(names.join("\n"));
}
