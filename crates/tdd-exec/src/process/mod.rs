//! The only module that starts child processes. When a command ends, its whole process tree ends.
//!
//! Each command runs under a small supervisor: our own program, started again with [`SUPERVISE`] as its first argument.
//! The supervisor adopts every process that the command leaves behind, and kills them when the command ends, when the
//! caller asks for it, and when the caller dies.

mod cancel;
mod capture;
mod descendants;
mod env;
mod error;
mod report;
mod run;
mod run_dirs;
mod spawner;
mod supervisor;

pub use cancel::Cancel;
pub use env::scrub;
pub use error::ProcessError;
pub use run::{run, spent};
pub use spawner::{Isolation, Spawner, own_program};
pub use supervisor::{SUPERVISE, supervise_if_asked};
