//! `program`: work that goes on by itself, iteration by iteration, under the same gates.

mod brief;
mod check;
pub mod error;
mod evaluate;
mod found;
mod iterate;
mod judge;
mod list;
mod memory;
mod new;
mod resume;
mod run;
mod status;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use tdd_core::config::Config;
use tdd_exec::git::{Repo, Signature};
use tdd_exec::process::Spawner;

use crate::context::Context;
use crate::error::CliError;
use crate::project;
use found::Found;
use memory::Memory;

/// Set up, check, run and steer programs
///
/// A program is a folder `.autoloop/programs/<name>/` that says what is to be done, which files may be touched and how
/// it is measured. What it remembers is on the branch `memory/autoloop`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tdd-cli program new port --strategy test-driven\n  tdd-cli program run port --iterations 3\n  tdd-cli program run --due"
)]
pub struct Program {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    New(new::New),
    Check(check::Check),
    List(list::List),
    Status(status::Status),
    Run(run::Run),
    Pause(resume::Pause),
    Resume(resume::Resume),
}

pub fn run(args: &Program, context: &Context) -> Result<ExitCode, CliError> {
    match &args.what {
        What::New(args) => new::run(args, context),
        What::Check(args) => check::run(args, context),
        What::List(list::List {}) => list::run(context),
        What::Status(args) => status::run(args, context),
        What::Run(args) => run::run(args, context),
        What::Pause(args) => resume::pause(args, context),
        What::Resume(args) => resume::resume(args, context),
    }
}

/// What every command about programs needs.
struct Desk<'a> {
    context: &'a Context,
    repo: Repo,
    config: Config,
}

impl<'a> Desk<'a> {
    fn open(context: &'a Context) -> Result<Self, CliError> {
        let repo = project::repository(&context.global)?;
        let config = project::configuration(&context.global, repo.root())?.config;
        Ok(Self { context, repo, config })
    }

    /// The memory of a program; without a remote, or with this one, or with the one that its front matter names.
    fn memory<'d>(&'d self, found: &'d Found, remote: Option<&str>) -> Memory<'d> {
        Memory {
            repo: &self.repo,
            found,
            author: self.signature(),
            spawner: self.git_spawner(),
            remote: remote.map(str::to_owned).or_else(|| found.definition.remote.clone()),
        }
    }

    fn signature(&self) -> Signature {
        use tdd_core::seam::Clock as _;
        let author = &self.config.commit;
        let seconds = tdd_exec::clock::WallClock.now_ms() / 1000;
        Signature {
            name: author.author_name.clone(),
            email: author.author_email.clone(),
            time: i64::try_from(seconds).unwrap_or(0),
        }
    }

    /// What starts a program's scripts: they see no secrets.
    fn spawner(&self) -> Spawner {
        Spawner::new(self.repo.root(), std::env::vars_os()).with_cancel(self.context.cancel.clone())
    }

    /// What starts git for a remote: it may ask the user's agent for their key.
    fn git_spawner(&self) -> Spawner {
        let agent = std::env::var("SSH_AUTH_SOCK").ok().map(|path| ("SSH_AUTH_SOCK".to_owned(), path));
        self.spawner().with_vars(agent)
    }
}
