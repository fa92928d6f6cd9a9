//! The gate before the effect: a request either becomes a [`Permit`] or a refusal that says what to do.
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
    /// Write a file that is not there yet; one that is there stays as it is.
    Create {
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
pub enum Decision {
    /// Go ahead.
    Permit(Permit),
    /// No.
    Refuse(Refusal),
}

/// Who wants to change files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker<'a> {
    /// A model, in a step or through another door.
    Model,
    /// A person, about this one test.
    Person(&'a TestId),
    /// `init` and its kin, on behalf of a person: what they add.
    Scaffold,
}

/// What a rethink rests on: a test changes only where the kata proves it wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A sentence of the kata, or a file of the project, proves it.
    Proven,
    /// Nothing was quoted.
    Empty,
    /// What was quoted is not there.
    Unfounded,
}

/// A wish to change files, with what it would come to.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Whose wish it is.
    pub speaker: Speaker<'a>,
    /// Nothing more is to come: rules about what must be there are asked too.
    pub finished: bool,
    /// What a rethink rests on.
    pub source: Source,
    /// The edits.
    pub edits: &'a [Edit],
    /// What they would do to the tree that the step started from.
    pub change: &'a Change,
    /// Those of their paths where something is in the way.
    pub obstructed: &'a Obstructed,
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
    /// Files that say what to do, and that only a person changes.
    pub protected: &'a [String],
    /// The test that a red must bring, and the file that it belongs in.
    pub wanted: Option<(&'a TestId, &'a str)>,
}

impl<'a> Limits<'a> {
    /// No limits but the path of the kata.
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
    /// A model's finished wish, with nothing in its way.
    pub fn of_model(edits: &'a [Edit], change: &'a Change) -> Self {
        let (speaker, source) = (Speaker::Model, Source::Proven);
        Self { speaker, finished: true, source, edits, change, obstructed: &NOTHING_IN_THE_WAY }
    }
}

/// All that the rules of the gate look at.
#[derive(Clone, Copy, Debug)]
pub struct GateInput<'a> {
    /// What kind of change it would be.
    pub kind: Kind,
    /// What happened so far.
    pub session: &'a Session,
    /// The wish.
    pub request: &'a Request<'a>,
    /// What else the rules depend on.
    pub limits: &'a Limits<'a>,
}

/// Judges a request before it touches the disk: all of it or nothing. No other function makes a permit.
pub fn judge(session: &Session, request: &Request<'_>, limits: &Limits<'_>) -> Decision {
    let asked = GateInput { kind: kind(session, request), session, request, limits };
    let exceptions = |rule| session.standing().exception(rule, limits.now_ms);
    let target = match request.speaker {
        Speaker::Person(test) => Some(test),
        Speaker::Model | Speaker::Scaffold => session.standing().step().and_then(|step| step.targets.first()),
    };
    let was_green = target.and_then(|test| session.tests().get(test)).is_some_and(|known| known.was_green);
    let most = std::num::NonZeroU32::new(limits.max_new_tests).unwrap_or(std::num::NonZeroU32::MIN);
    let gate = Gate { max_new_tests: most, ..Gate::default() };
    let subject = Subject { kind: asked.kind, target, targets: &[], was_green, gate: &gate };
    let permitted = RuleRunner::new(&exceptions).ask_request(&asked, &subject);
    match permitted.and_then(|()| request.edits.iter().map(|edit| edits::permitted(edit, request.speaker)).collect()) {
        Ok(edits) => Decision::Permit(Permit { edits }),
        Err(refusal) => Decision::Refuse(refusal),
    }
}

/// Whether edits are legal by themselves, path by path: asked before anything is read or laid out by them.
pub fn check_edits(edits: &[Edit], kata: &str) -> Result<(), Refusal> {
    let (session, change) = (Session::default(), Change::default());
    let request = Request::of_model(edits, &change);
    let asked = GateInput { kind: Kind::Red, session: &session, request: &request, limits: &Limits::of_kata(kata) };
    RuleRunner::new(crate::law::NO_EXCEPTIONS).ask_edits(&asked)
}

/// What kind of change is asked for: that of the step under way; outside of a step one that touches production is a
/// green and any other a red.
fn kind(session: &Session, request: &Request<'_>) -> Kind {
    match request.speaker {
        Speaker::Scaffold => return Kind::Scaffold,
        Speaker::Person(_) => return Kind::OneTest,
        Speaker::Model => {}
    }
    let standing = session.standing();
    match (standing.step(), standing.refactor()) {
        // Before anything is run, the rules for the tasks of both types of plan are the same.
        (Some(step), _) if step.free => Kind::Task,
        (Some(step), _) => match step.phase {
            Phase::Red => Kind::Red,
            Phase::Green => Kind::Green,
            Phase::Refactor => Kind::Refactor,
            Phase::RethinkTest => match step.targets.first() {
                Some(target) if standing.is_to_be_mended(target) => Kind::Mend,
                Some(_) | None => Kind::Rethink,
            },
        },
        (None, Some(_)) => Kind::RefactorMode,
        (None, None) if request.change.production.is_empty() => Kind::Red,
        (None, None) => Kind::Green,
    }
}

/// Judges a claim: only a test whose last run failed for a valid cause can be claimed. A red of long ago, of
/// a test that has since passed or fails for another cause now, is none.
pub fn judge_claim(session: &Session, test: &TestId) -> Result<(), Refusal> {
    let next = "claim the red test of this step; `tdd-cli status` names the red ones";
    match session.tests().get(test) {
        Some(known) if known.status == Status::Pass => Err(Rule::RedFirst
            .refuse(format!("`{test}` passes, so there is nothing to implement for it"), next)
            .about(test)),
        Some(known) if known.cause.is_some_and(Cause::is_valid_red) => Ok(()),
        Some(TestRecord { red: Some(red), digest, .. }) if red.digest != *digest => {
            let reason = format!("`{test}` has changed since it was seen to fail");
            Err(Rule::RedFirst.refuse(reason, "prove its red again with `tdd-cli validate-red`").about(test))
        }
        Some(_) | None => Err(Rule::RedFirst
            .refuse(format!("the machine has not seen `{test}` fail for a valid cause"), next)
            .about(test)),
    }
}

/// Leave to do what a person said about one test: remove it, mark it as skipped, or take that mark away. `change`
/// is what the edit would do; where that is more than this, the answer is no.
pub fn permit_person(edit: &Edit, change: &Change, test: &TestId, kata: &str) -> Decision {
    let request = Request { speaker: Speaker::Person(test), ..Request::of_model(std::slice::from_ref(edit), change) };
    judge(&Session::default(), &request, &Limits::of_kata(kata))
}

/// Leave to add files that are not there yet: what `init` does on a person's behalf. Git's folder and
/// the machine's own state stay out of reach; existing files stay as they are.
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
