//! The gate before the effect: a request either becomes a [`Permit`] or a refusal that says what to do.
//!
//! The only function that writes a project file consumes a [`Permit`], and only this module makes one:
//!
//! ```compile_fail,E0451
//! let forged = tdd_core::gate::Permit { edits: Vec::new() };
//! ```

mod edits;
mod preview;
#[cfg(test)]
mod tests;

use crate::change::Change;
use crate::cycle::Phase;
use crate::event::Status;
use crate::path::ConfinedPath;
use crate::program::fence::Fence;
use crate::report::Cause;
use crate::rule::{Refusal, Rule};
use crate::scope;
use crate::session::{Known, Session};
use crate::test_id::TestId;

pub use edits::{MAX_FILE, MAX_REQUEST};
use edits::{check_edits, own_path, path_refusal};
pub use preview::{Files, preview, replace_once};

/// One change that somebody wishes to make to one file. Nothing in it has been checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The file, as it was asked for.
    pub path: String,
    /// What to do with it.
    pub action: Action,
}

/// What an edit does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Write the whole content, whether the file is there or not.
    Upsert {
        /// The new content.
        content: String,
    },
    /// Remove the file.
    Delete,
    /// Move the file.
    Rename {
        /// Where to, as it was asked for.
        to: String,
    },
    /// Replace the one place where `find` stands.
    Replace {
        /// What to look for; must stand there exactly once.
        find: String,
        /// What to put in its place.
        content: String,
    },
}

/// Leave to make these changes, and no others. Only the gate makes one.
#[derive(Debug)]
#[must_use]
pub struct Permit {
    edits: Vec<PermittedEdit>,
}

/// One change that the gate let through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermittedEdit {
    /// The file.
    pub path: ConfinedPath,
    /// What to do with it.
    pub action: PermittedAction,
}

/// What a permitted edit does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PermittedAction {
    /// Write the whole content, whether the file is there or not.
    Upsert(String),
    /// Write a file that is not there yet; one that is there stays as it is.
    Create(String),
    /// Remove the file.
    Delete,
    /// Move the file.
    Rename(ConfinedPath),
    /// Replace the one place where `find` stands.
    Replace {
        /// What to look for.
        find: String,
        /// What to put in its place.
        content: String,
    },
}

impl Permit {
    /// What is permitted; the permit is used up.
    pub fn into_edits(self) -> Vec<PermittedEdit> {
        self.edits
    }
}

/// The answer to a request.
#[derive(Debug)]
#[must_use]
pub enum Verdict {
    /// Go ahead.
    Permit(Permit),
    /// No.
    Refuse(Refusal),
}

/// A wish to change files, with what it would come to.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The edits.
    pub edits: &'a [Edit],
    /// What they would do to the tree that the step started from.
    pub change: &'a Change,
    /// Those of their paths that git ignores.
    pub ignored: &'a [String],
    /// Those of their paths where a person has a file that git does not know.
    pub untracked: &'a [String],
}

/// What the rules depend on beside the session.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// The file that says what to build.
    pub kata: &'a str,
    /// The time, in milliseconds since 1970.
    pub now_ms: u64,
    /// How many tries a role has in one step.
    pub max_attempts: u32,
    /// How many tests a red may bring.
    pub max_new_tests: u32,
    /// How many tokens may be spent in all.
    pub max_tokens: Option<u64>,
    /// How many millionths of a US dollar may be spent in all.
    pub max_micro_usd: Option<u64>,
    /// The files that a program may touch; `None` where no program is at work.
    pub fence: Option<&'a Fence>,
}

/// A rule of the gate: it looks at all that there is, and says no or nothing.
type Check = fn(&Session, &Request<'_>, &Limits<'_>) -> Result<(), Refusal>;

/// The rules that look at more than single edits, in the order in which they are asked.
const CHECKS: [(Rule, Check); 11] = [
    (Rule::ProtectedPath, untracked_path),
    (Rule::IgnoredPath, ignored_path),
    (Rule::TargetFence, target_fence),
    (Rule::Budget, budget),
    (Rule::RefactorMode, refactor_mode),
    (Rule::SteeringFrozen, steering_frozen),
    (Rule::PhaseScope, phase_scope),
    (Rule::TestsFrozen, tests_frozen),
    (Rule::OneBehaviour, one_behaviour),
    (Rule::RedFirst, red_first),
    (Rule::ClaimAfterRed, claim_after_red),
];

/// Judges a request before it touches the disk: all of it or nothing.
pub fn judge(session: &Session, request: &Request<'_>, limits: &Limits<'_>) -> Verdict {
    let excepted = session.standing().exceptions(limits.now_ms);
    let permitted = check_edits(request.edits, limits.kata).and_then(|edits| {
        let asked = CHECKS.iter().filter(|(rule, _)| !excepted.contains(rule));
        asked.into_iter().try_for_each(|(_, check)| check(session, request, limits)).map(|()| edits)
    });
    match permitted {
        Ok(edits) => Verdict::Permit(Permit { edits }),
        Err(refusal) => Verdict::Refuse(refusal),
    }
}

/// Judges a claim: only a test whose last run failed for a valid cause can be claimed. A red of long ago, of
/// a test that has since passed or fails for another cause now, is none.
pub fn judge_claim(session: &Session, test: &TestId) -> Result<(), Refusal> {
    let next = "claim the red test of this step; `tdd-cli status` names the red ones";
    match session.tests().get(test) {
        Some(known) if known.status == Status::Pass => {
            Err(Rule::RedFirst.refuse(format!("`{test}` passes, so nothing is to be done for it"), next).about(test))
        }
        Some(known) if known.cause.is_some_and(Cause::is_valid_red) => Ok(()),
        Some(Known { red: Some(red), digest, .. }) if red.digest != *digest => {
            let reason = format!("`{test}` has changed since it was seen to fail");
            Err(Rule::RedFirst.refuse(reason, "let it be seen to fail again: `tdd-cli validate-red`").about(test))
        }
        Some(_) | None => {
            Err(Rule::RedFirst.refuse(format!("nobody saw `{test}` fail for a valid cause"), next).about(test))
        }
    }
}

fn untracked_path(_: &Session, request: &Request<'_>, _: &Limits<'_>) -> Result<(), Refusal> {
    match request.untracked.first() {
        None => Ok(()),
        Some(path) => Err(Rule::ProtectedPath
            .refuse(format!("a person has a file of their own at `{path}`, not committed yet"), "use another path")),
    }
}

fn ignored_path(_: &Session, request: &Request<'_>, _: &Limits<'_>) -> Result<(), Refusal> {
    match request.ignored.first() {
        None => Ok(()),
        Some(path) => Err(Rule::IgnoredPath.refuse(
            format!("git ignores `{path}`, so what is in it would be tested and not kept"),
            "use a path that is not ignored",
        )),
    }
}

fn target_fence(_: &Session, request: &Request<'_>, limits: &Limits<'_>) -> Result<(), Refusal> {
    limits.fence.map_or(Ok(()), |fence| fence.check(request.edits.iter().flat_map(edits::paths)))
}

fn budget(session: &Session, _: &Request<'_>, limits: &Limits<'_>) -> Result<(), Refusal> {
    let standing = session.standing();
    if let Some(pause) = standing.pause() {
        return Err(Rule::Budget.refuse(format!("the machine is paused: {}", pause.reason), pause.next.clone()));
    }
    let usage = standing.usage();
    if limits.max_tokens.is_some_and(|most| usage.tokens() >= most) {
        let reason = format!("all tokens are spent: {}", usage.tokens());
        return Err(Rule::Budget.refuse(reason, "raise `llm.budget.tokens`"));
    }
    if limits.max_micro_usd.is_some_and(|most| usage.micro_usd >= most) {
        return Err(Rule::Budget.refuse("all money is spent", "raise `llm.budget.usd`"));
    }
    let Some(step) = standing.step() else { return Ok(()) };
    let spent = standing.spent(&step.subject());
    if spent >= limits.max_attempts {
        return Err(Rule::Budget.refuse(format!("all {spent} attempts are spent"), "`tdd-cli resume` tries again"));
    }
    Ok(())
}

fn refactor_mode(session: &Session, _: &Request<'_>, _: &Limits<'_>) -> Result<(), Refusal> {
    match (session.standing().step(), session.standing().refactor()) {
        (Some(step), Some(_)) if step.free => Ok(()),
        (Some(step), None) if step.free => {
            let reason = format!("step {} belongs to refactor mode, and that is over", step.step);
            Err(Rule::RefactorMode.refuse(reason, "`tdd-cli plan run` begins it anew"))
        }
        (Some(step), Some(_)) => Err(Rule::RefactorMode.refuse(
            format!("refactor mode is on, and step {} is under way", step.step),
            "`tdd-cli refactor end` first",
        )),
        (None, _) | (_, None) => Ok(()),
    }
}

/// What kind of change is asked for: that of the step under way, unless that is in refactor mode; outside of a step one that touches
/// production is a green and any other a red. In refactor mode there is no such kind.
fn phase(session: &Session, request: &Request<'_>) -> Option<Phase> {
    match (session.standing().step(), session.standing().refactor()) {
        (Some(step), _) if step.free => None,
        (Some(step), _) => Some(step.phase),
        (None, Some(_)) => None,
        (None, None) if request.change.production.is_empty() => Some(Phase::Red),
        (None, None) => Some(Phase::Green),
    }
}

fn steering_frozen(session: &Session, request: &Request<'_>, _: &Limits<'_>) -> Result<(), Refusal> {
    phase(session, request).map_or(Ok(()), |_| scope::steering_frozen(request.change))
}

fn phase_scope(session: &Session, request: &Request<'_>, _: &Limits<'_>) -> Result<(), Refusal> {
    match phase(session, request) {
        Some(Phase::Red | Phase::RethinkTest) => scope::red_changes_tests_only(request.change),
        Some(Phase::Refactor) => scope::one_side_only(request.change),
        Some(Phase::Green) | None => Ok(()),
    }
}

fn tests_frozen(session: &Session, request: &Request<'_>, _: &Limits<'_>) -> Result<(), Refusal> {
    let change = request.change;
    match phase(session, request) {
        Some(Phase::Red) => scope::tests_frozen_at_red(change),
        Some(Phase::Green) => scope::green_changes_production_only(change),
        Some(Phase::Refactor) => scope::tests_kept(change).and_then(|()| scope::support_kept(change)),
        Some(Phase::RethinkTest) => {
            let target = session.standing().step().and_then(|step| step.targets.first());
            let Some(target) = target else { return scope::tests_frozen(change) };
            if session.standing().is_to_be_mended(target) {
                return scope::mends_one_test(change, target);
            }
            let was_green = session.tests().get(target).is_some_and(|known| known.was_green);
            scope::rethink_changes_one_test(change, target, was_green)
        }
        // A person may do to tests what they like; a model never may.
        None if session.standing().step().is_some() => scope::tests_frozen(change),
        None => Ok(()),
    }
}

fn one_behaviour(session: &Session, request: &Request<'_>, limits: &Limits<'_>) -> Result<(), Refusal> {
    match phase(session, request) {
        Some(Phase::Red) => scope::one_behaviour(request.change, limits.max_new_tests),
        Some(Phase::Green | Phase::Refactor | Phase::RethinkTest) | None => Ok(()),
    }
}

/// The tests that a green is for: the step's own, or, outside of a step, every red one.
fn targets(session: &Session) -> Vec<&TestId> {
    match session.standing().step() {
        Some(step) => step.targets.iter().collect(),
        None => session.red().collect(),
    }
}

fn red_first(session: &Session, request: &Request<'_>, _: &Limits<'_>) -> Result<(), Refusal> {
    if phase(session, request) != Some(Phase::Green) {
        return Ok(());
    }
    let targets = targets(session);
    if targets.is_empty() {
        let next = "write a test that fails, and let the machine see it: `tdd-cli validate-red`";
        return Err(Rule::RedFirst.refuse("production code changes only for a red test, and there is none", next));
    }
    targets.into_iter().try_for_each(|target| judge_claim(session, target))
}

fn claim_after_red(session: &Session, request: &Request<'_>, _: &Limits<'_>) -> Result<(), Refusal> {
    if phase(session, request) != Some(Phase::Green) {
        return Ok(());
    }
    let seen_red = |test: &TestId| session.tests().get(test).and_then(|known| known.red.as_ref()).map(|red| red.at);
    let claimed = |test: &&TestId| session.standing().claimed_at(test) > seen_red(test);
    let targets = targets(session);
    if targets.iter().any(claimed) {
        return Ok(());
    }
    let names: Vec<_> = targets.iter().map(|test| format!("`{test}`")).collect();
    let next = format!("claim {} first", names.join(" or "));
    Err(Rule::ClaimAfterRed.refuse("the change does not say which red test it is for", next))
}

/// Judges edits by themselves, path by path: all of them or none. `kata` is the file that says what to build.
pub fn judge_edits(edits: &[Edit], kata: &str) -> Verdict {
    match check_edits(edits, kata) {
        Ok(edits) => Verdict::Permit(Permit { edits }),
        Err(refusal) => Verdict::Refuse(refusal),
    }
}

/// Leave to do what a person said about one test: remove it, mark it as skipped, or take that mark away. `change`
/// is what the edit would do; where that is more than this, the answer is no.
pub fn permit_person(edit: &Edit, change: &Change, test: &TestId, kata: &str) -> Verdict {
    let permitted = check_edits(std::slice::from_ref(edit), kata);
    match permitted.and_then(|edits| scope::one_test_only(change, test).map(|()| edits)) {
        Ok(edits) => Verdict::Permit(Permit { edits }),
        Err(refusal) => Verdict::Refuse(refusal),
    }
}

/// Leave to add files that are not there yet: what `init` does on a person's behalf. Git's folder and
/// the machine's own state stay out of reach; existing files stay as they are.
pub fn permit_scaffold<P, C>(files: impl IntoIterator<Item = (P, C)>) -> Verdict
where
    P: AsRef<str>,
    C: Into<String>,
{
    let mut edits = Vec::new();
    for (path, content) in files {
        let path = match own_path(path.as_ref()) {
            Ok(path) => path,
            Err(error) => return Verdict::Refuse(path_refusal(&error)),
        };
        edits.push(PermittedEdit { path, action: PermittedAction::Create(content.into()) });
    }
    Verdict::Permit(Permit { edits })
}
