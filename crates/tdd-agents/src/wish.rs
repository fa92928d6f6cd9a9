//! What a model wishes, whichever way it said so: an edit plan and tool calls come to the same.

use tdd_core::event::PlannedStep;
use tdd_core::gate::Edit;
use tdd_core::seam::StepResult;
use tdd_core::test_id::TestId;

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// To see a file.
    Read {
        /// Which.
        path: String,
    },
    /// To see the names of files.
    List {
        /// Below this folder, or all of them.
        under: Option<String>,
    },
    /// To see where a text stands.
    Search {
        /// The text, as it is.
        text: String,
        /// Below this folder, or everywhere.
        under: Option<String>,
    },
    /// To say what it means to do.
    Plan {
        /// In its words.
        text: String,
        /// Step by step.
        steps: Vec<PlannedStep>,
    },
    /// To change a file for the sake of a test.
    Claim {
        /// The test.
        test: TestId,
        /// The file.
        target: String,
    },
    /// To change a file.
    Edit(Edit),
    /// To have the tests run at the end of this turn: these, or all if none is named.
    RunTests {
        /// Which.
        tests: Vec<TestId>,
    },
    /// To end the turn and have it judged.
    Finish(Box<StepResult>),
}
