//! Models and their servers. Knows nothing about test-driven development.

pub mod budget;
pub mod cassette;
pub mod client;
pub mod continuation;
pub mod error;
pub mod http;
pub mod model;
pub mod probe;
mod reader;
pub mod recorder;
mod refusal;
pub mod replay;
mod reply;
mod request;
mod retry;
pub mod route;
mod server_capabilities;
pub mod stop;
mod transport;
