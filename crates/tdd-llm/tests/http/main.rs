//! The client against a server on loopback that does what real servers do, and worse.

#![expect(clippy::unwrap_used, reason = "a server that cannot be started has failed the test")]

mod cassettes;
mod deadlines;
mod forms;
mod probes;
mod refusals;
mod retries;
mod server;
mod streams;
mod whole;
