//! What the machine knows of each language: how a project is recognised, which commands it needs,
//! what its runner's output means, and where the tests are in a source file.
//!
//! One folder per language behind [`language::Language`]; nothing here touches the world. A test run is a
//! conversation ([`language::Suite`]): the language names commands, somebody else runs them and hands back what
//! they printed, until there is a report.

pub mod item;
pub mod language;
pub mod rust;
pub mod twin;
