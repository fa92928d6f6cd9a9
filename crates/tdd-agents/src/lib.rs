//! The three roles as data. They have no hands: whatever they wish becomes a request to the gate.

pub mod roster;
