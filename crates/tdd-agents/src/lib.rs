//! The three roles: prompts, conversations and parsing of answers. Agents touch no files; every change is a request to
//! the gate.

pub mod agent;
pub mod brief;
mod checklist;
mod cut;
pub mod failure;
pub mod files;
mod found;
pub mod language;
mod later;
pub mod models;
pub mod part;
pub mod prompts;
pub mod remarks;
pub mod reply;
mod resolve;
pub mod roster;
mod samples;
pub mod schema;
pub mod talk;
pub mod tool_request;
mod tool_turn;
pub mod tools;
mod trial;
