//! Tests of the git module, compared with the git program itself.
#![expect(clippy::expect_used, reason = "what the tests stand on may stop them")]

mod again;
mod commit;
mod history;
mod hostile;
mod memory;
mod restore;
mod sandbox;
mod status;
mod take_back;
mod tree;
mod withdraw;
mod worktree;
