//! Judges one commit of a history by its claim or, without one, by its changes.

use tdd_core::audit::{self, Claim, Finding};
use tdd_core::cycle::Phase;
use tdd_core::law::Kind;
use tdd_core::pipeline;
use tdd_core::seam::Workshop;

use super::{ProjectWorkshop, Targets};
use crate::error::WorkError;

impl ProjectWorkshop {
    /// Judges a commit by its claim.
    pub fn judge_claim(&mut self, claim: &Claim) -> Result<Finding, WorkError> {
        let kind = claim.kind();
        let targets = match kind {
            Kind::Rethink | Kind::Mend | Kind::Characterization if claim.tests.is_empty() => {
                return Ok(Finding::broken("it names no test, so it cannot be judged"));
            }
            Kind::Red | Kind::Green if claim.tests.is_empty() => {
                let change = self.plain_change()?;
                match self.targets(kind, &[], &change)? {
                    Targets::Tests(targets) => targets,
                    Targets::Refused(refusal) => return Ok(audit::refused(&refusal)),
                }
            }
            _ => claim.tests.clone(),
        };
        let judged = pipeline::judge(self, kind, &targets, targets.len())?;
        Ok(judged.worst().map_or_else(|| Finding::nothing("there was nothing to judge"), audit::judged))
    }

    /// Judges a commit without a claim: it must not tamper with tests; with `infer`, also judges it as the kind it
    /// appears to be.
    pub fn judge_unclaimed(&mut self, claim: &Claim, infer: bool) -> Result<(Option<Phase>, Finding), WorkError> {
        // A consistent rename is not tampering.
        let change = audit::without_excused(self.change(Kind::Refactor)?, claim);
        if let Some(refusal) = pipeline::tampering(self, &change) {
            return Ok((None, audit::refused(&refusal)));
        }
        let finding = audit::unclaimed(&change, claim);
        if !infer || !finding.is_unclaimed() {
            return Ok((None, finding));
        }
        let (kind, targets) = self.inferred(&change)?;
        let judged = pipeline::judge(self, kind, &targets, targets.len())?;
        Ok((kind.phase(), judged.worst().map_or(finding, audit::judged)))
    }
}
