//! The parts that a model plays, as data: its role, its allowed actions and the fields of its answer.

use tdd_core::cycle::{Phase, Role, Turn};

use crate::language;

/// One part: a role in a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The phase of the commit that the part leads to.
    pub phase: Phase,
    /// The role that plays the part.
    pub role: Role,
    /// The name of its prompt, and of its calls in a cassette.
    pub name: &'static str,
    /// Whether an answer without edits is invalid.
    pub must_edit: bool,
    /// The edit actions it may use, out of [`ACTIONS`].
    pub actions: &'static [&'static str],
    /// The text fields of its answer besides the edits.
    pub fields: &'static [&'static str],
}

/// All edit actions.
pub const ACTIONS: [&str; 4] = ["upsert", "replace", "rename", "delete"];

const PARTS: [Part; 4] = [
    Part {
        phase: Phase::Red,
        role: Role::Tester,
        name: "tester",
        must_edit: true,
        actions: &["upsert", "replace"],
        fields: &["summary", "rationale"],
    },
    Part {
        phase: Phase::Green,
        role: Role::Implementor,
        name: "implementor",
        must_edit: true,
        actions: &ACTIONS,
        fields: &["summary", "rationale", "commit_message"],
    },
    Part {
        phase: Phase::Refactor,
        role: Role::Refactorer,
        name: "refactorer",
        must_edit: false,
        actions: &ACTIONS,
        fields: &["summary", "rationale"],
    },
    Part {
        phase: Phase::RethinkTest,
        role: Role::Tester,
        name: "rethink",
        must_edit: false,
        actions: &["upsert", "replace", "delete"],
        fields: &["summary", "rationale", "reason", "spec_source"],
    },
];

/// Does a task of a plan in refactor mode. It is outside of the cycle, so [`Part::of`] never returns it.
const EXECUTOR: Part = Part {
    phase: Phase::Refactor,
    role: Role::Refactorer,
    name: "executor",
    must_edit: false,
    actions: &ACTIONS,
    fields: &["summary", "rationale"],
};

/// The tester that repairs a test after the check command or the compiler complained about it.
const MENDER: Part = Part {
    phase: Phase::RethinkTest,
    role: Role::Tester,
    name: "mend",
    must_edit: false,
    actions: &["upsert", "replace"],
    fields: &["summary", "rationale", "reason"],
};

impl Part {
    /// The part that plays a turn.
    pub fn on(turn: &Turn) -> Self {
        match turn {
            Turn::Task { .. } => EXECUTOR,
            Turn::Rethink { mend: true, .. } => MENDER,
            Turn::Red { .. } | Turn::Green { .. } | Turn::Rethink { .. } | Turn::Refactor { .. } => {
                Self::of(turn.phase())
            }
        }
    }

    /// The part of the cycle that commits in this phase.
    pub fn of(phase: Phase) -> Self {
        let [tester, implementor, refactorer, rethink] = PARTS;
        match phase {
            Phase::Red => tester,
            Phase::Green => implementor,
            Phase::Refactor => refactorer,
            Phase::RethinkTest => rethink,
        }
    }

    /// The task of a tester or implementor who answers in fenced files, with the file that the answer belongs in.
    pub fn short_aim(self, path: Option<&str>, target: Option<&str>) -> Option<String> {
        match (self.phase, path, target) {
            (Phase::Red, Some(path), None) => Some(format!("Write the tests that are missing, in `{path}`.")),
            (Phase::Green, path, Some(id)) => {
                let place = path.map_or_else(|| "the production code".to_owned(), |path| format!("`{path}`"));
                Some(format!("Write {place}, so that `{id}` passes and the code does all that the kata says."))
            }
            (Phase::Red | Phase::Green | Phase::Refactor | Phase::RethinkTest, _, _) => None,
        }
    }

    /// The part's task in one or two sentences, with its target test.
    pub fn aim(self, language: &str, target: Option<&str>) -> String {
        if let (Phase::Red, Some(id)) = (self.phase, target) {
            return format!("Write the test `{id}`, and no other. It must fail today.");
        }
        let target = target.map_or_else(|| "the failing test".to_owned(), |id| format!("`{id}`"));
        match self.phase {
            Phase::Red => format!(
                "Write one new test that fails today, for the simplest thing that the kata asks for and no test shows \
                 yet. {} An existing file keeps everything that is in it; you may also add a new file.",
                language::test_place(language)
            ),
            Phase::Green => {
                format!(
                    "Write the least production code that works out what {target} asks for, so that it passes. Every test \
                     stays as it is, and the others keep passing."
                )
            }
            Phase::Refactor if self == EXECUTOR => {
                "Do the task, and nothing beside it. Every existing test stays as it is and passes.".to_owned()
            }
            Phase::Refactor => "Improve one thing, or nothing. Every test stays as it is and passes.".to_owned(),
            Phase::RethinkTest if self == MENDER => {
                format!("Fix what the check complains about in {target}, and leave every assertion as it is.")
            }
            Phase::RethinkTest => format!("Read the kata again and decide about {target}. Change that one test only."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phase_has_its_own_part() {
        for phase in Phase::ALL {
            assert_eq!(Part::of(phase).phase, phase);
        }
        assert_eq!(Part::of(Phase::RethinkTest).role, Role::Tester);
        assert_eq!(Part::on(&Turn::Refactor { attempt: 1 }).name, "refactorer");
        assert_eq!(Part::on(&Turn::Task { attempt: 1 }).name, "executor");
    }

    #[test]
    fn the_aim_names_the_target() {
        assert!(Part::of(Phase::Green).aim("rust", Some("tests/a.rs::adds")).contains("`tests/a.rs::adds`"));
        assert!(Part::of(Phase::Red).aim("rust", Some("tests/a.rs::adds")).contains("`tests/a.rs::adds`"));
        assert!(Part::of(Phase::Green).aim("rust", None).contains("the failing test"));
        assert!(Part::of(Phase::Red).aim("rust", None).contains("`tests/<topic>.rs`"));
    }
}
