//! The repository's promises, each held against the git program itself.
#![expect(clippy::expect_used, reason = "what the tests stand on may stop them")]

mod commit;
mod history;
mod hostile;
mod restore;
mod sandbox;
mod status;
mod tree;
mod worktree;
