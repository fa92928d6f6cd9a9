//! A repository's programs: finds them, measures them, iterates them and keeps their memory.

mod brief;
mod error;
mod evaluate;
pub mod found;
mod iterate;
mod judge;
mod look;
mod memory;

use tdd_core::config::Config;
use tdd_core::seam::Clock as _;

pub use error::ProgramError;
pub use iterate::{Progress, Worker};
pub use look::Look;
pub use memory::Memory;

use crate::clock::WallClock;
use crate::error::WorkError;
use crate::git::{Repo, Signature};
use crate::process::Spawner;
use crate::project::{self, RunControl, UserPaths};
use found::ProgramFiles;

/// What every operation on programs needs.
pub struct ProgramContext {
    /// The folder and configuration that the user named.
    pub user_paths: UserPaths,
    /// How to stop, and how to show progress.
    pub control: RunControl,
    /// The repository.
    pub repo: Repo,
    /// The repository's configuration.
    pub config: Config,
}

impl ProgramContext {
    /// Opens the repository around the user's folder.
    pub fn open(user_paths: UserPaths, control: RunControl) -> Result<Self, WorkError> {
        let repo = project::repository(&user_paths)?;
        let config = project::configuration(&user_paths, repo.root())?.config;
        Ok(Self { user_paths, control, repo, config })
    }

    /// A program's memory, synced with the given remote, else the one in its front matter, else none.
    pub fn memory<'d>(&'d self, found: &'d ProgramFiles, remote: Option<&str>) -> Memory<'d> {
        Memory {
            repo: &self.repo,
            found,
            author: self.signature(),
            spawner: self.git_spawner(),
            remote: remote.map(str::to_owned).or_else(|| found.definition.remote.clone()),
        }
    }

    fn signature(&self) -> Signature {
        let author = &self.config.commit;
        let seconds = WallClock.now_ms() / 1000;
        Signature {
            name: author.author_name.clone(),
            email: author.author_email.clone(),
            time: i64::try_from(seconds).unwrap_or(0),
        }
    }

    /// Starts a program's scripts; they see no secrets.
    fn spawner(&self) -> Spawner {
        self.control.spawner().with_root(self.repo.root())
    }

    /// Starts git for a remote, with access to the user's SSH agent.
    fn git_spawner(&self) -> Spawner {
        let agent = std::env::var("SSH_AUTH_SOCK").ok().map(|path| ("SSH_AUTH_SOCK".to_owned(), path));
        self.spawner().with_vars(agent)
    }
}
