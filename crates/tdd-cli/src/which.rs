//! The options that say which change is judged.

use clap::Args;
use tdd_exec::workshop;

/// Which change is judged.
#[derive(Clone, Debug, Default, Args)]
pub struct Which {
    /// Judge this commit, in a clean copy, instead of the working tree
    #[arg(long, value_name = "COMMIT")]
    pub at: Option<String>,
    /// Compare with this revision; by default HEAD if the tree is dirty, else its parent
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
}

impl Which {
    /// Converts the options for the workshop.
    pub fn change(&self) -> workshop::Which {
        workshop::Which { at: self.at.clone(), base: self.base.clone() }
    }
}
