//! Formats the test results of one of several projects.

use tdd_exec::tally::Tally;

use crate::output::{BAD, DIM, GOOD, paint};

/// One line, printed below the total.
pub fn text(tally: &Tally) -> String {
    let green = paint(GOOD, format_args!("{} green", tally.green));
    let failing = match tally.failing {
        0 => String::new(),
        failing => paint(BAD, format_args!(", {failing} failing")),
    };
    let path = if tally.path.is_empty() { "." } else { &tally.path };
    format!("  {path} {} {green}{failing}\n", paint(DIM, format_args!("({})", tally.language)))
}
