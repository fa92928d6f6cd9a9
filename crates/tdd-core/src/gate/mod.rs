//! The gate before anything is written: a request becomes either a [`Permit`] or a refusal with a next move.
//!
//! The only function that writes a project file consumes a [`Permit`], and only this module makes one:
//!
//! ```compile_fail,E0451
//! let forged = tdd_core::gate::Permit { edits: Vec::new() };
//! ```

pub(crate) mod edits;
mod preview;
pub(crate) mod request;
#[cfg(test)]
mod tests;

use crate::change::Change;
use crate::config::Gate;
use crate::cycle::Phase;
use crate::event::Status;
use crate::law::{Kind, RuleRunner, Subject};
use crate::path::ConfinedPath;
use crate::program::fence::Fence;
use crate::report::Cause;
use crate::rule::{Refusal, Rule};
use crate::seam::Obstructed;
use crate::session::{Session, TestRecord};
use crate::test_id::TestId;

pub use edits::{MAX_FILE, MAX_REQUEST};
pub use preview::{Files, preview, replace_once};

/// One requested change to one file. Nothing in it has been checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The requested path.
    pub path: String,
    /// What to do with it.
    pub action: Action,
}

/// What an edit does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Write the whole content, whether or not the file exists.
    Upsert {
        /// The new content.
        content: String,
    },
    /// Create a file; an existing file stays as it is.
    Create {
        /// The new content.
        content: String,
    },
    /// Remove the file.
    Delete,
    /// Move the file.
    Rename {
        /// The requested new path.
        to: String,
    },
    /// Replace the only occurrence of `find`.
    Replace {
        /// The text to find; it must occur exactly once.
        find: String,
        /// The replacement.
        content: String,
    },
}

/// Permission to make exactly these changes. Only the gate makes one.
#[derive(Debug)]
#[must_use]
pub struct Permit {
    edits: Vec<PermittedEdit>,
}

/// One change that the gate permitted.
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
    /// Write the whole content, whether or not the file exists.
    Upsert(String),
    /// Create a file; an existing file stays as it is.
    Create(String),
    /// Remove the file.
    Delete,
    /// Move the file.
    Rename(ConfinedPath),
    /// Replace the only occurrence of `find`.
    Replace {
        /// The text to find.
        find: String,
        /// The replacement.
        content: String,
    },
}

impl Permit {
    /// The permitted edits; this uses up the permit.
    pub fn into_edits(self) -> Vec<PermittedEdit> {
        self.edits
    }
}

/// The answer to a request.
#[derive(Debug)]
#[must_use]
pub enum Decision {
    /// The edits may be written.
    Permit(Permit),
    /// The edits may not be written.
    Refuse(Refusal),
}

/// Who requests a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker<'a> {
    /// A model, in a step or through another command.
    Model,
    /// A person, who changes this one test.
    Person(&'a TestId),
    /// `init` and similar commands that add files for a person.
    Scaffold,
}

/// The evidence for a rethink: a test changes only if the kata proves it wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A sentence of the kata, or a file of the project, proves it.
    Proven,
    /// There is no quotation.
    Empty,
    /// The quotation is not in the kata.
    Unfounded,
}

/// A request to change files, with its effect.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Who requests it.
    pub speaker: Speaker<'a>,
    /// The request is complete, so rules about what must be there apply, too.
    pub finished: bool,
    /// The evidence for a rethink.
    pub source: Source,
    /// The edits.
    pub edits: &'a [Edit],
    /// What they would change in the tree that the step started from.
    pub change: &'a Change,
    /// The paths at which something is in the way.
    pub obstructed: &'a Obstructed,
}

/// What the rules depend on besides the session.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// The file that says what to build.
    pub kata: &'a str,
    /// The time, in milliseconds since 1970.
    pub now_ms: u64,
    /// Attempts that a role has in one step.
    pub max_attempts: u32,
    /// New tests that a red may bring.
    pub max_new_tests: u32,
    /// Tokens that may be spent in all.
    pub max_tokens: Option<u64>,
    /// Millionths of a US dollar that may be spent in all.
    pub max_micro_usd: Option<u64>,
    /// The files that a program may touch; `None` without a program.
    pub fence: Option<&'a Fence>,
    /// Spec files that only a person may change.
    pub protected: &'a [String],
    /// The test that a red must bring, and its file.
    pub wanted: Option<(&'a TestId, &'a str)>,
}

impl<'a> Limits<'a> {
    /// Only the path of the kata; everything else is unlimited.
    pub fn of_kata(kata: &'a str) -> Self {
        Self {
            kata,
            now_ms: 0,
            max_attempts: u32::MAX,
            max_new_tests: u32::MAX,
            max_tokens: None,
            max_micro_usd: None,
            fence: None,
            protected: &[],
            wanted: None,
        }
    }
}

static NOTHING_IN_THE_WAY: Obstructed =
    Obstructed { ignored: Vec::new(), untracked: Vec::new(), folders: Vec::new(), below_files: Vec::new() };

impl<'a> Request<'a> {
    /// A model's complete request, with nothing in the way.
    pub fn of_model(edits: &'a [Edit], change: &'a Change) -> Self {
        let (speaker, source) = (Speaker::Model, Source::Proven);
        Self { speaker, finished: true, source, edits, change, obstructed: &NOTHING_IN_THE_WAY }
    }
}

/// Everything that the gate's rules look at.
#[derive(Clone, Copy, Debug)]
pub struct GateInput<'a> {
    /// The kind of change.
    pub kind: Kind,
    /// The state of the ledger.
    pub session: &'a Session,
    /// The request.
    pub request: &'a Request<'a>,
    /// The limits.
    pub limits: &'a Limits<'a>,
}

/// Judges a request before anything is written: all edits or none. No other function makes a permit.
pub fn judge(session: &Session, request: &Request<'_>, limits: &Limits<'_>) -> Decision {
    let input = GateInput { kind: kind(session, request), session, request, limits };
    let exceptions = |rule| session.machine_state().exception(rule, limits.now_ms);
    let target = match request.speaker {
        Speaker::Person(test) => Some(test),
        Speaker::Model | Speaker::Scaffold => session.machine_state().step().and_then(|step| step.targets.first()),
    };
    let was_green = target.and_then(|test| session.tests().get(test)).is_some_and(|known| known.was_green);
    let most = std::num::NonZeroU32::new(limits.max_new_tests).unwrap_or(std::num::NonZeroU32::MIN);
    let gate = Gate { max_new_tests: most, ..Gate::default() };
    let subject = Subject { kind: input.kind, target, targets: &[], was_green, gate: &gate };
    let permitted = RuleRunner::new(&exceptions).ask_request(&input, &subject);
    match permitted.and_then(|()| request.edits.iter().map(|edit| edits::permitted(edit, request.speaker)).collect()) {
        Ok(edits) => Decision::Permit(Permit { edits }),
        Err(refusal) => Decision::Refuse(refusal),
    }
}

/// Whether edits are legal by themselves, path by path. It is called before any file is read by these paths.
pub fn check_edits(edits: &[Edit], kata: &str) -> Result<(), Refusal> {
    let (session, change) = (Session::default(), Change::default());
    let request = Request::of_model(edits, &change);
    let input = GateInput { kind: Kind::Red, session: &session, request: &request, limits: &Limits::of_kata(kata) };
    RuleRunner::new(crate::law::NO_EXCEPTIONS).ask_edits(&input)
}

/// The kind of change that is requested: that of the current step. Outside a step, all changes in refactor mode have
/// their own kind; otherwise a change of production is a green, and any other a red.
fn kind(session: &Session, request: &Request<'_>) -> Kind {
    match request.speaker {
        Speaker::Scaffold => return Kind::Scaffold,
        Speaker::Person(_) => return Kind::OneTest,
        Speaker::Model => {}
    }
    let state = session.machine_state();
    match (state.step(), state.refactor()) {
        // The gate's rules are the same for tasks of both plan types.
        (Some(step), _) if step.free => Kind::Task,
        (Some(step), _) => match step.phase {
            Phase::Red => Kind::Red,
            Phase::Green => Kind::Green,
            Phase::Refactor => Kind::Refactor,
            Phase::RethinkTest => match step.targets.first() {
                Some(target) if state.is_to_be_mended(target) => Kind::Mend,
                Some(_) | None => Kind::Rethink,
            },
        },
        (None, Some(_)) => Kind::RefactorMode,
        (None, None) if request.change.production.is_empty() => Kind::Red,
        (None, None) => Kind::Green,
    }
}

/// Judges a claim: a test can be claimed only if its last run failed for a valid cause. An older red does not count if
/// the test has passed since, or fails for another cause.
pub fn judge_claim(session: &Session, test: &TestId) -> Result<(), Refusal> {
    let next = "claim the red test of this step; `tdd-cli status` lists the red tests";
    match session.tests().get(test) {
        Some(known) if known.status == Status::Pass => Err(Rule::RedFirst
            .refuse(format!("`{test}` passes, so there is nothing to implement for it"), next)
            .about(test)),
        Some(known) if known.cause.is_some_and(Cause::is_valid_red) => Ok(()),
        Some(TestRecord { red: Some(red), digest, .. }) if red.digest != *digest => {
            let reason = format!("`{test}` has changed since it was seen to fail");
            Err(Rule::RedFirst
                .refuse(reason, "run `tdd-cli validate-red` again, so that the machine sees it fail")
                .about(test))
        }
        Some(_) | None => Err(Rule::RedFirst
            .refuse(format!("the machine has not seen `{test}` fail for a valid cause"), next)
            .about(test)),
    }
}

/// Permission for a person to change one test: remove it, skip it, or unskip it. Refused if `change`, the effect of the
/// edit, is anything more.
pub fn permit_person(edit: &Edit, change: &Change, test: &TestId, kata: &str) -> Decision {
    let request = Request { speaker: Speaker::Person(test), ..Request::of_model(std::slice::from_ref(edit), change) };
    judge(&Session::default(), &request, &Limits::of_kata(kata))
}

/// Permission for `init` to add files. Git's folder and our own state are refused; existing files stay as they are.
pub fn permit_scaffold<P, C>(files: impl IntoIterator<Item = (P, C)>) -> Decision
where
    P: AsRef<str>,
    C: Into<String>,
{
    let create = |(path, content): (P, C)| Edit {
        path: path.as_ref().to_owned(),
        action: Action::Create { content: content.into() },
    };
    let edits: Vec<Edit> = files.into_iter().map(create).collect();
    let change = Change::default();
    let request = Request { speaker: Speaker::Scaffold, ..Request::of_model(&edits, &change) };
    judge(&Session::default(), &request, &Limits::of_kata(""))
}
