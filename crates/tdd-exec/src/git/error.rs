//! What can go wrong with git, with the thing's name and a way out.

use std::path::PathBuf;

use super::GitPath;

/// A result of this module.
pub type Result<T, E = GitError> = std::result::Result<T, E>;

/// Why something about the repository could not be done or found out.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The folder's repository cannot be opened.
    #[error("cannot open the repository of `{path}`")]
    Open {
        /// The folder we looked from.
        path: PathBuf,
        /// What git says.
        source: git2::Error,
    },
    /// The folder belongs to another user, and nobody said that it may be trusted.
    #[error("the repository of `{path}` belongs to another user")]
    ForeignOwner {
        /// The folder we looked from.
        path: PathBuf,
    },
    /// There is no working tree.
    #[error("`{path}` is a bare repository: it has no working tree")]
    Bare {
        /// The git folder.
        path: PathBuf,
    },
    /// No repository can be made.
    #[error("cannot make a repository in `{path}`")]
    Init {
        /// The folder.
        path: PathBuf,
        /// What git says.
        source: git2::Error,
    },
    /// An operation on the repository as a whole failed.
    #[error("cannot {operation}")]
    Git {
        /// What we were about to do.
        operation: &'static str,
        /// What git says.
        source: git2::Error,
    },
    /// An operation on one path failed.
    #[error("cannot {operation} `{path}`")]
    Path {
        /// What we were about to do.
        operation: &'static str,
        /// The path, from the root of the working tree.
        path: GitPath,
        /// What git says.
        source: git2::Error,
    },
    /// A file of ours or of git's cannot be read or written.
    #[error("cannot {operation} `{path}`")]
    Io {
        /// What we were about to do.
        operation: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file or folder of the working tree cannot be read, so the tree has no id.
    #[error("cannot read `{path}`, so it cannot be said what the working tree holds")]
    Unreadable {
        /// The path, from the root of the working tree.
        path: GitPath,
    },
    /// A folder has a `.git` that is no repository; whatever lies in it would go unseen.
    #[error("`{path}` has a `.git` that is no repository, and would hide what lies beside it")]
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
    #[error("`{path}` is reached through `{through}`, which is not a folder of the project")]
    ThroughSymlink {
        /// The path, from the root of the working tree.
        path: GitPath,
        /// The part that is no folder.
        through: GitPath,
    },
    /// Something that we may not remove stands where a file belongs.
    #[error("cannot put `{path}` back: a folder with other files stands there")]
    InTheWay {
        /// The path, from the root of the working tree.
        path: GitPath,
    },
    /// Somebody writes a file again and again while we compare it.
    #[error("`{path}` changes all the time, so it cannot be put back")]
    StillChanging {
        /// The path, from the root of the working tree.
        path: GitPath,
    },
    /// A submodule is never restored or staged by us.
    #[error("`{path}` is a submodule")]
    Submodule {
        /// The path, from the root of the working tree.
        path: GitPath,
    },
    /// A merge, rebase or the like is under way.
    #[error("a {0} is under way in this repository")]
    Unfinished(&'static str),
    /// Another process holds the user's index.
    #[error("another program holds the index: `{path}` exists")]
    IndexLocked {
        /// The lock file.
        path: PathBuf,
    },
    /// Another process holds a ref.
    #[error("another program holds a branch: `{path}` exists")]
    RefLocked {
        /// The lock file.
        path: PathBuf,
    },
    /// HEAD is not where the step began.
    #[error("HEAD moved meanwhile: expected {expected}, found {found}")]
    HeadMoved {
        /// Where the step began.
        expected: String,
        /// Where HEAD is.
        found: String,
    },
    /// A shallow clone left out what a commit is to be compared with.
    #[error("what came before {commit} is not in this shallow clone")]
    CutOff {
        /// The commit, for short.
        commit: String,
    },
    /// A branch of the machine's own is somebody's working branch.
    #[error("the branch `{branch}` is checked out, and it is the machine's own")]
    CheckedOut {
        /// Its name.
        branch: String,
    },
    /// The tree holds nothing new at the given paths.
    #[error("nothing to commit: the given paths are as they are in HEAD")]
    NothingToCommit,
    /// The folder for a worktree holds something already.
    #[error("`{path}` is not empty, so no worktree can be put there")]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
}

impl GitError {
    /// What a person can do about it.
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
                Some(format!("wait for the other git program to end; if there is none, remove `{}`", path.display()))
            }
            Self::HeadMoved { .. } => Some("nothing was committed; start the step again on the new HEAD".to_owned()),
            Self::CutOff { .. } => {
                Some("bring it here: `git fetch --unshallow`; a gate takes another base with `--base REV`".to_owned())
            }
            Self::CheckedOut { .. } => Some("check another branch out: `git switch -`".to_owned()),
            Self::ThroughSymlink { through, .. } => Some(format!("make `{through}` a real folder")),
            Self::StillChanging { path } => Some(format!("stop what writes `{path}`, then run it again")),
            Self::InTheWay { path } => Some(format!("move what lies in `{path}` elsewhere")),
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

/// Names the operation that an error of git's came from.
pub(super) trait Doing<T> {
    /// For the repository as a whole.
    fn doing(self, operation: &'static str) -> Result<T>;
    /// For one path.
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

/// Names the file that an error of the system's came from.
pub(super) trait DoingIo<T> {
    /// For one file.
    fn doing_io(self, operation: &'static str, path: &std::path::Path) -> Result<T>;
}

impl<T> DoingIo<T> for std::io::Result<T> {
    fn doing_io(self, operation: &'static str, path: &std::path::Path) -> Result<T> {
        self.map_err(|source| GitError::Io { operation, path: path.to_owned(), source })
    }
}
