//! An edit plan: what a model answers, taken apart and checked.

use tdd_core::gate::Edit;
use tdd_core::test_id::TestId;

use crate::wish::{Finish, Wish};

/// All that an answer may say. Nothing in it has met the gate yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EditPlan {
    /// What to change.
    pub edits: Vec<Edit>,
    /// One line for the commit's header.
    pub summary: String,
    /// Why, line by line.
    pub rationale: String,
    /// A whole commit message, of which the machine takes what the other two lack.
    pub commit_message: String,
    /// The tests that the edits are for; none means the step's target.
    pub claims: Vec<TestId>,
    /// Anything for the log.
    pub notes: String,
    /// Files to be shown before it can answer.
    pub need: Vec<String>,
    /// In a rethink: why the test changes or stays.
    pub reason: String,
    /// In a rethink: where the kata says so.
    pub spec_source: String,
    /// From a tester who finds the kata finished: each requirement with its test.
    pub done: Vec<Done>,
}

/// A requirement of the kata and the test that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// In the kata's words.
    pub requirement: String,
    /// The test.
    pub test_id: TestId,
}

impl EditPlan {
    /// Whether it asks for files instead of editing. With edits, they count and the question falls away.
    pub fn only_asks(&self) -> bool {
        self.edits.is_empty() && !self.need.is_empty()
    }

    /// The same requests that tool calls would have made, in the order in which they are to be heard:
    /// for each edit its claims, then the edits, then the end of the turn.
    pub fn wishes(&self, default_claim: Option<&TestId>) -> Vec<Wish> {
        if self.only_asks() {
            return self.need.iter().map(|path| Wish::Read { path: path.clone() }).collect();
        }
        let claims: Vec<&TestId> =
            if self.claims.is_empty() { default_claim.into_iter().collect() } else { self.claims.iter().collect() };
        let claimed = self.edits.iter().flat_map(|edit| {
            claims.iter().map(|test| Wish::Claim { test: (*test).clone(), target: edit.path.clone() })
        });
        let edits = self.edits.iter().cloned().map(Wish::Edit);
        let end = std::iter::once(Wish::Finish(self.finish()));
        claimed.chain(edits).chain(end).collect()
    }

    /// What it says beside its edits.
    pub fn finish(&self) -> Finish {
        Finish {
            summary: self.summary.clone(),
            rationale: self.rationale.clone(),
            commit_message: self.commit_message.clone(),
            notes: self.notes.clone(),
            reason: self.reason.clone(),
            spec_source: self.spec_source.clone(),
            done: self.done.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tdd_core::gate::Action;

    fn id(text: &str) -> TestId {
        TestId::parse(text).unwrap()
    }

    fn plan(paths: &[&str], claims: &[&str]) -> EditPlan {
        let edits = paths.iter().map(|path| Edit { path: (*path).to_owned(), action: Action::Delete }).collect();
        EditPlan { edits, claims: claims.iter().map(|text| id(text)).collect(), ..EditPlan::default() }
    }

    #[test]
    fn a_plan_without_claims_claims_the_target_for_each_edit() {
        let wishes = plan(&["a", "b"], &[]).wishes(Some(&id("t::x")));
        let claim = |path: &str| Wish::Claim { test: id("t::x"), target: path.to_owned() };
        assert_eq!(wishes[..2], [claim("a"), claim("b")]);
        assert!(matches!(wishes[2..], [Wish::Edit(_), Wish::Edit(_), Wish::Finish(_)]), "{wishes:?}");
    }

    #[test]
    fn a_plans_own_claims_take_the_place_of_the_target() {
        let wishes = plan(&["a"], &["t::y", "t::z"]).wishes(Some(&id("t::x")));
        let claimed: Vec<_> = wishes
            .iter()
            .filter_map(|wish| if let Wish::Claim { test, .. } = wish { Some(test.as_str()) } else { None })
            .collect();
        assert_eq!(claimed, ["t::y", "t::z"]);
    }

    #[test]
    fn a_question_is_no_end_of_the_turn_unless_there_are_edits_too() {
        let asking = EditPlan { need: vec!["a".to_owned()], ..EditPlan::default() };
        assert_eq!(asking.wishes(None), [Wish::Read { path: "a".to_owned() }]);
        let both = EditPlan { need: vec!["a".to_owned()], ..plan(&["b"], &[]) };
        assert!(matches!(both.wishes(None)[..], [Wish::Edit(_), Wish::Finish(_)]));
    }
}
