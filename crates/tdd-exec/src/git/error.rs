//! Git errors, each naming the path or operation, with a hint.

use std::path::PathBuf;

use super::GitPath;

/// The result type of this module.
pub type Result<T, E = GitError> = std::result::Result<T, E>;

/// Why a git operation failed.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The repository cannot be opened.
    #[error("cannot open the repository of `{path}`")]
    Open {
        /// The folder where the search began.
        path: PathBuf,
        /// Git's error.
        source: git2::Error,
    },
    /// The repository belongs to another user and is not listed in `safe.directory`.
    #[error("the repository of `{path}` belongs to another user")]
    ForeignOwner {
        /// The folder where the search began.
        path: PathBuf,
    },
    /// The repository is bare.
    #[error("`{path}` is a bare repository: it has no working tree")]
    Bare {
        /// The git folder.
        path: PathBuf,
    },
    /// The repository cannot be created.
    #[error("cannot create a repository in `{path}`")]
    Init {
        /// The folder.
        path: PathBuf,
        /// Git's error.
        source: git2::Error,
    },
    /// An operation on the repository as a whole failed.
    #[error("cannot {operation}")]
    Git {
        /// The operation that failed.
        operation: &'static str,
        /// Git's error.
        source: git2::Error,
    },
    /// An operation on one path failed.
    #[error("cannot {operation} `{path}`")]
    Path {
        /// The operation that failed.
        operation: &'static str,
        /// The path, from the root of the working tree.
        path: GitPath,
        /// Git's error.
        source: git2::Error,
    },
    /// One of our files or git's files cannot be read or written.
    #[error("cannot {operation} `{path}`")]
    Io {
        /// The operation that failed.
        operation: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A file or folder of the working tree cannot be read, so the tree id cannot be computed.
    #[error("cannot read `{path}`, so the state of the working tree is unknown")]
    Unreadable {
        /// The path, from the root of the working tree.
        path: GitPath,
    },
    /// A folder has a `.git` that is not a repository; git would not see the files in it.
    #[error("`{path}` has a `.git` that is not a repository, and git would not see the files beside it")]
    BrokenNested {
        /// The folder, from the root of the working tree.
        path: GitPath,
    },
    /// A string is not a path inside the working tree.
    #[error("`{0}` is not a path inside the working tree")]
    NotInside(String),
    /// A string is not the id of an object.
    #[error("`{0}` is not the id of a git object")]
    NotAnId(String),
    /// A folder on the way to a path is a symbolic link or a file.
    #[error("the path `{path}` goes through `{through}`, which is not a real folder of the project")]
    ThroughSymlink {
        /// The path, from the root of the working tree.
        path: GitPath,
        /// The part of the path that is not a folder.
        through: GitPath,
    },
    /// A folder that we may not remove is where a file must go.
    #[error("cannot restore `{path}`: a folder with other files is in its place")]
    InTheWay {
        /// The path, from the root of the working tree.
        path: GitPath,
    },
    /// Another program keeps writing the file while we compare it.
    #[error("cannot restore `{path}`: another process keeps changing it")]
    StillChanging {
        /// The path, from the root of the working tree.
        path: GitPath,
    },
    /// The path is a submodule, which we never restore or stage.
    #[error("`{path}` is a submodule")]
    Submodule {
        /// The path, from the root of the working tree.
        path: GitPath,
    },
    /// A merge, rebase or similar is under way.
    #[error("a {0} is in progress in this repository")]
    Unfinished(&'static str),
    /// Another process holds the user's index.
    #[error("another git process has locked the index: `{path}` exists")]
    IndexLocked {
        /// The lock file.
        path: PathBuf,
    },
    /// Another process holds the ref's lock.
    #[error("another git process has locked a branch: `{path}` exists")]
    RefLocked {
        /// The lock file.
        path: PathBuf,
    },
    /// HEAD moved since the step began.
    #[error("HEAD moved while this command ran: expected {expected}, found {found}")]
    HeadMoved {
        /// HEAD when the step began.
        expected: String,
        /// HEAD at the moment.
        found: String,
    },
    /// The commit's parent is missing from this shallow clone.
    #[error("this shallow clone lacks the history before {commit}")]
    CutOff {
        /// The commit's short id.
        commit: String,
    },
    /// The machine's own branch is checked out.
    #[error("the branch `{branch}` is checked out, but only the machine may write to it")]
    CheckedOut {
        /// The branch's name.
        branch: String,
    },
    /// At the given paths, the tree is the same as HEAD's.
    #[error("nothing to commit: the given paths have not changed since HEAD")]
    NothingToCommit,
    /// The worktree's folder is not empty.
    #[error("cannot create a worktree in `{path}`: the folder is not empty")]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
}

impl GitError {
    /// What the user can do about the error.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::ForeignOwner { path } => Some(format!(
                "if you trust it: `git config --global --add safe.directory {}` (in a container, run as the owner of the mounted folder or set this once)",
                path.display()
            )),
            Self::Bare { .. } => Some("work in a clone or a worktree of it".to_owned()),
            Self::Unreadable { path } => Some(format!("make `{path}` readable, or add it to .gitignore")),
            Self::BrokenNested { path } => Some(format!("remove `{path}/.git`, or add `{path}` to .gitignore")),
            Self::Unfinished(_) => Some("finish or abort it first; `git status` says how".to_owned()),
            Self::IndexLocked { path } | Self::RefLocked { path } => {
                Some(format!("wait for the other git process to end; if there is none, delete `{}`", path.display()))
            }
            Self::HeadMoved { .. } => {
                Some("nothing was committed; run the command again to continue from the new HEAD".to_owned())
            }
            Self::CutOff { .. } => Some(
                "fetch the history with `git fetch --unshallow`, or name another base with `--base REV`".to_owned(),
            ),
            Self::CheckedOut { .. } => Some("switch to another branch: `git switch -`".to_owned()),
            Self::ThroughSymlink { through, .. } => Some(format!("make `{through}` a real folder")),
            Self::StillChanging { path } => {
                Some(format!("stop the process that writes `{path}`, then run the command again"))
            }
            Self::InTheWay { path } => Some(format!("move the files in `{path}` elsewhere")),
            Self::Io { path, source, .. } if source.kind() == std::io::ErrorKind::AlreadyExists => {
                Some(format!("move `{}` away", path.display()))
            }
            Self::Init { .. } | Self::Io { .. } => {
                Some("check the folder's permissions and the disk's free space".to_owned())
            }
            Self::Open { .. } | Self::Git { .. } | Self::Path { .. } => {
                Some("check the disk's free space; `git status` and `git fsck` may say more".to_owned())
            }
            Self::NotInside(_)
            | Self::NotAnId(_)
            | Self::Submodule { .. }
            | Self::NothingToCommit
            | Self::NotEmpty { .. } => None,
        }
    }
}

/// Adds the operation to an error from git.
pub(super) trait Doing<T> {
    /// For an operation on the whole repository.
    fn doing(self, operation: &'static str) -> Result<T>;
    /// For an operation on one path.
    fn doing_at(self, operation: &'static str, path: &[u8]) -> Result<T>;
}

impl<T> Doing<T> for std::result::Result<T, git2::Error> {
    fn doing(self, operation: &'static str) -> Result<T> {
        self.map_err(|source| GitError::Git { operation, source })
    }

    fn doing_at(self, operation: &'static str, path: &[u8]) -> Result<T> {
        self.map_err(|source| GitError::Path { operation, path: GitPath::from_git(path), source })
    }
}

/// Adds the operation and the file to an I/O error.
pub(super) trait DoingIo<T> {
    /// For an operation on one file.
    fn doing_io(self, operation: &'static str, path: &std::path::Path) -> Result<T>;
}

impl<T> DoingIo<T> for std::io::Result<T> {
    fn doing_io(self, operation: &'static str, path: &std::path::Path) -> Result<T> {
        self.map_err(|source| GitError::Io { operation, path: path.to_owned(), source })
    }
}
