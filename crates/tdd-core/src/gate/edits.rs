//! The gate's rules about single edits: their paths, their content, and duplicates.

use std::collections::BTreeSet;

use super::{Action, Edit, GateInput, PermittedAction, PermittedEdit, Speaker};
use crate::law::RuleResult;
use crate::path::{ConfinedPath, PathError, RepoPath};
use crate::program;
use crate::rule::{Refusal, Rule};

/// Largest file that an edit may write, in bytes.
pub const MAX_FILE: usize = 1 << 20;
/// Largest total that one request may write, in bytes.
pub const MAX_REQUEST: usize = 8 << 20;

/// Every path leads to a file inside the project.
pub fn path_confined(input: &GateInput<'_>) -> RuleResult {
    first_path_error(input, |error| !matches!(error, PathError::Protected(_)))
}

/// No path leads to git's folder, our state, our config or the kata.
pub fn protected_path(input: &GateInput<'_>) -> RuleResult {
    first_path_error(input, |error| matches!(error, PathError::Protected(_)))
}

fn first_path_error(input: &GateInput<'_>, counts: impl Fn(&PathError) -> bool) -> RuleResult {
    let paths = input.request.edits.iter().flat_map(paths);
    let checked = paths.map(|path| confined(path, input.request.speaker, input.limits.kata));
    let errors = checked.filter_map(Result::err);
    errors.into_iter().find(counts).map_or(Ok(()), |error| Err(path_refusal(&error)))
}

/// Checks that this speaker may write a path: `init` may also write `tdd.yaml` and programs.
fn confined(text: &str, speaker: Speaker<'_>, kata: &str) -> Result<ConfinedPath, PathError> {
    let own = speaker == Speaker::Scaffold && (text == "tdd.yaml" || program::is_ours(text));
    match RepoPath::new(text) {
        Err(PathError::Protected(_)) if own => ConfinedPath::new(text),
        Err(error) => Err(error),
        Ok(path) if path.as_str().to_lowercase() == kata.to_lowercase() => Err(PathError::Protected(text.to_owned())),
        Ok(path) => Ok(path.confined().clone()),
    }
}

/// The content is text.
pub fn plain_text(input: &GateInput<'_>) -> RuleResult {
    let binary = |edit: &&Edit| content(&edit.action).is_some_and(|content| content.contains('\0'));
    input.request.edits.iter().find(binary).map_or(Ok(()), |edit| {
        let reason = format!("the content for `{}` is binary (it has a NUL)", edit.path.escape_debug());
        Err(Rule::PlainText.refuse(reason, "write text; only a person adds binary files"))
    })
}

/// A replacement names the text to find.
pub fn edit_applies(input: &GateInput<'_>) -> RuleResult {
    let of_nothing = |edit: &&Edit| matches!(&edit.action, Action::Replace { find, .. } if find.is_empty());
    input.request.edits.iter().find(of_nothing).map_or(Ok(()), |edit| {
        let reason = format!("the text to find in `{}` is empty", edit.path);
        Err(Rule::EditApplies.refuse(reason, "give the text to replace, or upsert the whole file"))
    })
}

fn content(action: &Action) -> Option<&str> {
    match action {
        Action::Upsert { content } | Action::Create { content } | Action::Replace { content, .. } => Some(content),
        Action::Delete | Action::Rename { .. } => None,
    }
}

/// Turns an edit that all rules accepted into a permitted one.
pub fn permitted(edit: &Edit, speaker: Speaker<'_>) -> Result<PermittedEdit, Refusal> {
    let path = |text: &str| confined(text, speaker, "").map_err(|error| path_refusal(&error));
    let action = match &edit.action {
        Action::Upsert { content } => PermittedAction::Upsert(content.clone()),
        Action::Create { content } => PermittedAction::Create(content.clone()),
        Action::Delete => PermittedAction::Delete,
        Action::Rename { to } => PermittedAction::Rename(path(to)?),
        Action::Replace { find, content } => PermittedAction::Replace { find: find.clone(), content: content.clone() },
    };
    Ok(PermittedEdit { path: path(&edit.path)?, action })
}

/// The paths that an edit touches.
pub fn paths(edit: &Edit) -> impl Iterator<Item = &str> {
    let to = match &edit.action {
        Action::Rename { to } => Some(to.as_str()),
        Action::Upsert { .. } | Action::Create { .. } | Action::Delete | Action::Replace { .. } => None,
    };
    std::iter::once(edit.path.as_str()).chain(to)
}

/// The refusal of an invalid path.
fn path_refusal(error: &PathError) -> Refusal {
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

/// No file and no request is too large.
pub fn size_limit(input: &GateInput<'_>) -> RuleResult {
    let mut total = 0;
    for edit in input.request.edits {
        let size = content(&edit.action).map_or(0, str::len);
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

/// Each file has one edit. Paths are compared without case.
pub fn one_edit_per_path(input: &GateInput<'_>) -> RuleResult {
    let mut seen = BTreeSet::new();
    let twice = input.request.edits.iter().flat_map(paths).find(|path| !seen.insert(path.to_lowercase()));
    twice.map_or(Ok(()), |path| {
        let reason = format!("`{path}` is named twice");
        Err(Rule::OneEditPerPath.refuse(reason, "give each file one edit with its final content"))
    })
}
