//! Tests that for any bad input the machine prints an error with a hint and changes nothing.
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
