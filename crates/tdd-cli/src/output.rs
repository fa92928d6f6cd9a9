//! Results on standard output, everything else on standard error; what people read is laid out by `page`.

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

/// No terminal is narrower.
const NARROWEST: usize = 20;

/// Where results and remarks go.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    format: Format,
    quiet: bool,
    verbose: bool,
}

impl Output {
    /// As the global options say.
    pub fn new(global: &Global) -> Self {
        match global.color {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        }
        .write_global();
        Self { format: global.format, quiet: global.quiet, verbose: global.verbose > 0 }
    }

    /// Whether results are for programs.
    pub fn is_json(self) -> bool {
        self.format == Format::Json
    }

    /// Whether to say only what is asked for.
    pub fn is_quiet(self) -> bool {
        self.quiet
    }

    /// Whether to say more.
    pub fn is_verbose(self) -> bool {
        self.verbose
    }

    /// A command's one result: the document for programs, the text for people, its first line if they want quiet.
    pub fn result(self, document: &impl Serialize, text: impl FnOnce() -> String) {
        self.tell(document, || if self.quiet { first_line(&text()) } else { text() });
    }

    /// The same where another line than the first one matters.
    pub fn result_or(self, document: &impl Serialize, text: impl FnOnce() -> String, quiet: impl FnOnce() -> String) {
        self.tell(document, || if self.quiet { quiet() } else { text() });
    }

    /// What could not be written is told by the exit code.
    fn tell(self, document: &impl Serialize, text: impl FnOnce() -> String) {
        let _written = match self.format {
            Format::Json => print_json(document),
            Format::Markdown => print(&page::lay_out(&text(), None)),
            Format::Human => print(&page::lay_out(&text(), width(io::stdout()))),
        };
    }

    /// A remark for people.
    pub fn note(self, text: impl Display) {
        if !self.quiet {
            remark(text);
        }
    }

    /// Shows on a terminal what takes long, from now on.
    pub fn show_progress(self) {
        if !self.quiet && io::stderr().is_terminal() {
            progress::start();
        }
    }
}

fn first_line(text: &str) -> String {
    format!("{}\n", text.lines().next().unwrap_or_default())
}

/// The first error in writing to standard output.
static FAILED: OnceLock<Arc<io::Error>> = OnceLock::new();

/// Why something could not be written, if so.
pub fn failure() -> Option<CliError> {
    FAILED.get().map(|error| CliError::Output(Arc::clone(error)))
}

/// Writes to standard error whatever happens.
pub fn remark(text: impl Display) {
    let text = page::lay_out(&text.to_string(), width(io::stderr()));
    // Nobody is left to be told that standard error is closed.
    let _written = progress::aside(|| writeln!(anstream::stderr(), "{text}"));
}

/// One line for people, or several.
pub fn print_line(line: &str) -> Result<(), CliError> {
    print(&page::lay_out(&format!("{line}\n"), width(io::stdout())))
}

/// The same, in lines that are not too long to read even where nobody knows how wide the terminal is.
pub fn print_story(line: &str, longest: usize) -> Result<(), CliError> {
    let width = width(io::stdout()).map_or(longest, |width| width.min(longest));
    print(&page::lay_out(&format!("{line}\n"), Some(width)))
}

/// A document for programs.
pub fn print_json(document: &impl Serialize) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(document).map_err(io::Error::from).map_err(failed)?;
    print_raw(&text)
}

/// A line of a stream for programs, or a script: exactly as it is.
pub fn print_raw(line: &str) -> Result<(), CliError> {
    write(io::stdout().lock(), &format!("{line}\n"))
}

fn print(text: &str) -> Result<(), CliError> {
    write(anstream::stdout().lock(), text)
}

fn write(mut stream: impl Write, text: &str) -> Result<(), CliError> {
    progress::aside(|| stream.write_all(text.as_bytes()).and_then(|()| stream.flush())).map_err(failed)
}

/// Remembers an error in writing, for the end.
pub fn failed(error: io::Error) -> CliError {
    let error = Arc::new(error);
    let _first = FAILED.set(Arc::clone(&error));
    CliError::Output(error)
}

/// How wide a line may be: as `COLUMNS` says, else as wide as the terminal is, else as it likes.
fn width(stream: impl AsFd) -> Option<usize> {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
    let seen = || terminal_size::terminal_size_of(stream).map(|(width, _)| usize::from(width.0));
    said.or_else(seen).map(|width| width.max(NARROWEST))
}
