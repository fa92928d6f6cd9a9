//! A progress line on the terminal for commands that take longer than a second.

use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tdd_core::visible;

/// Shorter commands show no progress line.
const PATIENCE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(100);

/// Hidden until [`start`] has waited.
static LINE: LazyLock<ProgressBar> =
    LazyLock::new(|| ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()));

/// Shows the progress line after [`PATIENCE`].
pub fn start() {
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
        LINE.set_style(style);
    }
    LINE.set_message("working …");
    thread::spawn(|| {
        thread::sleep(PATIENCE);
        if !LINE.is_finished() {
            LINE.set_draw_target(ProgressDrawTarget::stderr());
            LINE.enable_steady_tick(TICK);
        }
    });
}

/// Removes the progress line for good.
pub fn end() {
    LINE.finish_and_clear();
}

/// Hides the progress line while `write` runs.
pub fn aside<T>(write: impl FnOnce() -> T) -> T {
    LINE.suspend(write)
}

/// An activity on the progress line; when dropped, the previous one is shown again.
#[derive(Debug)]
pub struct Progress {
    line: &'static ProgressBar,
    before: String,
}

impl Progress {
    /// Begins an activity without a text.
    pub fn begin() -> Self {
        Self { line: &LINE, before: LINE.message() }
    }

    /// Sets the activity's text.
    pub fn say(&self, what: &str) {
        self.line.set_message(format!("{} …", visible::escaped(what).replace('\n', " ")));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.line.set_message(std::mem::take(&mut self.before));
    }
}
