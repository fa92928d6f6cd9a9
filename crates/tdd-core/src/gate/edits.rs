//! The rules that look at single edits: where they lead, what they carry, and whether they agree.

use std::collections::BTreeMap;

use super::{Action, Edit, PermittedAction, PermittedEdit};
use crate::path::{ConfinedPath, PathError, RepoPath};
use crate::program;
use crate::rule::{Refusal, Rule};

/// Largest file that an edit may write, in bytes.
pub const MAX_FILE: usize = 1 << 20;
/// Largest sum of what one request may write, in bytes.
pub const MAX_REQUEST: usize = 8 << 20;

/// A path that a person's command may write: like a model's, but `tdd.yaml` and programs are among them.
pub fn own_path(text: &str) -> Result<ConfinedPath, PathError> {
    match RepoPath::new(text) {
        Ok(path) => Ok(path.confined().clone()),
        Err(PathError::Protected(_)) if text == "tdd.yaml" || program::is_ours(text) => ConfinedPath::new(text),
        Err(error) => Err(error),
    }
}

/// Checks edits by themselves, path by path: all of them or none.
pub fn check_edits(edits: &[Edit], kata: &str) -> Result<Vec<PermittedEdit>, Refusal> {
    check_sizes(edits)?;
    let permitted = edits.iter().map(|edit| check_edit(edit, kata)).collect::<Result<Vec<_>, _>>()?;
    check_paths_differ(&permitted)?;
    Ok(permitted)
}

/// The paths that an edit touches.
pub fn paths(edit: &Edit) -> impl Iterator<Item = &str> {
    let to = match &edit.action {
        Action::Rename { to } => Some(to.as_str()),
        Action::Upsert { .. } | Action::Delete | Action::Replace { .. } => None,
    };
    std::iter::once(edit.path.as_str()).chain(to)
}

fn check_edit(edit: &Edit, kata: &str) -> Result<PermittedEdit, Refusal> {
    let path = check_path(&edit.path, kata)?;
    let action = match &edit.action {
        Action::Upsert { content } => PermittedAction::Upsert(check_text(&edit.path, content)?),
        Action::Delete => PermittedAction::Delete,
        Action::Rename { to } => PermittedAction::Rename(check_path(to, kata)?),
        Action::Replace { find, content } => {
            if find.is_empty() {
                let reason = format!("the text to find in `{}` is empty", edit.path);
                return Err(Rule::EditApplies.refuse(reason, "give the text to replace, or upsert the whole file"));
            }
            PermittedAction::Replace { find: find.clone(), content: check_text(&edit.path, content)? }
        }
    };
    Ok(PermittedEdit { path, action })
}

fn check_path(text: &str, kata: &str) -> Result<ConfinedPath, Refusal> {
    let path = RepoPath::new(text).map_err(|error| path_refusal(&error))?;
    if path.as_str().to_lowercase() == kata.to_lowercase() {
        return Err(path_refusal(&PathError::Protected(text.to_owned())));
    }
    Ok(path.confined().clone())
}

/// What a path that cannot be is refused with.
pub fn path_refusal(error: &PathError) -> Refusal {
    match error {
        PathError::Protected(_) => {
            Rule::ProtectedPath.refuse(error.to_string(), "leave it out and edit the project's own files")
        }
        PathError::Empty
        | PathError::Absolute(_)
        | PathError::Parent(_)
        | PathError::EmptyPart(_)
        | PathError::Character(_)
        | PathError::TooLong(_) => {
            Rule::PathConfined.refuse(error.to_string(), "name the file relative to the project's root: `src/lib.rs`")
        }
    }
}

fn check_text(path: &str, content: &str) -> Result<String, Refusal> {
    if content.contains('\0') {
        let reason = format!("the content for `{}` is binary (it has a NUL)", path.escape_debug());
        return Err(Rule::PlainText.refuse(reason, "write text; a person adds binary files"));
    }
    Ok(content.to_owned())
}

fn check_sizes(edits: &[Edit]) -> Result<(), Refusal> {
    let mut total = 0;
    for edit in edits {
        let size = match &edit.action {
            Action::Upsert { content } | Action::Replace { content, .. } => content.len(),
            Action::Delete | Action::Rename { .. } => 0,
        };
        total += size;
        if size > MAX_FILE {
            let reason =
                format!("the content for `{}` has {size} bytes, the limit is {MAX_FILE}", edit.path.escape_debug());
            return Err(Rule::SizeLimit.refuse(reason, "split the file"));
        }
    }
    if total > MAX_REQUEST {
        let reason = format!("the request has {total} bytes, the limit is {MAX_REQUEST}");
        return Err(Rule::SizeLimit.refuse(reason, "make the change smaller"));
    }
    Ok(())
}

/// Paths are compared without case, and a file is not also a folder of the same request.
fn check_paths_differ(edits: &[PermittedEdit]) -> Result<(), Refusal> {
    let mut seen = BTreeMap::new();
    for edit in edits {
        let target = match &edit.action {
            PermittedAction::Rename(to) => Some(to),
            PermittedAction::Upsert(_)
            | PermittedAction::Create(_)
            | PermittedAction::Delete
            | PermittedAction::Replace { .. } => None,
        };
        for path in std::iter::once(&edit.path).chain(target) {
            if seen.insert(path.as_str().to_lowercase(), path).is_some() {
                let reason = format!("`{path}` is named twice");
                return Err(Rule::OneEditPerPath.refuse(reason, "give each file one edit with its final content"));
            }
        }
    }
    Ok(())
}
