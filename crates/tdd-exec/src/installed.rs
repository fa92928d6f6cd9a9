//! Links a project's installed packages into a scratch copy. Packages of the project's own workspace are linked to
//! their copies.

use std::fs;
use std::path::{Component, Path};

use crate::git::FileKind;
use crate::layout::Content;

/// The links that replace this folder in a scratch copy: one for the whole folder, or one per entry if workspace
/// packages are linked into it.
pub(crate) fn links(root: &Path, folder: &str) -> Vec<(String, Content)> {
    let full = root.join(folder);
    let entries = entries(&full, folder);
    let own: Vec<Option<Content>> = entries.iter().map(|path| own(root, path)).collect();
    if own.iter().all(Option::is_none) {
        return Content::link_to(&full).map(|link| (folder.to_owned(), link)).into_iter().collect();
    }
    let linked = |(path, own): (String, Option<Content>)| {
        let content = own.or_else(|| Content::link_to(&root.join(&path)))?;
        Some((path, content))
    };
    entries.into_iter().zip(own).filter_map(linked).collect()
}

/// The packages installed in a folder; scoped packages are one level deeper.
fn entries(full: &Path, folder: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(full).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{folder}/{name}");
        let is_scope = name.starts_with('@') && entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_scope {
            found.extend(entries(&entry.path(), &path));
        } else {
            found.push(path);
        }
    }
    found.sort_unstable();
    found
}

/// For a link to a package of the project itself: a link to the same place in the copy.
fn own(root: &Path, path: &str) -> Option<Content> {
    let full = root.join(path);
    fs::symlink_metadata(&full).ok().filter(fs::Metadata::is_symlink)?;
    let (target, root) = (fs::canonicalize(&full).ok()?, fs::canonicalize(root).ok()?);
    let below = target.strip_prefix(&root).ok()?;
    let is_installed = |part: Component<'_>| matches!(part.as_os_str().to_str(), Some("node_modules" | ".tdd"));
    if !target.is_dir() || below.components().any(is_installed) {
        return None;
    }
    let up = "../".repeat(path.matches('/').count());
    Some(Content::Given { bytes: format!("{up}{}", below.to_str()?).into_bytes(), kind: FileKind::Symlink })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn told(root: &Path, folder: &str) -> Vec<(String, String)> {
        let text = |content| match content {
            Content::Given { bytes, .. } => String::from_utf8(bytes).unwrap(),
            Content::Stored(_) => String::new(),
        };
        links(root, folder).into_iter().map(|(path, content)| (path, text(content))).collect()
    }

    #[test]
    fn the_packages_of_a_workspace_lead_into_the_copy_and_all_else_to_where_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for path in ["packages/a", "packages/b/node_modules", "node_modules/x", "node_modules/@s/y"] {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        let at = |path: &str| root.join(path).to_str().unwrap().to_owned();
        let one = |path: &str, target: String| (path.to_owned(), target);
        assert_eq!(told(&root, "node_modules"), [one("node_modules", at("node_modules"))]);
        assert_eq!(told(&root, "missing"), []);
        symlink("../../packages/a", root.join("node_modules/@s/a")).unwrap();
        symlink("../../../node_modules/x", root.join("packages/b/node_modules/x")).unwrap();
        symlink(at("packages/a"), root.join("packages/b/node_modules/a")).unwrap();
        let expected = [
            one("node_modules/@s/a", "../../packages/a".to_owned()),
            one("node_modules/@s/y", at("node_modules/@s/y")),
            one("node_modules/x", at("node_modules/x")),
        ];
        assert_eq!(told(&root, "node_modules"), expected);
        let expected = [
            one("packages/b/node_modules/a", "../../../packages/a".to_owned()),
            one("packages/b/node_modules/x", at("node_modules/x")),
        ];
        assert_eq!(told(&root, "packages/b/node_modules"), expected);
    }
}
