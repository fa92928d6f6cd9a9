//! Tells whether what was complained of after a green lies in the tests alone, where the implementor cannot mend it.

use tdd_core::cycle::Turn;
use tdd_core::report::Cause;
use tdd_core::rule::{Refusal, Rule};
use tdd_exec::sources::StoredSources;
use tdd_lang::complaint::{self, Place};

use super::Machine;
use super::verify::Verified;
use crate::error::CliError;

impl Machine<'_> {
    /// What a check or the compiler complained of, if all of it lies in the tests, which an implementor may not
    /// touch. The tester gets one chance to mend it.
    pub fn complaint_about_tests(
        &self,
        turn: &Turn,
        refusal: &Refusal,
        verified: &Verified,
    ) -> Result<Option<String>, CliError> {
        let Turn::Green { tests, .. } = turn else { return Ok(None) };
        let standing = self.trial.session().standing();
        if tests.first().is_none_or(|test| standing.had_its_mend(test.id())) {
            return Ok(None);
        }
        let said = match &verified.check {
            Some(outcome) if refusal.rule == Rule::CheckPasses => format!("{}\n{}", outcome.stdout, outcome.stderr),
            Some(_) | None if refusal.cause == Some(Cause::UnrelatedCompileError) => verified
                .report
                .obstacles()
                .iter()
                .map(|obstacle| obstacle.message.as_str())
                .collect::<Vec<_>>()
                .join("\n"),
            Some(_) | None => return Ok(None),
        };
        let sources = StoredSources::new(&self.trial.repo, &self.trial.tree)?;
        let (language, project) = self.trial.language();
        let is_test =
            |place: Place<'_>| language.is_test_line(project, &project.above(place.path), place.line, &sources);
        Ok(complaint::only_in_tests(&said, is_test).then_some(said))
    }
}
