//! Results on standard output, everything else on standard error; colours only where they are wanted.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::args::{Color, Format, Global};
use crate::error::CliError;

/// Good news.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// Bad news.
pub const BAD: Style = AnsiColor::Red.on_default();
/// News to think about.
pub const WARN: Style = AnsiColor::Yellow.on_default();
/// Less important.
pub const DIM: Style = Style::new().dimmed();
/// More important.
pub const BOLD: Style = Style::new().bold();

/// Text in a style.
pub fn paint(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

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

    /// A command's one result: the document for programs, or the text for people.
    pub fn result(self, document: &impl Serialize, text: impl FnOnce() -> String) -> Result<(), CliError> {
        match self.format {
            Format::Json => print_line(&serde_json::to_string_pretty(document).map_err(io::Error::from)?),
            Format::Human | Format::Markdown => print(&text()),
        }
    }

    /// A remark for people.
    pub fn note(self, text: impl Display) {
        if !self.quiet {
            remark(text);
        }
    }

    /// A line that shows what is being done, on a terminal only.
    pub fn progress(self) -> Progress {
        if self.quiet || !io::stderr().is_terminal() {
            return Progress(ProgressBar::hidden());
        }
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        Progress(bar)
    }
}

/// A line on the terminal that goes away when the work is done.
#[derive(Debug)]
pub struct Progress(ProgressBar);

impl Progress {
    /// Says what is being done now.
    pub fn say(&self, what: &str) {
        self.0.set_message(format!("{what} …"));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Writes to standard error whatever happens.
pub fn remark(text: impl Display) {
    // Nobody is left to be told that standard error is closed.
    let _written = writeln!(anstream::stderr(), "{text}");
}

/// One line of a stream, or a text as it is.
pub fn print_line(line: &str) -> Result<(), CliError> {
    print(&format!("{line}\n"))
}

fn print(text: &str) -> Result<(), CliError> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(CliError::Output)
}
