//! A model's request, parsed from an edit plan or a tool call.

use tdd_core::event::PlannedStep;
use tdd_core::gate::Edit;
use tdd_core::seam::StepResult;
use tdd_core::test_id::TestId;

/// A request of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolRequest {
    /// Read a file.
    Read {
        /// The file.
        path: String,
    },
    /// List file names.
    List {
        /// The folder; all files if absent.
        under: Option<String>,
    },
    /// Search for a text.
    Search {
        /// The literal text.
        text: String,
        /// The folder; all files if absent.
        under: Option<String>,
    },
    /// Submit a plan.
    Plan {
        /// The plan as free text.
        text: String,
        /// The plan as steps.
        steps: Vec<PlannedStep>,
    },
    /// Claim that a change of a file is for a test.
    Claim {
        /// The test.
        test: TestId,
        /// The file to change.
        target: String,
    },
    /// Edit a file.
    Edit(Edit),
    /// Run tests after the other calls of the message.
    RunTests {
        /// The tests; all if empty.
        tests: Vec<TestId>,
    },
    /// End the turn, so that the change is judged.
    Finish(Box<StepResult>),
}
