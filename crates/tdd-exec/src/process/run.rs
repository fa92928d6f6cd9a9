//! Runs one command until it ends, its deadline passes or a stop is requested.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, PipeReader, Read};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use tdd_core::command::{Captured, CommandSpec, Exit, Finished};

use super::cancel::Cancel;
use super::capture::Capture;
use super::descendants::{end_below, end_session};
use super::error::ProcessError;
use super::report::{ALONE, Report};
use super::spawner::Spawner;
use super::supervisor::SUPERVISE;

/// How often we check for a stop request.
const TICK: Duration = Duration::from_millis(25);
/// How long we wait for the last output after the command ended or was killed.
const GRACE: Duration = Duration::from_secs(2);
/// Bytes read at once: the capacity of a pipe.
const PIECE: usize = 1 << 16;

/// Total run time of this process's commands, in microseconds.
static SPENT: AtomicU64 = AtomicU64::new(0);

/// Supervisors that reported [`ALONE`] and are about to exit.
static ENDING: Mutex<Vec<Child>> = Mutex::new(Vec::new());

/// Total run time of this process's commands; the rest of its time is our own.
pub fn spent() -> Duration {
    Duration::from_micros(SPENT.load(Ordering::Relaxed))
}

/// Runs a command and everything it starts; when this returns, none of its processes is left.
pub fn run(spawner: &Spawner, spec: &CommandSpec) -> Result<Finished, ProcessError> {
    let finished = watched(spawner, spec)?;
    SPENT.fetch_add(u64::try_from(finished.duration.as_micros()).unwrap_or(0), Ordering::Relaxed);
    Ok(finished)
}

fn watched(spawner: &Spawner, spec: &CommandSpec) -> Result<Finished, ProcessError> {
    if spawner.cancel.is_cancelled() {
        return Ok(without_output(Exit::Interrupted));
    }
    let folder = folder_of(spawner, spec)?;
    let dirs = spawner.run_dirs()?;
    let vars = spawner.vars(spec, dirs.as_ref());
    let program = match find(spec, &vars, &folder) {
        Ok(program) => program,
        Err(reason) => return Ok(without_output(Exit::NotStarted(reason))),
    };
    let finished = match Supervised::start(spawner, spec, &program, &folder, &vars) {
        Ok(supervised) => supervised.finish(spec),
        Err(error) if is_about_arguments(&error) => Ok(without_output(Exit::NotStarted(error.to_string()))),
        Err(source) => Err(ProcessError::Supervisor { program: spawner.supervisor.clone(), source }),
    }?;
    spawner.take_back(dirs);
    let folder = folder.canonicalize().unwrap_or(folder).to_string_lossy().into_owned();
    Ok(Finished { folder, ..finished })
}

fn without_output(exit: Exit) -> Finished {
    Finished::new(exit, Captured::default(), Captured::default())
}

fn folder_of(spawner: &Spawner, spec: &CommandSpec) -> Result<PathBuf, ProcessError> {
    let folder = spawner.folder(spec);
    // Absolute, because the supervisor starts the program in another folder than ours.
    let found = std::path::absolute(&folder).and_then(|folder| {
        if folder.metadata()?.is_dir() { Ok(folder) } else { Err(io::ErrorKind::NotADirectory.into()) }
    });
    found.map_err(|source| ProcessError::Folder { command: spec.line(), folder, source })
}

/// Looks up the program in the command's own `PATH`.
fn find(spec: &CommandSpec, vars: &BTreeMap<OsString, OsString>, folder: &Path) -> Result<PathBuf, String> {
    let name = spec.argv.first().ok_or("the command is empty")?;
    let path = vars.get(&OsString::from("PATH"));
    which::which_in(name, path, folder).map_err(|_| {
        let place = if name.contains('/') { "there" } else { "on PATH" };
        format!("there is no executable program `{}` {place}", name.escape_debug())
    })
}

/// Whether the error is the command's fault: a NUL in an argument, or too many arguments.
fn is_about_arguments(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::ArgumentListTooLong)
}

/// A command under its supervisor.
struct Supervised {
    supervisor: Child,
    control: Stream<UnixStream>,
    stdout: Stream<PipeReader>,
    stderr: Stream<PipeReader>,
    out: Capture,
    err: Capture,
    /// An incomplete line from the supervisor.
    partial_line: Vec<u8>,
    /// The supervisor reported that no process of the command is left.
    alone: bool,
    cancel: Cancel,
    started: Instant,
    /// How the command ended; only the first report counts.
    exit: Option<Exit>,
    /// When we began to wait only for the last output.
    ended: Option<Instant>,
}

impl Supervised {
    fn start(
        spawner: &Spawner,
        spec: &CommandSpec,
        program: &Path,
        folder: &Path,
        vars: &BTreeMap<OsString, OsString>,
    ) -> io::Result<Self> {
        reap();
        let started = Instant::now();
        let (control, theirs) = UnixStream::pair()?;
        let (stdout, out) = io::pipe()?;
        let (stderr, err) = io::pipe()?;
        let supervisor = Command::new(&spawner.supervisor)
            .arg0("tdd-supervisor")
            .arg(SUPERVISE)
            .arg(program)
            .args(spec.argv.iter().skip(1))
            .env_clear()
            .envs(vars)
            .current_dir(folder)
            .stdin(OwnedFd::from(theirs))
            .stdout(out)
            .stderr(err)
            .spawn()?;
        Ok(Self {
            supervisor,
            control: Stream { source: control, open: true },
            stdout: Stream { source: stdout, open: true },
            stderr: Stream { source: stderr, open: true },
            out: Capture::new(spec.output_cap),
            err: Capture::new(spec.output_cap),
            partial_line: Vec::new(),
            alone: false,
            cancel: spawner.cancel.clone(),
            started,
            exit: None,
            ended: None,
        })
    }

    fn finish(mut self, spec: &CommandSpec) -> Result<Finished, ProcessError> {
        let watched = self.watch(spec.deadline);
        let duration = self.ended.unwrap_or_else(Instant::now).duration_since(self.started);
        let fail = |source| ProcessError::Watch { command: spec.line(), source };
        let exit = match (watched, self.exit.take()) {
            (Ok(()), Some(exit)) if self.alone => {
                reap_later(self.supervisor);
                exit
            }
            (watched, exit) => {
                let status = self.end();
                watched.map_err(fail)?;
                let status = status.map_err(fail)?;
                exit.or_else(|| interrupted_early(status))
                    .ok_or_else(|| ProcessError::SupervisorDied { command: spec.line(), status })?
            }
        };
        Ok(Finished { duration, ..Finished::new(exit, self.out.finish(), self.err.finish()) })
    }

    /// Reads until every stream has ended or the time is up.
    fn watch(&mut self, deadline: Duration) -> io::Result<()> {
        let mut piece = vec![0; PIECE];
        while (self.control.open && !self.alone) || self.stdout.open || self.stderr.open {
            self.stop_if_due(deadline);
            let left = match self.ended {
                Some(since) => GRACE.saturating_sub(since.elapsed()),
                None => deadline.saturating_sub(self.started.elapsed()),
            };
            if left.is_zero() && self.ended.is_some() {
                break;
            }
            self.read_ready(left.min(TICK), &mut piece)?;
        }
        Ok(())
    }

    fn stop_if_due(&mut self, deadline: Duration) {
        if self.ended.is_some() {
            return;
        }
        if self.cancel.is_cancelled() {
            self.stop(Exit::Interrupted);
        } else if self.started.elapsed() >= deadline {
            self.stop(Exit::TimedOut);
        }
    }

    /// Closing the control socket tells the supervisor to kill everything.
    fn stop(&mut self, exit: Exit) {
        self.end_with(Some(exit));
        let _ = self.control.source.shutdown(Shutdown::Write);
    }

    fn end_with(&mut self, exit: Option<Exit>) {
        if self.ended.is_none() {
            self.exit = exit;
            self.ended = Some(Instant::now());
        }
    }

    fn read_ready(&mut self, wait: Duration, piece: &mut [u8]) -> io::Result<()> {
        let [control, stdout, stderr] = self.ready(wait)?;
        if stdout {
            self.out.push(self.stdout.read(piece)?);
        }
        if stderr {
            self.err.push(self.stderr.read(piece)?);
        }
        if control {
            self.partial_line.extend_from_slice(self.control.read(piece)?);
            self.take_in_reports();
        }
        Ok(())
    }

    /// Which streams have data or have ended.
    fn ready(&self, wait: Duration) -> io::Result<[bool; 3]> {
        let open = [self.control.open, self.stdout.open, self.stderr.open];
        let sources = [self.control.source.as_fd(), self.stdout.source.as_fd(), self.stderr.source.as_fd()];
        // Leave out ended streams: `poll` would always report them as ready.
        let indices: Vec<usize> = (0..open.len()).filter(|n| open[*n]).collect();
        let mut polled: Vec<PollFd> = indices.iter().map(|n| PollFd::new(sources[*n], PollFlags::POLLIN)).collect();
        match poll(&mut polled, timeout(wait)) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut ready = [false; 3];
        for (n, polled) in indices.into_iter().zip(polled) {
            ready[n] = polled.any().unwrap_or(true);
        }
        Ok(ready)
    }

    /// Processes the supervisor's lines, and its death.
    fn take_in_reports(&mut self) {
        while let Some(end) = self.partial_line.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.partial_line.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            if line.trim_end() == ALONE {
                self.alone = true;
            } else if let Some(report) = Report::parse(line.trim_end()) {
                self.end_with(Some(report.exit()));
            }
        }
        if !self.control.open && self.ended.is_none() {
            // The supervisor died without a report: its processes run unsupervised and may hold our pipes.
            end_session(self.supervisor_pid(), Instant::now() + GRACE);
            self.end_with(None);
        }
    }

    fn supervisor_pid(&self) -> Pid {
        Pid::from_raw(self.supervisor.id().cast_signed())
    }

    /// Reaps the supervisor. If it does not exit by itself, kills its descendants first and then the supervisor.
    fn end(&mut self) -> io::Result<ExitStatus> {
        if self.control.open {
            end_below(self.supervisor_pid(), Instant::now() + GRACE);
            self.supervisor.kill()?;
        }
        self.supervisor.wait()
    }
}

/// Leaves an exiting supervisor to be reaped when the next command starts, because waiting for it costs time.
fn reap_later(supervisor: Child) {
    ENDING.lock().unwrap_or_else(PoisonError::into_inner).push(supervisor);
}

fn reap() {
    ENDING.lock().unwrap_or_else(PoisonError::into_inner).retain_mut(|ending| matches!(ending.try_wait(), Ok(None)));
}

/// `Interrupted` if a signal ended the supervisor. Ctrl-C in the terminal reaches it only before it has left our
/// session; afterwards it blocks these signals.
fn interrupted_early(status: ExitStatus) -> Option<Exit> {
    let polite = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP].map(|signal| signal as i32);
    status.signal().filter(|signal| polite.contains(signal)).map(|_| Exit::Interrupted)
}

/// Rounds up, so that the last millisecond is not a busy loop.
fn timeout(wait: Duration) -> PollTimeout {
    PollTimeout::try_from(wait + Duration::from_millis(1)).unwrap_or(PollTimeout::MAX)
}

/// A stream from the supervisor or the command.
struct Stream<R> {
    source: R,
    open: bool,
}

impl<R: Read> Stream<R> {
    /// The next piece; empty at the end of the stream.
    fn read<'a>(&mut self, piece: &'a mut [u8]) -> io::Result<&'a [u8]> {
        let size = self.source.read(piece)?;
        self.open = size > 0;
        Ok(&piece[..size])
    }
}
