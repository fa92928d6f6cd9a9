//! Writes results to standard output and everything else to standard error; `page` formats text for people.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, OnceLock};

use serde::Serialize;

use crate::args::{Color, Format, Global};
use crate::error::CliError;
use crate::page;
use crate::progress;

pub use crate::page::{BAD, BOLD, DIM, GOOD, WARN, paint};

/// Smallest assumed terminal width.
const NARROWEST: usize = 20;

/// Writes results and remarks.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    format: Format,
    quiet: bool,
    verbose: bool,
}

impl Output {
    /// Follows the global options.
    pub fn new(global: &Global) -> Self {
        match global.color {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        }
        .write_global();
        Self { format: global.format, quiet: global.quiet, verbose: global.verbose > 0 }
    }

    /// Whether results are JSON.
    pub fn is_json(self) -> bool {
        self.format == Format::Json
    }

    /// Whether to print only one line or the requested data.
    pub fn is_quiet(self) -> bool {
        self.quiet
    }

    /// Whether to print details.
    pub fn is_verbose(self) -> bool {
        self.verbose
    }

    /// Prints a command's result: the JSON document, or the text, or with `--quiet` the text's first line.
    pub fn result(self, document: &impl Serialize, text: impl FnOnce() -> String) {
        self.tell(document, || if self.quiet { first_line(&text()) } else { text() });
    }

    /// The same, with another line for `--quiet`.
    pub fn result_or(self, document: &impl Serialize, text: impl FnOnce() -> String, quiet: impl FnOnce() -> String) {
        self.tell(document, || if self.quiet { quiet() } else { text() });
    }

    /// A write error is reported by the exit code.
    fn tell(self, document: &impl Serialize, text: impl FnOnce() -> String) {
        let _written = match self.format {
            Format::Json => print_json(document),
            Format::Markdown => print(&page::lay_out(&text(), None)),
            Format::Human => print(&page::lay_out(&text(), width(io::stdout()))),
        };
    }

    /// Prints a remark to standard error, unless quiet.
    pub fn note(self, text: impl Display) {
        if !self.quiet {
            remark(text);
        }
    }

    /// Starts the progress line, if standard error is a terminal.
    pub fn show_progress(self) {
        if !self.quiet && io::stderr().is_terminal() {
            progress::start();
        }
    }
}

fn first_line(text: &str) -> String {
    format!("{}\n", text.lines().next().unwrap_or_default())
}

/// The first write error on standard output.
static FAILED: OnceLock<Arc<io::Error>> = OnceLock::new();

/// The write error, if any.
pub fn failure() -> Option<CliError> {
    FAILED.get().map(|error| CliError::Output(Arc::clone(error)))
}

/// Writes to standard error, even if quiet.
pub fn remark(text: impl Display) {
    let text = page::lay_out(&text.to_string(), width(io::stderr()));
    // An error on standard error cannot be reported anywhere.
    let _written = progress::aside(|| writeln!(anstream::stderr(), "{text}"));
}

/// Prints text for people.
pub fn print_line(line: &str) -> Result<(), CliError> {
    print(&page::lay_out(&format!("{line}\n"), width(io::stdout())))
}

/// Prints text for people in lines of at most `longest` columns, even if the terminal's width is unknown.
pub fn print_story(line: &str, longest: usize) -> Result<(), CliError> {
    let width = width(io::stdout()).map_or(longest, |width| width.min(longest));
    print(&page::lay_out(&format!("{line}\n"), Some(width)))
}

/// Prints a JSON document.
pub fn print_json(document: &impl Serialize) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(document).map_err(io::Error::from).map_err(failed)?;
    print_raw(&text)
}

/// Prints a line unchanged, for JSON streams and scripts.
pub fn print_raw(line: &str) -> Result<(), CliError> {
    write(io::stdout().lock(), &format!("{line}\n"))
}

fn print(text: &str) -> Result<(), CliError> {
    write(anstream::stdout().lock(), text)
}

fn write(mut stream: impl Write, text: &str) -> Result<(), CliError> {
    progress::aside(|| stream.write_all(text.as_bytes()).and_then(|()| stream.flush())).map_err(failed)
}

/// Remembers a write error until the end.
pub fn failed(error: io::Error) -> CliError {
    let error = Arc::new(error);
    let _first = FAILED.set(Arc::clone(&error));
    CliError::Output(error)
}

/// Line width: `COLUMNS`, else the terminal's width, else unlimited.
fn width(stream: impl AsFd) -> Option<usize> {
    let columns = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok()).filter(|width| *width > 0);
    let seen = || terminal_size::terminal_size_of(stream).map(|(width, _)| usize::from(width.0));
    columns.or_else(seen).map(|width| width.max(NARROWEST))
}
