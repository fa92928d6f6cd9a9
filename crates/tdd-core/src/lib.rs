//! The domain of the TDD machine: events, state, rules and decisions.
//!
//! Everything here is a pure function over values. Nothing touches files, processes, the clock, the environment or the
//! network; those come in as arguments or stay behind the traits of [`seam`].

pub mod account;
pub mod antipattern;
pub mod audit;
pub mod change;
pub mod check;
pub mod command;
pub mod commit;
pub mod config;
pub mod coverage;
pub mod cycle;
pub mod digest;
pub mod event;
pub mod evidence;
pub mod gate;
pub mod judge;
pub mod law;
pub mod machine;
pub mod machine_state;
pub mod merge;
pub mod path;
pub mod pipeline;
pub mod plan;
pub mod program;
pub mod proof;
pub mod quote;
pub mod recent;
pub mod refactor_hints;
pub mod report;
pub mod requirements;
pub mod rule;
pub mod scope;
pub mod seam;
pub mod session;
pub mod shortage;
pub mod signature;
pub mod signs;
pub mod strength;
pub mod test_id;
pub mod triples;
pub mod visible;
pub mod words;
mod yagni;
