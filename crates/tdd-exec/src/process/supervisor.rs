//! The process between us and a command; if we die, it kills the command's processes before it exits.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, dup2_stderr, dup2_stdout, getpid, setsid};

use super::descendants::kill_below;
use super::report::{ALONE, Report};

/// The hidden first argument that turns our program into a supervisor; the command's arguments follow.
pub const SUPERVISE: &str = "__supervise";

/// How long the supervisor tries to kill remaining processes.
const KILL_LIMIT: Duration = Duration::from_secs(4);

/// Supervises a command if this process was started for that. `main` must call this first and exit with the returned
/// code.
pub fn supervise_if_asked() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    (args.next()? == SUPERVISE).then(|| supervise(args.collect()))
}

/// Why the supervisor stops waiting.
enum Event {
    /// The command itself ended.
    Ended(io::Result<ExitStatus>),
    /// The caller asked for it, or died.
    Stop,
}

fn supervise(argv: Vec<OsString>) -> ExitCode {
    leave_the_callers_session();
    let Ok(control) = control_socket() else { return ExitCode::FAILURE };
    let child = match start(argv) {
        Ok(child) => child,
        Err(error) => return tell(&control, &Report::NotStarted(error.to_string())),
    };
    let_go_of_the_output();
    block_signals();
    let group = Pid::from_raw(child.id().cast_signed());
    let code = match first_event(child, &control) {
        Ok(Event::Ended(Ok(status))) => tell(&control, &report_of(status)),
        Ok(Event::Ended(Err(_)) | Event::Stop) | Err(_) => ExitCode::FAILURE,
    };
    if kill_all(group) {
        say(&control, &format!("{ALONE}\n"));
    }
    code
}

/// In its own session, the command is safe from Ctrl-C in the terminal and cannot prompt for a password. As a
/// subreaper, the supervisor becomes the parent of every orphaned descendant.
fn leave_the_callers_session() {
    // Fails only if we already lead a process group, which is just as good.
    let _ = setsid();
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_child_subreaper(true);
}

/// The socket to the caller, passed as our standard input.
fn control_socket() -> io::Result<UnixStream> {
    io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from)
}

fn start(argv: Vec<OsString>) -> io::Result<Child> {
    let mut argv = argv.into_iter();
    let program = argv.next().ok_or(io::ErrorKind::InvalidInput)?;
    Command::new(program).args(argv).stdin(Stdio::null()).process_group(0).spawn()
}

/// Closes our copies of the command's output, so that readers see its end when the last process of the command exits.
fn let_go_of_the_output() {
    if let Ok(nothing) = File::options().write(true).open("/dev/null") {
        let _ = dup2_stdout(&nothing);
        let _ = dup2_stderr(&nothing);
    }
}

/// Blocks signals that would end the supervisor and leave the command unsupervised. Called after the start, because a
/// child inherits blocked signals.
fn block_signals() {
    let mut signals = SigSet::empty();
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT] {
        signals.add(signal);
    }
    let _ = signals.thread_block();
}

/// Sends a report; the exit code says whether the caller's socket took it.
fn tell(control: &UnixStream, report: &Report) -> ExitCode {
    if say(control, &report.line()) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn say(mut control: &UnixStream, line: &str) -> bool {
    control.write_all(line.as_bytes()).is_ok()
}

fn first_event(mut child: Child, control: &UnixStream) -> io::Result<Event> {
    let (ended, events) = mpsc::channel();
    let stop = ended.clone();
    let mut control = control.try_clone()?;
    thread::Builder::new().spawn(move || ended.send(Event::Ended(child.wait())))?;
    thread::Builder::new().spawn(move || {
        // A byte, the end of the stream and an error all mean stop.
        let _ = control.read(&mut [0]);
        stop.send(Event::Stop)
    })?;
    events.recv().map_err(io::Error::other)
}

fn report_of(status: ExitStatus) -> Report {
    match (status.code(), status.signal()) {
        (Some(code), _) => Report::Exited(code),
        (None, Some(signal)) => Report::Signalled(signal),
        (None, None) => Report::NotStarted(format!("it ended in an unknown way: {status}")),
    }
}

/// Kills everything the command started; returns whether no process is left.
fn kill_all(group: Pid) -> bool {
    let until = Instant::now() + KILL_LIMIT;
    // Needed on systems without `/proc`. On Linux the group id may already belong to other processes.
    #[cfg(not(target_os = "linux"))]
    let _ = nix::sys::signal::killpg(group, Signal::SIGKILL);
    #[cfg(target_os = "linux")]
    let _ = group;
    while !none_left() {
        if Instant::now() >= until {
            return false;
        }
        kill_below(getpid());
        thread::sleep(Duration::from_millis(1));
    }
    true
}

/// Reaps dead children; returns whether none is left.
fn none_left() -> bool {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) => return false,
            Err(Errno::ECHILD) => return true,
            // A child was reaped; nix cannot represent some of the statuses.
            Ok(_) | Err(_) => {}
        }
    }
}
