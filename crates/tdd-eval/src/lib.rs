//! Measures what the machine adds to a model: the same exercises, solved by the machine and in one shot, and judged by
//! tests that the model never sees.

pub mod arm;
pub mod error;
pub mod evaluation;
pub mod exercise;
mod exercism;
mod folder;
mod machine;
mod one_shot;
pub mod results;
pub mod score;
pub mod statistics;
pub mod summary;
mod trial;

pub use arm::Arm;
pub use evaluation::{Cassettes, Evaluation, Order, Progress};
