//! Finds the modules that belong to the project: its own, and those in the same `go.work`.

use crate::language::{Project, Sources, join};

use super::project::module_path;

/// The import paths of these modules.
pub(super) fn modules(project: &Project, sources: &dyn Sources) -> Vec<String> {
    let around = std::iter::successors(Some(project.root.as_str()), |folder| match folder.rsplit_once('/') {
        Some((outer, _)) => Some(outer),
        None => (!folder.is_empty()).then_some(""),
    });
    let workspace = around.into_iter().find_map(|folder| Some((folder, sources.read(&join(folder, "go.work"))?)));
    let used = workspace.map(|(folder, text)| used(&text).iter().map(|path| join(folder, path)).collect::<Vec<_>>());
    let folders = std::iter::once(project.root.clone()).chain(used.unwrap_or_default());
    let named = folders.filter_map(|folder| {
        let manifest = sources.read(&join(folder.trim_end_matches('/'), "go.mod"))?;
        module_path(&manifest).map(str::to_owned)
    });
    named.collect()
}

/// The folders that a `go.work` uses, one per line or several in brackets.
fn used(text: &str) -> Vec<String> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in text.lines().map(|line| line.split("//").next().unwrap_or(line).trim()) {
        let rest = line.strip_prefix("use").filter(|rest| rest.starts_with([' ', '\t', '(']));
        match rest.map(str::trim) {
            Some("(") => inside = true,
            Some(path) => found.push(path),
            None if line == ")" => inside = false,
            None if inside => found.push(line),
            None => {}
        }
    }
    let plain = |path: &str| path.trim_matches(['"', '`']).trim_start_matches("./").to_owned();
    found.into_iter().filter(|path| !path.is_empty()).map(plain).filter(|path| !path.starts_with("..")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;

    #[test]
    fn the_modules_of_a_workspace_belong_together() {
        let module = |name: &str| format!("module example.com/{name}\n");
        let (a, b, c) = (module("a"), module("b"), module("c"));
        let work = "go 1.21\n\nuse ./c // beside\nuse (\n\t./a\n\n\t\"./x/b\"\n)\nreplace y => ./y\n";
        let files = [("a/go.mod", a.as_str()), ("x/b/go.mod", &b), ("c/go.mod", &c), ("y/go.mod", "module y\n")];
        let of = |root: &str, files: &[(&str, &str)]| {
            modules(&Project { root: root.to_owned(), description: String::new() }, &memory(files))
        };
        assert_eq!(of("a", &files), ["example.com/a"]);
        let with = [&files[..], &[("go.work", work)]].concat();
        assert_eq!(of("x/b", &with), ["example.com/b", "example.com/c", "example.com/a", "example.com/b"]);
        assert_eq!(of("", &[("go.mod", &a)]), ["example.com/a"]);
        assert_eq!(of("", &[]), Vec::<String>::new());
    }
}
