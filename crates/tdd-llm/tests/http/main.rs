//! Tests the client against a loopback server that misbehaves like real servers, or worse.

#![expect(clippy::unwrap_used, reason = "a server that cannot be started has failed the test")]

mod cassettes;
mod continuation;
mod deadlines;
mod forms;
mod probes;
mod refusals;
mod retries;
mod server;
mod streams;
