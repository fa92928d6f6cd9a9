//! Tests programs: setup, many iterations, kills, and sharing between machines.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod checks;
mod example;
mod imported;
mod interrupt;
mod kill;
mod long;
mod others;
mod setup;
mod shared;
mod stage;
mod standing;
mod template;
