//! The hands of the machine: processes, git, files, the ledger. They act; they decide nothing.

pub mod git;
pub mod ledger;
pub mod process;
pub mod state;
pub mod workspace;
