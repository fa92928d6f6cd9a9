//! Models and where they are served. Knows nothing of test-driven development.

pub mod client;
pub mod route;
