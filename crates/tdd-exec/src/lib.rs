//! Acts for the machine on processes, git, files and the ledger, and decides nothing.

pub mod clock;
pub mod counterproof;
mod disk_space;
pub mod error;
pub mod git;
mod installed;
pub mod layout;
pub mod ledger;
pub mod one_test;
pub mod process;
pub mod program;
pub mod project;
pub mod recording;
pub mod remote;
pub mod runner;
pub mod scratch;
pub mod setup;
pub mod sources;
pub mod state;
pub mod tally;
pub mod text;
pub mod triples;
pub mod vcs;
pub mod views;
mod walk;
pub mod workshop;
pub mod workspace;
