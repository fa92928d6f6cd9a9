//! The gate before the effect: a request either becomes a [`Permit`] or a refusal that says what to do.
//!
//! The only function that writes a project file consumes a [`Permit`], and only this module makes one:
//!
//! ```compile_fail,E0451
//! let forged = tdd_core::gate::Permit { edits: Vec::new() };
//! ```

use std::collections::BTreeMap;

use serde::Serialize;

use crate::path::{ConfinedPath, PathError, RepoPath};

/// One change that somebody wishes to make to one file. Nothing in it has been checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The file, as it was asked for.
    pub path: String,
    /// What to do with it.
    pub action: Action,
}

/// What an edit does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Write the whole content, whether the file is there or not.
    Upsert {
        /// The new content.
        content: String,
    },
    /// Remove the file.
    Delete,
    /// Move the file.
    Rename {
        /// Where to, as it was asked for.
        to: String,
    },
    /// Replace the one place where `find` stands.
    Replace {
        /// What to look for; must stand there exactly once.
        find: String,
        /// What to put in its place.
        content: String,
    },
}

/// Leave to make these changes, and no others. Only the gate makes one.
#[derive(Debug)]
#[must_use]
pub struct Permit {
    edits: Vec<PermittedEdit>,
}

/// One change that the gate let through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermittedEdit {
    /// The file.
    pub path: ConfinedPath,
    /// What to do with it.
    pub action: PermittedAction,
}

/// What a permitted edit does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PermittedAction {
    /// Write the whole content, whether the file is there or not.
    Upsert(String),
    /// Write a file that is not there yet; one that is there stays as it is.
    Create(String),
    /// Remove the file.
    Delete,
    /// Move the file.
    Rename(ConfinedPath),
    /// Replace the one place where `find` stands.
    Replace {
        /// What to look for.
        find: String,
        /// What to put in its place.
        content: String,
    },
}

impl Permit {
    /// What is permitted; the permit is used up.
    pub fn into_edits(self) -> Vec<PermittedEdit> {
        self.edits
    }
}

/// No, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// The rule that said no.
    pub rule: Rule,
    /// Why, for this request.
    pub reason: String,
    /// The next legal action.
    pub next: String,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}; {}", self.rule.name(), self.reason, self.next)
    }
}

/// The answer to a request.
#[derive(Debug)]
#[must_use]
pub enum Verdict {
    /// Go ahead.
    Permit(Permit),
    /// No.
    Refuse(Refusal),
}

/// The rules of the gate, by the names that refusals print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// An edit names a file inside the project, by a plain relative path.
    PathConfined,
    /// Git's folder, the machine's state, its configuration and the kata are not edited by models.
    ProtectedPath,
    /// A file written by an edit is text.
    PlainText,
    /// A file written by an edit is not larger than [`MAX_FILE`], a request not larger than [`MAX_REQUEST`].
    SizeLimit,
    /// A request says one thing about one file.
    OneEditPerPath,
    /// An edit applies to the file as it is: there, a regular file, with the text that it looks for.
    EditApplies,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Self; 6] = [
        Self::PathConfined,
        Self::ProtectedPath,
        Self::PlainText,
        Self::SizeLimit,
        Self::OneEditPerPath,
        Self::EditApplies,
    ];

    /// The rule's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::PathConfined => "path-confined",
            Self::ProtectedPath => "protected-path",
            Self::PlainText => "plain-text",
            Self::SizeLimit => "size-limit",
            Self::OneEditPerPath => "one-edit-per-path",
            Self::EditApplies => "edit-applies",
        }
    }

    /// A refusal by this rule.
    pub fn refuse(self, reason: impl Into<String>, next: impl Into<String>) -> Refusal {
        Refusal { rule: self, reason: reason.into(), next: next.into() }
    }
}

/// Largest file that an edit may write, in bytes.
pub const MAX_FILE: usize = 1 << 20;
/// Largest sum of what one request may write, in bytes.
pub const MAX_REQUEST: usize = 8 << 20;

/// Judges a model's edits: all of them or none. `kata` is the file that says what to build.
pub fn judge_edits(edits: &[Edit], kata: &str) -> Verdict {
    match check_edits(edits, kata) {
        Ok(edits) => Verdict::Permit(Permit { edits }),
        Err(refusal) => Verdict::Refuse(refusal),
    }
}

/// Leave to add files that are not there yet: what `init` does on a person's behalf. Git's folder and
/// the machine's own state stay out of reach; existing files stay as they are.
pub fn permit_scaffold<P, C>(files: impl IntoIterator<Item = (P, C)>) -> Verdict
where
    P: AsRef<str>,
    C: Into<String>,
{
    let mut edits = Vec::new();
    for (path, content) in files {
        let path = match own_path(path.as_ref()) {
            Ok(path) => path,
            Err(error) => return Verdict::Refuse(path_refusal(&error)),
        };
        edits.push(PermittedEdit { path, action: PermittedAction::Create(content.into()) });
    }
    Verdict::Permit(Permit { edits })
}

/// A path that `init` may write: like a model's, but `tdd.yaml` is among them.
fn own_path(text: &str) -> Result<ConfinedPath, PathError> {
    match RepoPath::new(text) {
        Ok(path) => Ok(path.confined().clone()),
        Err(PathError::Protected(_)) if text == "tdd.yaml" => ConfinedPath::new(text),
        Err(error) => Err(error),
    }
}

fn check_edits(edits: &[Edit], kata: &str) -> Result<Vec<PermittedEdit>, Refusal> {
    check_sizes(edits)?;
    let permitted = edits.iter().map(|edit| check_edit(edit, kata)).collect::<Result<Vec<_>, _>>()?;
    check_paths_differ(&permitted)?;
    Ok(permitted)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn upsert(path: &str, content: &str) -> Edit {
        Edit { path: path.to_owned(), action: Action::Upsert { content: content.to_owned() } }
    }

    fn check(edits: &[Edit], expected: Option<Rule>) {
        let rule = match judge_edits(edits, "docs/kata.md") {
            Verdict::Permit(permit) => {
                assert_eq!(permit.into_edits().len(), edits.len());
                None
            }
            Verdict::Refuse(refusal) => {
                assert!(!refusal.reason.is_empty() && !refusal.next.is_empty());
                Some(refusal.rule)
            }
        };
        assert_eq!(rule, expected, "{edits:?}");
    }

    #[test]
    fn edits_of_the_projects_files_are_permitted() {
        let rename = Edit { path: "src/a.rs".into(), action: Action::Rename { to: "src/b.rs".into() } };
        check(&[upsert("src/lib.rs", "x"), rename, Edit { path: "c".into(), action: Action::Delete }], None);
    }

    #[test]
    fn one_bad_edit_refuses_them_all() {
        check(&[upsert("src/lib.rs", "x"), upsert("../x", "x")], Some(Rule::PathConfined));
    }

    #[test]
    fn protected_paths_are_refused_as_source_and_as_target() {
        check(&[upsert(".git/config", "x")], Some(Rule::ProtectedPath));
        check(&[upsert("tdd.yaml", "x")], Some(Rule::ProtectedPath));
        check(&[upsert("docs/Kata.md", "x")], Some(Rule::ProtectedPath));
        let rename = Edit { path: "src/a.rs".into(), action: Action::Rename { to: ".tdd/x".into() } };
        check(&[rename], Some(Rule::ProtectedPath));
    }

    #[test]
    fn binary_and_huge_content_is_refused() {
        check(&[upsert("a", "x\0y")], Some(Rule::PlainText));
        check(&[upsert("a", &"x".repeat(MAX_FILE))], None);
        check(&[upsert("a", &"x".repeat(MAX_FILE + 1))], Some(Rule::SizeLimit));
        let many: Vec<_> = (0..9).map(|n| upsert(&format!("f{n}"), &"x".repeat(MAX_FILE))).collect();
        check(&many, Some(Rule::SizeLimit));
    }

    #[test]
    fn a_file_named_twice_is_refused_whatever_its_case() {
        check(&[upsert("src/lib.rs", "x"), upsert("src/Lib.rs", "y")], Some(Rule::OneEditPerPath));
        let rename = Edit { path: "a".into(), action: Action::Rename { to: "b".into() } };
        check(&[rename, upsert("b", "x")], Some(Rule::OneEditPerPath));
    }

    #[test]
    fn a_replacement_of_nothing_is_refused() {
        let edit = Edit { path: "a".into(), action: Action::Replace { find: String::new(), content: "x".to_owned() } };
        check(&[edit], Some(Rule::EditApplies));
    }

    #[test]
    fn init_may_add_the_configuration_but_not_reach_git_or_the_ledger() {
        assert!(matches!(permit_scaffold([("tdd.yaml", "x"), ("kata.md", "y")]), Verdict::Permit(_)));
        assert!(matches!(permit_scaffold([(".git/config", "x")]), Verdict::Refuse(_)));
        assert!(matches!(permit_scaffold([(".tdd/events.jsonl", "x")]), Verdict::Refuse(_)));
    }
}
