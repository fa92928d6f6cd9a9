//! The gate's rules about a whole request: occupied paths, limits, modes and claims.

use super::{GateInput, Source, edits, judge_claim};
use crate::law::RuleResult;
use crate::rule::Rule;
use crate::scope;
use crate::session::Session;
use crate::test_id::TestId;

pub fn not_a_persons(input: &GateInput<'_>) -> RuleResult {
    let written = input.request.edits.iter().flat_map(edits::paths);
    if let Some(path) = written.into_iter().find(|path| input.limits.protected.iter().any(|file| file == path)) {
        let reason = format!("`{path}` says what to build, and only a person may change it");
        return Err(Rule::ProtectedPath.refuse(reason, "leave it as it is"));
    }
    match input.request.obstructed.untracked.first() {
        None => Ok(()),
        Some(path) => {
            Err(Rule::ProtectedPath.refuse(format!("a person has an uncommitted file at `{path}`"), "use another path"))
        }
    }
}

pub fn not_ignored(input: &GateInput<'_>) -> RuleResult {
    match input.request.obstructed.ignored.first() {
        None => Ok(()),
        Some(path) => Err(Rule::IgnoredPath.refuse(
            format!("git ignores `{path}`, so the file would be tested but not committed"),
            "use a path that is not ignored",
        )),
    }
}

pub fn place_is_free(input: &GateInput<'_>) -> RuleResult {
    let obstructed = input.request.obstructed;
    let reason = match (obstructed.folders.first(), obstructed.below_files.first()) {
        (Some(path), _) => format!("`{path}` is a folder"),
        (None, Some(path)) => format!("one of the folders of `{path}` is a file, so the path cannot exist"),
        (None, None) => return Ok(()),
    };
    Err(Rule::EditApplies.refuse(reason, "name a file whose folders are real folders"))
}

pub fn inside_fence(input: &GateInput<'_>) -> RuleResult {
    input.limits.fence.map_or(Ok(()), |fence| fence.check(input.request.edits.iter().flat_map(edits::paths)))
}

pub fn within_budget(input: &GateInput<'_>) -> RuleResult {
    let (state, limits) = (input.session.machine_state(), input.limits);
    if let Some(pause) = state.pause() {
        return Err(Rule::Budget.refuse(format!("the machine is paused: {}", pause.reason), pause.next.clone()));
    }
    let usage = state.usage();
    if limits.max_tokens.is_some_and(|most| usage.tokens() >= most) {
        let reason = format!("all tokens are spent: {}", usage.tokens());
        return Err(Rule::Budget.refuse(reason, "raise `llm.budget.tokens`"));
    }
    if limits.max_micro_usd.is_some_and(|most| usage.micro_usd >= most) {
        return Err(Rule::Budget.refuse("the budget in dollars is spent", "raise `llm.budget.usd`"));
    }
    let Some(step) = state.step() else { return Ok(()) };
    let spent = state.spent(&step.subject());
    if spent >= limits.max_attempts {
        return Err(Rule::Budget.refuse(format!("all {spent} attempts are spent"), "`tdd-cli resume` tries again"));
    }
    Ok(())
}

pub fn mode_fits_step(input: &GateInput<'_>) -> RuleResult {
    match (input.session.machine_state().step(), input.session.machine_state().refactor()) {
        (Some(step), Some(_)) if step.free => Ok(()),
        (Some(step), None) if step.free => {
            let reason = format!("step {} belongs to refactor mode, which has ended", step.step);
            Err(Rule::RefactorMode.refuse(reason, "`tdd-cli plan run` begins the step again"))
        }
        (Some(step), Some(_)) => Err(Rule::RefactorMode.refuse(
            format!("refactor mode is on while step {} is unfinished", step.step),
            "run `tdd-cli refactor end` first",
        )),
        (None, _) | (_, None) => Ok(()),
    }
}

/// The tests that a green is for: those of the step, or, outside a step, all red tests.
fn targets(session: &Session) -> Vec<&TestId> {
    match session.machine_state().step() {
        Some(step) => step.targets.iter().collect(),
        None => session.red().collect(),
    }
}

pub fn has_a_red(input: &GateInput<'_>) -> RuleResult {
    let session = input.session;
    let targets = targets(session);
    if targets.is_empty() {
        let next = "write a test that fails, and run `tdd-cli validate-red` so that the machine sees it fail";
        return Err(Rule::RedFirst
            .refuse("there is no red test, and production code may change only to make a red test pass", next));
    }
    targets.into_iter().try_for_each(|target| judge_claim(session, target))
}

pub fn claims_a_red(input: &GateInput<'_>) -> RuleResult {
    let session = input.session;
    let seen_red = |test: &TestId| session.tests().get(test).and_then(|known| known.red.as_ref()).map(|red| red.at);
    let claimed = |test: &&TestId| session.machine_state().claimed_at(test) > seen_red(test);
    let targets = targets(session);
    if targets.iter().any(claimed) {
        return Ok(());
    }
    let names: Vec<_> = targets.iter().map(|test| format!("`{test}`")).collect();
    let next = format!("claim {} first", names.join(" or "));
    Err(Rule::ClaimAfterRed.refuse("the change does not say which red test it is for", next))
}

/// A red that has an assigned test brings that test.
pub fn brings_the_wanted_test(input: &GateInput<'_>) -> RuleResult {
    match input.limits.wanted {
        Some((test, file)) if input.request.finished => scope::asked_for(input.request.change, test, file),
        Some(_) | None => Ok(()),
    }
}

/// A doubted test changes only if a quotation proves it wrong.
pub fn quotes_the_kata(input: &GateInput<'_>) -> RuleResult {
    let reason = match input.request.source {
        Source::Proven => return Ok(()),
        _ if !input.request.finished => return Ok(()),
        Source::Empty => "a test may change only if the kata contradicts it, and `spec_source` is empty",
        Source::Unfounded => {
            "a test may change only if the kata contradicts it, and the text of `spec_source` is not in the kata"
        }
    };
    let next = "quote the sentence of the kata that the test contradicts in `spec_source`, word for word; or send no \
                edits, and the test stays as it is";
    let refusal = Rule::TestsFrozen.refuse(reason, next);
    let target = input.session.machine_state().step().and_then(|step| step.targets.first());
    Err(target.map_or(refusal.clone(), |test| refusal.about(test)))
}
