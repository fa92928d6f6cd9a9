//! The project's git repository, accessed in process: no git program, hook or filter is ever started.
//!
//! The user's staged, uncommitted and untracked work is read, never written. Our own files are in
//! `<git dir>/tdd-machine/`, our refs under `refs/tdd/`.

mod commit;
mod diff;
mod error;
mod head;
mod history;
mod listing;
mod look;
mod memory;
mod moving;
mod path;
mod private;
mod restore;
mod rules;
mod snapshot;
mod status;
mod take_back;
mod tracked;
mod user_index;
mod withdraw;
mod worktree;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use git2::{ErrorCode, Repository, RepositoryInitOptions, RepositoryOpenFlags};
use tdd_core::digest::TreeId;

pub use commit::{NewCommit, Signature};
pub use diff::{ChangeKind, FileKind, TreeChange};
pub use error::{GitError, Result};
pub use head::{FirstParents, Head};
pub use listing::{Listing, Stored};
pub use memory::Lineage;
pub use path::GitPath;
pub use status::Dirty;
pub use withdraw::{PersonsFile, PersonsFileNow, Withdrawal};
pub use worktree::Worktree;

use error::{Doing, DoingIo};
use listing::{Contents, KEPT_BYTES};
use look::Look;
use tracked::Tracked;

/// A git repository with a working tree.
pub struct Repo {
    git: Repository,
    root: PathBuf,
    last_look: RefCell<Option<Look>>,
    tracked: RefCell<Option<Arc<Tracked>>>,
    listings: RefCell<Vec<(TreeId, Arc<Listing>)>>,
    contents: RefCell<Contents>,
}

impl Repo {
    /// Opens the repository around this folder, searching upwards on the same file system; `None` if there is none.
    ///
    /// Git's owner check (`safe.directory`) stays on, for root as well: see [`GitError::ForeignOwner`]. Completes or
    /// drops a commit of ours that a kill interrupted.
    pub fn discover(dir: &Path) -> Result<Option<Self>> {
        let no_ceiling: [&Path; 0] = [];
        match Repository::open_ext(dir, RepositoryOpenFlags::empty(), no_ceiling) {
            Ok(git) => Self::new(git).map(Some),
            Err(source) if source.code() == ErrorCode::NotFound => Ok(None),
            Err(source) if source.code() == ErrorCode::Owner => Err(GitError::ForeignOwner { path: around(dir) }),
            Err(source) => Err(GitError::Open { path: dir.to_owned(), source }),
        }
    }

    /// Creates a repository in this folder, on the branch `init.defaultBranch`, else `main`.
    ///
    /// Cleans up if it fails half-way.
    pub fn init(dir: &Path) -> Result<Self> {
        let git_dir = dir.join(".git");
        std::fs::create_dir_all(dir).doing_io("make", dir)?;
        let ours = match std::fs::create_dir(&git_dir) {
            Ok(()) => true,
            // A killed process may have left a half-made `.git`; complete it.
            Err(_) if git_dir.symlink_metadata().is_ok_and(|meta| meta.is_dir()) => false,
            Err(error) => return Err(error).doing_io("make", &git_dir),
        };
        let mut options = RepositoryInitOptions::new();
        options.no_reinit(true).external_template(false).initial_head(&default_branch());
        let made = Repository::init_opts(dir, &options);
        let made = made.map_err(|source| GitError::Init { path: dir.to_owned(), source }).and_then(Self::new);
        if made.is_err() && ours {
            let _left = std::fs::remove_dir_all(&git_dir);
        }
        made
    }

    /// The root of the working tree.
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn new(git: Repository) -> Result<Self> {
        let bare = || GitError::Bare { path: git.path().to_owned() };
        let root = git.workdir().ok_or_else(bare)?.to_owned();
        let (listings, contents) = (RefCell::default(), RefCell::new(Contents::new(KEPT_BYTES)));
        let repo = Self { git, root, last_look: RefCell::default(), tracked: RefCell::default(), listings, contents };
        repo.heal_move()?;
        repo.heal()?;
        Ok(repo)
    }

    /// A second handle with empty caches, so that attributes, ignore rules and configuration are up to date.
    fn fresh(&self) -> Result<Repository> {
        let fresh = Repository::open(&self.root).doing("open the repository again")?;
        fresh.add_ignore_rule(STATE_RULES).doing("set the rules for `.tdd/`")?;
        Ok(fresh)
    }
}

impl std::fmt::Debug for Repo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Repo").field("root", &self.root).finish_non_exhaustive()
    }
}

/// The folder that contains `.git`: git's trust applies to this folder, not to the ones below.
fn around(dir: &Path) -> PathBuf {
    dir.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(dir).to_owned()
}

/// Keeps our state out of every tree, even if `.tdd/.gitignore` is missing.
const STATE_RULES: &str = "/.tdd/*\n!/.tdd/prompts\n";

/// Whether a path is our state, which no tree contains.
fn is_state(path: &[u8]) -> bool {
    path.starts_with(b".tdd/") && !path.starts_with(b".tdd/prompts/")
}

fn default_branch() -> String {
    git2::Config::open_default()
        .and_then(|config| config.get_string("init.defaultBranch"))
        .ok()
        .filter(|name| git2::Reference::is_valid_name(&format!("refs/heads/{name}")))
        .unwrap_or_else(|| "main".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_may_move_to_another_thread() {
        fn check<T: Send>() {}
        check::<Repo>();
    }
}
