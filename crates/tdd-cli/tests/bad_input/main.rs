//! Whatever is wrong around the machine, it says so with a way out and changes nothing.
#![expect(clippy::expect_used, reason = "what the tests stand on may stop them")]

mod config;
mod init;
mod interrupted;
mod kata;
mod ledger;
mod machine;
mod repository;
mod surroundings;
mod usage;
