//! Reads the log of a lift.

/// What a log tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ride {
    /// Where the lift is at the end.
    pub floor: i32,
    /// All floors that it moved.
    pub travelled: u32,
    /// The highest floor it was on.
    pub highest: i32,
    /// Where the doors opened.
    pub stops: Vec<i32>,
}

/// Reads a log, or returns the entry that cannot be read.
pub fn ride(log: &str) -> Result<Ride, String> {
    todo!("{log}")
}
