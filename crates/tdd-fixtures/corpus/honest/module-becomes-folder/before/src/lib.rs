//! Sums.

mod sums;

pub use sums::{add, double};
