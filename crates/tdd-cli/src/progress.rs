//! One line on the terminal that says what is running, once a command takes longer than a second.

use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tdd_core::visible;

/// What is over before is not worth a line.
const PATIENCE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(100);

/// Not drawn until [`start`] has waited.
static LINE: LazyLock<ProgressBar> =
    LazyLock::new(|| ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()));

/// Shows what is done, from the second second on.
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

/// Takes the line away for good.
pub fn end() {
    LINE.finish_and_clear();
}

/// Writes something else to the terminal while the line is away.
pub fn aside<T>(write: impl FnOnce() -> T) -> T {
    LINE.suspend(write)
}

/// Something that is being done; when it ends, what was done before goes on.
#[derive(Debug)]
pub struct Progress {
    line: &'static ProgressBar,
    before: String,
}

impl Progress {
    /// Something that has not said yet what it is.
    pub fn begin() -> Self {
        Self { line: &LINE, before: LINE.message() }
    }

    /// Says what is being done now.
    pub fn say(&self, what: &str) {
        self.line.set_message(format!("{} …", visible::escaped(what).replace('\n', " ")));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.line.set_message(std::mem::take(&mut self.before));
    }
}
