//! Tests whole runs: the real program, real cargo and git, and a scripted model server on loopback.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod arrivals;
mod cheats;
mod files;
mod happy;
mod inherited;
mod kata;
mod limits;
mod logs;
mod mending;
mod people;
mod plans;
mod prefix;
mod rethink;
mod samples;
mod stage;
mod tools;
mod trouble;
