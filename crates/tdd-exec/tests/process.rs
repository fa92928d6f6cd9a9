//! Runs real commands that fail, hang, flood, fork, hide and outlive their parent.

#![expect(clippy::expect_used, reason = "a test that cannot set itself up has failed")]

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use tdd_core::command::{CommandSpec, Exit, Finished};
use tdd_exec::process::{self, Cancel, Isolation, ProcessError, Spawner};
use tempfile::TempDir;

const SUPERVISOR: &str = env!("CARGO_BIN_EXE_tdd-run-one");
const LONG: Duration = Duration::from_mins(1);
/// Much shorter than the commands here take by themselves, but enough on a busy machine.
const SOON: Duration = Duration::from_secs(10);

fn spawner() -> Spawner {
    Spawner::new("/", std::env::vars_os()).with_supervisor(SUPERVISOR)
}

fn run(spec: &CommandSpec) -> Finished {
    process::run(&spawner(), spec).expect("run")
}

/// A script with a mark as its `$0`, by which its processes can be found.
fn script(text: &str, mark: &str) -> CommandSpec {
    CommandSpec::new(["sh", "-c", text, mark], LONG)
}

fn check(text: &str, exit: &Exit, stdout: &str) {
    let finished = run(&script(text, "sh"));
    assert_eq!((&finished.exit, finished.stdout.text().as_str()), (exit, stdout), "{text}: {finished:?}");
}

fn with_deadline(mut spec: CommandSpec, deadline: Duration) -> CommandSpec {
    spec.deadline = deadline;
    spec
}

/// A mark that no other test and no other run uses.
fn mark(name: &str) -> String {
    format!("tdd-mark-{}-{name}", std::process::id())
}

/// The processes with the mark among their arguments, without zombies.
fn alive(mark: &str) -> Vec<String> {
    let pids = fs::read_dir("/proc").expect("proc").filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let lines = pids.filter(|pid| pid.parse::<u32>().is_ok()).filter_map(|pid| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        Some(format!("{pid} {}", String::from_utf8_lossy(&line).replace('\0', " ")))
    });
    lines.filter(|line| line.contains(mark)).collect()
}

/// Fails if a process with the mark is alive. Ignores the supervisor, which has the same arguments and may still be
/// exiting.
fn assert_none_alive(mark: &str) {
    let found: Vec<_> = alive(mark).into_iter().filter(|line| !line.contains(" tdd-supervisor ")).collect();
    assert!(found.is_empty(), "{found:#?}");
}

fn wait_until(what: &str, limit: Duration, holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < limit, "not within {limit:?}: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_command_that_passes_has_passed() {
    check("echo out; echo err >&2", &Exit::Passed, "out\n");
    assert_eq!(run(&script("echo out; echo err >&2", "sh")).stderr.text(), "err\n");
}

#[test]
fn a_command_that_fails_gives_its_status() {
    check("exit 7", &Exit::Failed(7), "");
    check("exit 255", &Exit::Failed(255), "");
}

#[test]
fn a_command_that_is_killed_gives_the_signal() {
    check("kill -SEGV $$", &Exit::Signalled(11), "");
    check("kill -KILL $$", &Exit::Signalled(9), "");
    // A real-time signal has no name.
    check("kill -40 $$", &Exit::Signalled(40), "");
}

#[test]
fn what_cannot_be_started_says_why() {
    let dir = TempDir::new().expect("temp");
    let plain = dir.path().join("plain");
    fs::write(&plain, "no program").expect("write");
    let no_format = dir.path().join("no-format");
    fs::write(&no_format, "\x7fELF, or so it says").expect("write");
    make_executable(&no_format);
    for program in ["no-such-program", "/no/such/program", "", path_text(&plain), path_text(&no_format), "/usr"] {
        let finished = run(&CommandSpec::new([program], LONG));
        assert!(matches!(finished.exit, Exit::NotStarted(_)), "{program:?}: {finished:?}");
    }
    let finished = run(&CommandSpec::new(["no-such-program"], LONG));
    assert_eq!(finished.exit.to_string(), "not started: there is no executable program `no-such-program` on PATH");
}

#[test]
fn arguments_that_no_program_can_take_are_the_commands_fault() {
    let huge = "x".repeat(1 << 20);
    for argv in [vec![], vec!["echo", "a\0b"], vec!["echo", &huge]] {
        let finished = run(&CommandSpec::new(argv, LONG));
        assert!(matches!(finished.exit, Exit::NotStarted(_)), "{:?}", finished.exit);
    }
}

#[test]
fn a_folder_that_is_not_there_is_an_error() {
    let spec = CommandSpec::new(["true"], LONG).in_dir("/no/such/folder");
    assert!(matches!(process::run(&spawner(), &spec), Err(ProcessError::Folder { .. })));
}

#[test]
fn a_supervisor_that_is_not_there_is_an_error() {
    let spawner = spawner().with_supervisor("/no/such/program");
    let ran = process::run(&spawner, &CommandSpec::new(["true"], LONG));
    assert!(matches!(ran, Err(ProcessError::Supervisor { .. })), "{ran:?}");
}

#[test]
fn a_supervisor_that_says_nothing_is_never_success() {
    let spawner = spawner().with_supervisor("/bin/true");
    let ran = process::run(&spawner, &CommandSpec::new(["true"], LONG));
    assert!(matches!(ran, Err(ProcessError::SupervisorDied { .. })), "{ran:?}");
}

#[test]
fn a_command_that_kills_its_supervisor_gains_nothing_by_it() {
    let mark = mark("parricide");
    let started = Instant::now();
    let ran = process::run(&spawner(), &script("kill -9 $PPID; sleep 100", &mark));
    assert!(matches!(ran, Err(ProcessError::SupervisorDied { .. })), "{ran:?}");
    assert!(started.elapsed() < SOON);
    wait_until("the command is gone", LONG, || alive(&mark).is_empty());
}

#[test]
fn a_command_that_stops_its_supervisor_is_still_ended() {
    let mark = mark("freezer");
    let spec = with_deadline(script("kill -STOP $PPID; setsid sh -c 'sleep 100' $0; :", &mark), Duration::from_secs(1));
    let finished = run(&spec);
    assert_eq!(finished.exit, Exit::TimedOut);
    assert_none_alive(&mark);
}

#[test]
fn a_command_runs_in_its_folder() {
    let dir = TempDir::new().expect("temp");
    fs::create_dir(dir.path().join("sub")).expect("mkdir");
    let spawner = Spawner::new(dir.path(), std::env::vars_os()).with_supervisor(SUPERVISOR);
    let spec = CommandSpec::new(["pwd"], LONG).in_dir("sub");
    let finished = process::run(&spawner, &spec).expect("run");
    assert_eq!(finished.stdout.text().trim_end(), path_text(&dir.path().join("sub")));
}

#[test]
fn a_program_named_by_a_path_is_looked_up_in_the_commands_folder() {
    let dir = TempDir::new().expect("temp");
    fs::create_dir(dir.path().join("sub")).expect("mkdir");
    std::os::unix::fs::symlink("/bin/sh", dir.path().join("sub/sh")).expect("link");
    let spawner = Spawner::new(dir.path(), std::env::vars_os()).with_supervisor(SUPERVISOR);
    let spec = CommandSpec::new(["./sh", "-c", "echo hello"], LONG).in_dir("sub");
    let finished = process::run(&spawner, &spec).expect("run");
    assert_eq!((finished.exit, finished.stdout.text().as_str()), (Exit::Passed, "hello\n"));
}

#[test]
fn arguments_arrive_as_they_are() {
    let words = ["a b", "line\nbreak", "$(x) `y` $HOME", "", "'\"\\", "--", "__supervise", "ü"];
    let spec = CommandSpec::new(["printf", "%s|"].into_iter().chain(words), LONG);
    assert_eq!(run(&spec).stdout.text(), format!("{}|", words.join("|")));
}

#[test]
fn standard_input_is_empty() {
    check("cat; echo end", &Exit::Passed, "end\n");
}

#[test]
fn there_is_no_terminal_to_ask_a_person() {
    check("(: </dev/tty) 2>/dev/null || echo none", &Exit::Passed, "none\n");
}

#[test]
fn invalid_utf8_is_captured_byte_for_byte() {
    let finished = run(&script(r"printf 'a\377b'", "sh"));
    assert_eq!(finished.stdout.bytes, b"a\xffb");
}

#[test]
fn head_and_tail_of_a_flood_are_kept() {
    let mut spec = script("echo head; head -c 50000000 /dev/zero; echo tail; echo short >&2", "sh");
    spec.output_cap = 1000;
    let finished = run(&spec);
    assert_eq!(finished.exit, Exit::Passed);
    let stdout = finished.stdout;
    assert_eq!((stdout.bytes.len(), stdout.cut_at, stdout.dropped), (1000, 500, 50_000_010 - 1000));
    assert!(stdout.bytes.starts_with(b"head\n\0") && stdout.bytes.ends_with(b"\0tail\n"));
    assert_eq!(finished.stderr.text(), "short\n");
}

#[test]
fn endless_output_ends_at_the_deadline() {
    let mut spec = with_deadline(CommandSpec::new(["yes"], LONG), Duration::from_millis(300));
    spec.output_cap = 100;
    let finished = run(&spec);
    assert_eq!(finished.exit, Exit::TimedOut);
    assert!(finished.stdout.dropped > 0 && finished.duration < SOON, "{finished:?}");
}

#[test]
fn a_command_that_closes_its_output_is_still_waited_for() {
    check("echo first; exec >&- 2>&-; sleep 0.3; exit 3", &Exit::Failed(3), "first\n");
}

#[test]
fn a_deadline_ends_the_whole_tree() {
    let mark = mark("deadline");
    let text = "trap '' TERM INT HUP; sh -c 'sleep 100; :' $0 & setsid sh -c 'sleep 100; :' $0 & echo on; wait";
    let started = Instant::now();
    let finished = run(&with_deadline(script(text, &mark), Duration::from_millis(500)));
    assert_eq!((finished.exit, finished.stdout.text().as_str()), (Exit::TimedOut, "on\n"));
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
    assert_none_alive(&mark);
}

#[test]
fn a_command_that_forks_while_it_is_killed_is_ended_too() {
    let mark = mark("hydra");
    // Each process starts its successor and exits; all stop when this folder is deleted, even if the test fails.
    let alive_while = TempDir::new().expect("temp");
    let text = r#"[ -d "$D" ] || exit
        [ "$1" = go ] || { for n in 1 2 3 4; do setsid sh -c "$T" "$0" go & done; sleep 100; }
        sleep 0.005; setsid sh -c "$T" "$0" go &"#;
    let spec = script(r#"sh -c "$T" "$0""#, &mark).with_env("T", text).with_env("D", path_text(alive_while.path()));
    let finished = run(&with_deadline(spec, Duration::from_millis(400)));
    assert_eq!(finished.exit, Exit::TimedOut);
    assert_none_alive(&mark);
}

#[test]
fn a_daemon_that_holds_the_pipes_neither_delays_nor_survives_its_command() {
    let mark = mark("daemon");
    let started = Instant::now();
    let finished = run(&script("setsid sh -c 'sleep 100; :' $0 & echo started", &mark));
    assert_eq!((finished.exit, finished.stdout.text().as_str()), (Exit::Passed, "started\n"));
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
    assert_none_alive(&mark);
}

#[test]
fn daemons_that_hold_nothing_are_gone_when_their_command_is() {
    let mark = mark("daemons");
    let text = "for n in $(seq 60); do setsid sh -c 'sleep 100; :' $0 >/dev/null 2>&1 & done; echo started";
    assert_eq!(run(&script(text, &mark)).exit, Exit::Passed);
    assert_none_alive(&mark);
}

#[test]
fn a_request_to_stop_ends_the_whole_tree() {
    let mark = mark("cancel");
    let cancel = Cancel::new();
    let spawner = spawner().with_cancel(cancel.clone());
    let spec = script("setsid sh -c 'sleep 100; :' $0 & sleep 100", &mark);
    let running = thread::spawn(move || process::run(&spawner, &spec));
    wait_until("both run", LONG, || alive(&mark).len() >= 2);
    let asked = Instant::now();
    cancel.cancel();
    assert_eq!(running.join().expect("thread").expect("run").exit, Exit::Interrupted);
    assert!(asked.elapsed() < SOON, "{:?}", asked.elapsed());
    assert_none_alive(&mark);
}

#[test]
fn nothing_is_started_after_a_request_to_stop() {
    let cancel = Cancel::new();
    cancel.cancel();
    let finished = process::run(&spawner().with_cancel(cancel), &script("echo ran", "sh")).expect("run");
    assert_eq!((finished.exit, finished.stdout.text().as_str()), (Exit::Interrupted, ""));
}

#[test]
fn an_endless_deadline_is_one() {
    assert_eq!(run(&with_deadline(script("exit 0", "sh"), Duration::MAX)).exit, Exit::Passed);
}

#[test]
fn secrets_are_not_in_the_environment_and_a_commands_own_variables_are() {
    let vars: Vec<(OsString, OsString)> = [("LLM_API_KEY", "hush"), ("EDITOR", "vi"), ("PATH", "/usr/bin:/bin")]
        .map(|(name, value)| (name.into(), value.into()))
        .into();
    let spawner = Spawner::new("/", vars).with_supervisor(SUPERVISOR);
    let spec = CommandSpec::new(["env"], LONG).with_env("OURS", "x y");
    let text = process::run(&spawner, &spec).expect("run").stdout.text();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "CARGO_TERM_COLOR=never",
            "LANG=C.UTF-8",
            "LC_ALL=C.UTF-8",
            "NO_COLOR=1",
            "OURS=x y",
            "PATH=/usr/bin:/bin",
            "RUST_BACKTRACE=0",
            "TERM=dumb",
            "TZ=UTC"
        ]
    );
}

#[test]
fn a_fresh_home_and_temporary_folder_are_empty_and_gone_afterwards() {
    let spawner = spawner().with_isolation(Isolation::Fresh);
    let text = r#"ls -A "$HOME" "$TMPDIR" | grep -v :; touch "$HOME/a" "$TMPDIR/b" && echo "$HOME|$TMPDIR""#;
    let first = process::run(&spawner, &script(text, "sh")).expect("run").stdout.text();
    let (home, tmp) = first.trim().split_once('|').expect("two folders");
    assert!(home.contains("tdd-runs-") && tmp.contains("tdd-runs-"), "{first}");
    assert!(!Path::new(home).exists() && !Path::new(tmp).exists());
    let timed_out = with_deadline(script(r#"echo "$HOME"; sleep 100"#, "sh"), Duration::from_millis(300));
    let second = process::run(&spawner, &timed_out).expect("run");
    assert_eq!(second.exit, Exit::TimedOut);
    drop(spawner);
    assert!(!Path::new(second.stdout.text().trim()).exists());
}

#[test]
fn build_tools_find_their_way_without_the_users_home() {
    let spawner = spawner().with_isolation(Isolation::Fresh);
    let finished = process::run(&spawner, &CommandSpec::new(["cargo", "--version"], LONG)).expect("run");
    assert_eq!(finished.exit, Exit::Passed, "{finished:?}");
}

#[test]
fn five_seconds_after_our_own_death_nothing_is_left() {
    let mark = mark("orphan");
    let text = "trap '' TERM HUP; setsid sh -c 'trap \"\" HUP; sleep 100; :' $0 & sleep 100; :";
    let mut us = Command::new(SUPERVISOR).args(["sh", "-c", text, &mark]).spawn().expect("start");
    // Our process, its supervisor, the command and its daemon.
    wait_until("all run", LONG, || alive(&mark).len() >= 4);
    us.kill().expect("kill -9");
    us.wait().expect("wait");
    wait_until("none is left", Duration::from_secs(5), || alive(&mark).is_empty());
}

#[test]
fn many_commands_run_at_once() {
    let threads: Vec<_> =
        (0..16).map(|n| thread::spawn(move || run(&script(&format!("echo {n}; exit {n}"), "sh")))).collect();
    for (n, thread) in threads.into_iter().enumerate() {
        let finished = thread.join().expect("thread");
        assert_eq!(finished.stdout.text(), format!("{n}\n"));
        assert_eq!(finished.exit.to_string(), format!("exit {n}"));
    }
}

fn path_text(path: &Path) -> &str {
    path.to_str().expect("text")
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("chmod");
}
