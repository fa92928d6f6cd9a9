//! Judges a change for the `validate-*` commands.

use tdd_core::law::Kind;
use tdd_core::pipeline::{self, Judged};
use tdd_exec::workshop::{ProjectWorkshop, Targets};

use crate::error::CliError;

/// Judges a change as this kind. `names` holds ids, files or names of tests; if empty, the change's own tests are the
/// targets.
pub fn judge(workshop: &mut ProjectWorkshop, kind: Kind, names: &[String]) -> Result<Judged, CliError> {
    let change = workshop.plain_change()?;
    let targets = match kind {
        Kind::Red | Kind::Green => workshop.targets(kind, names, &change)?,
        _ => Targets::Tests(Vec::new()),
    };
    Ok(match targets {
        Targets::Tests(targets) => pipeline::judge(workshop, kind, &targets, targets.len())?,
        Targets::Refused(refusal) => Judged::refused(refusal, change),
    })
}
