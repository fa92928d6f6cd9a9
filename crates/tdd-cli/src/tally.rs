//! Shows how the tests of one of several projects ended.

use tdd_exec::tally::Tally;

use crate::output::{BAD, DIM, GOOD, paint};

/// A line below the sum of all projects.
pub fn text(tally: &Tally) -> String {
    let green = paint(GOOD, format_args!("{} green", tally.green));
    let failing = match tally.failing {
        0 => String::new(),
        failing => paint(BAD, format_args!(", {failing} failing")),
    };
    let path = if tally.path.is_empty() { "." } else { &tally.path };
    format!("  {path} {} {green}{failing}\n", paint(DIM, format_args!("({})", tally.language)))
}
