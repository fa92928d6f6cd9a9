//! Resolves permitted edits against the files on disk, into complete contents or a refusal.

use tdd_core::digest::Digest;
use tdd_core::gate::{self, MAX_FILE, PermittedAction, PermittedEdit};
use tdd_core::path::ConfinedPath;
use tdd_core::rule::{Refusal, Rule};

use super::FileChange;
use super::error::WriteError;
use super::folder::{Content, Entry, Folder, MAX_EXISTING, split};

/// A file's old and new content; `None` if it does not exist.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) path: ConfinedPath,
    pub(super) before: Option<Content>,
    pub(super) after: Option<Content>,
}

impl Step {
    /// The change to report for this step.
    pub(super) fn change(self) -> FileChange {
        let digest = |content: Content| Digest::of(content.bytes);
        FileChange { path: self.path, before: self.before.map(digest), after: self.after.map(digest) }
    }
}

/// Why there is no plan.
#[derive(Debug)]
pub(super) enum Halt {
    Refused(Refusal),
    Failed(WriteError),
}

impl From<Refusal> for Halt {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// The paths that an edit touches.
pub(super) fn paths(edit: &PermittedEdit) -> impl Iterator<Item = &ConfinedPath> {
    let to = match &edit.action {
        PermittedAction::Rename(to) => Some(to),
        PermittedAction::Create(_)
        | PermittedAction::Upsert(_)
        | PermittedAction::Delete
        | PermittedAction::Replace { .. } => None,
    };
    [&edit.path].into_iter().chain(to)
}

/// A file's content; `None` if nothing is there, an error if something other than a file is.
pub(super) fn found(root: &Folder, path: &ConfinedPath) -> Result<Option<Vec<u8>>, Halt> {
    Ok(look(root, path)?.map(|content| content.bytes))
}

/// The steps for these edits, in order. A file that already has the wanted content needs none.
pub(super) fn plan(root: &Folder, edits: Vec<PermittedEdit>) -> Result<Vec<Step>, Halt> {
    let mut steps = Vec::new();
    for edit in edits {
        steps.extend(steps_of(root, edit)?);
    }
    steps.retain(|step| step.before != step.after);
    check_sizes(&steps)?;
    check_names(&steps)?;
    Ok(steps)
}

fn steps_of(root: &Folder, edit: PermittedEdit) -> Result<Vec<Step>, Halt> {
    let PermittedEdit { path, action } = edit;
    let step = match action {
        PermittedAction::Create(content) => return create(root, path, content),
        PermittedAction::Rename(to) => return rename(root, path, to),
        PermittedAction::Upsert(content) => {
            let before = look(root, &path)?;
            let mode = before.as_ref().and_then(|before| before.mode);
            Step { path, before, after: Some(Content { bytes: content.into(), mode }) }
        }
        PermittedAction::Delete => Step { before: Some(existing(root, &path)?), path, after: None },
        PermittedAction::Replace { find, content } => {
            let before = existing(root, &path)?;
            let after = Content { bytes: replace(&path, &before.bytes, &find, &content)?.into(), mode: before.mode };
            Step { path, before: Some(before), after: Some(after) }
        }
    };
    Ok(vec![step])
}

/// Keeps whatever exists, even a link: a person put it there.
fn create(root: &Folder, path: ConfinedPath, content: String) -> Result<Vec<Step>, Halt> {
    match find(root, &path)?.1 {
        Entry::Nothing => {
            let after = Some(Content { bytes: content.into(), mode: None });
            Ok(vec![Step { path, before: None, after }])
        }
        Entry::Folder => Err(is_a_folder(&path).into()),
        Entry::Link | Entry::Special | Entry::File => Ok(Vec::new()),
    }
}

/// Writes the file again under its new name. With its old time, a build tool that knew another file of that name would
/// not rebuild it.
fn rename(root: &Folder, path: ConfinedPath, to: ConfinedPath) -> Result<Vec<Step>, Halt> {
    let content = existing(root, &path)?;
    if look(root, &to)?.is_some() {
        let reason = format!("`{to}` exists already");
        return Err(Rule::EditApplies.refuse(reason, "choose another name, or delete that file first").into());
    }
    let made = Step { path: to, before: None, after: Some(content.clone()) };
    Ok(vec![made, Step { path, before: Some(content), after: None }])
}

fn existing(root: &Folder, path: &ConfinedPath) -> Result<Content, Halt> {
    look(root, path)?.ok_or_else(|| {
        let reason = format!("there is no file `{path}`");
        Rule::EditApplies.refuse(reason, "name a file that exists, or upsert it with its whole content").into()
    })
}

/// A regular file's content, `None` if nothing is there; anything else is refused.
fn look(root: &Folder, path: &ConfinedPath) -> Result<Option<Content>, Halt> {
    let (folder, found) = find(root, path)?;
    match found {
        Entry::File => {
            let content = folder.read(split(path.as_str()).1).map_err(|source| unreadable(path, source))?;
            content.map(Some).ok_or_else(|| too_large(path).into())
        }
        Entry::Nothing => Ok(None),
        Entry::Folder => Err(is_a_folder(path).into()),
        Entry::Link => Err(is_a_link(path, path.as_str()).into()),
        Entry::Special => {
            let reason = format!("`{path}` is a device, a socket or a pipe");
            Err(Rule::EditApplies.refuse(reason, "edit regular files only").into())
        }
    }
}

/// What is at a path, and the last existing folder on the way to it.
fn find(root: &Folder, path: &ConfinedPath) -> Result<(Folder, Entry), Halt> {
    let failed = |source| unreadable(path, source);
    let text = path.as_str();
    let mut folder = root.again().map_err(failed)?;
    for (end, _) in text.match_indices('/') {
        let way = &text[..end];
        let name = split(way).1;
        match folder.find(name).map_err(failed)? {
            Entry::Nothing => return Ok((folder, Entry::Nothing)),
            Entry::Folder => folder = folder.enter(name).map_err(failed)?,
            Entry::Link => return Err(is_a_link(path, way).into()),
            Entry::Special | Entry::File => {
                let reason = format!("`{way}` is a file, so `{path}` cannot be inside it");
                return Err(Rule::EditApplies.refuse(reason, "choose another folder").into());
            }
        }
    }
    let found = folder.find(split(text).1).map_err(failed)?;
    Ok((folder, found))
}

/// Replaces the only occurrence of `wanted` with the new text.
fn replace(path: &ConfinedPath, old: &[u8], wanted: &str, new: &str) -> Result<String, Refusal> {
    let text = std::str::from_utf8(old).ok().filter(|text| !text.contains('\0')).ok_or_else(|| {
        let reason = format!("`{path}` is not text, so nothing in it can be replaced");
        Rule::PlainText.refuse(reason, "leave it alone; only a person changes binary files")
    })?;
    gate::replace_once(path.as_str(), text, wanted, new)
}

fn check_sizes(steps: &[Step]) -> Result<(), Refusal> {
    for Step { path, after, .. } in steps {
        let size = after.as_ref().map_or(0, |after| after.bytes.len());
        if size > MAX_FILE {
            let reason = format!("`{path}` would have {size} bytes, the limit is {MAX_FILE}");
            return Err(Rule::SizeLimit.refuse(reason, "split the file"));
        }
    }
    Ok(())
}

/// Rejects a path that is named twice, or that is a folder of another.
fn check_names(steps: &[Step]) -> Result<(), Refusal> {
    for (n, Step { path, .. }) in steps.iter().enumerate() {
        for Step { path: other, .. } in &steps[n + 1..] {
            if path == other {
                let reason = format!("`{path}` is named twice");
                return Err(Rule::OneEditPerPath.refuse(reason, "give each file one edit with its final content"));
            }
            if is_inside(path, other) || is_inside(other, path) {
                let reason =
                    format!("`{path}` and `{other}` cannot both exist: one would be a folder that holds the other");
                return Err(Rule::EditApplies.refuse(reason, "choose another name for one of them"));
            }
        }
    }
    Ok(())
}

fn is_inside(folder: &ConfinedPath, path: &ConfinedPath) -> bool {
    path.as_str().strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'))
}

fn is_a_folder(path: &ConfinedPath) -> Refusal {
    Rule::EditApplies.refuse(format!("`{path}` is a folder"), "name a file")
}

fn is_a_link(path: &ConfinedPath, link: &str) -> Refusal {
    let reason = format!("`{link}` is a symbolic link, so `{path}` could be outside of the project");
    Rule::PathConfined.refuse(reason, "name the real file, if it is inside the project")
}

fn too_large(path: &ConfinedPath) -> Refusal {
    let reason = format!("`{path}` is larger than {MAX_EXISTING} bytes");
    Rule::SizeLimit.refuse(reason, "leave it alone; only a person changes files of this size")
}

fn unreadable(path: &ConfinedPath, source: std::io::Error) -> Halt {
    Halt::Failed(WriteError::Read { path: path.clone(), source })
}
