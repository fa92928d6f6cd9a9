//! The three roles as data. They have no hands: whatever they wish becomes a request to the gate.

pub mod brief;
mod cut;
pub mod failure;
mod found;
pub mod language;
pub mod part;
pub mod plan;
pub mod prompts;
pub mod reply;
pub mod roster;
pub mod schema;
pub mod talk;
pub mod tools;
pub mod wish;
pub mod words;
