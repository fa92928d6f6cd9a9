//! Translates paths printed by cargo and rustc into repository paths.

/// The locations of the repository and of the project in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The repository's root, absolute, without a trailing slash.
    repository: String,
    /// The project's folder in it; empty for the root.
    project: String,
}

impl Places {
    /// From the absolute path of the project's folder, which is `project` in the repository. `None` if the path does
    /// not end with `project`.
    pub fn of(folder: &str, project: &str) -> Option<Self> {
        let folder = folder.starts_with('/').then(|| folder.trim_end_matches('/'))?;
        let root = if project.is_empty() { folder } else { folder.strip_suffix(project)?.strip_suffix('/')? };
        Some(Self { repository: root.to_owned(), project: project.to_owned() })
    }

    /// The repository path of a file that a tool named, absolute or relative to the project's root (where cargo runs
    /// the compiler). `None` if it is outside the repository.
    pub fn relative(&self, path: &str) -> Option<String> {
        let joined = if path.starts_with('/') { path.to_owned() } else { self.absolute(path) };
        let clean = normal(&joined);
        clean.strip_prefix(&self.repository)?.strip_prefix('/').map(str::to_owned)
    }

    /// The project's folder in the repository; empty for the root.
    pub(crate) fn project(&self) -> &str {
        &self.project
    }

    /// The repository path of a folder's cargo configuration.
    pub(crate) fn configuration(folder: &str, name: &str) -> String {
        join(folder, &format!(".cargo/{name}"))
    }

    /// The absolute path of a file in a folder of the repository.
    pub(crate) fn absolute_in(&self, folder: &str, path: &str) -> String {
        normal(&format!("{}/{folder}/{path}", self.repository))
    }

    /// The absolute path of a file named relative to the project's root.
    fn absolute(&self, path: &str) -> String {
        let parts = [self.repository.as_str(), self.project.as_str(), path];
        let kept: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        kept.join("/")
    }
}

/// The path without `.` and `..`.
fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    format!("/{}", parts.join("/"))
}

/// The folder of a path; empty if it has none.
pub(crate) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Joins two parts of a path; either may be empty.
pub(crate) fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_tools_become_paths_of_the_repository() {
        let places = Places::of("/r/x/sub", "sub").unwrap();
        assert_eq!(places.relative("src/lib.rs").as_deref(), Some("sub/src/lib.rs"));
        assert_eq!(places.relative("src/../README.md").as_deref(), Some("sub/README.md"));
        assert_eq!(places.relative("/r/x/other/src/a.rs").as_deref(), Some("other/src/a.rs"));
        assert_eq!(places.relative("/elsewhere/registry/x.rs"), None);
        assert_eq!(places.relative("../../../etc/passwd"), None);
        assert_eq!(places.relative("/r/xy/a.rs"), None);
    }

    #[test]
    fn a_folder_elsewhere_says_nothing() {
        assert_eq!(Places::of("/r", "sub"), None);
        assert_eq!(Places::of("/rsub", "sub"), None);
        assert_eq!(Places::of("", ""), None);
        assert_eq!(Places::of("/", "").unwrap().relative("/a/b.rs").as_deref(), Some("a/b.rs"));
    }
}
