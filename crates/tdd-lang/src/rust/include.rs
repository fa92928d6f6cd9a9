//! Finds the files that Rust code includes with `include!`, `include_str!` and `include_bytes!`.

use tdd_core::change::Sort;

use crate::language::Sources;

use super::attribute::literal;
use super::modules::{folder_of, normal};
use super::owns;
use super::syntax::Tree;
use super::walk::Walk;

const MACROS: [&str; 3] = ["include", "include_str", "include_bytes"];

/// An included file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Include {
    file: File,
    /// The sort of the code that includes it.
    pub sort: Sort,
    /// It becomes documentation: `#[doc = include_str!("…")]`.
    pub documents: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum File {
    /// This file.
    Exactly(String),
    /// A file whose path ends with this; only the compiler knows the rest.
    EndingIn(String),
}

impl Include {
    /// Whether this is the included file.
    pub fn names(&self, path: &str) -> bool {
        match &self.file {
            File::Exactly(file) => file == path,
            File::EndingIn(end) => {
                path.strip_suffix(end.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
            }
        }
    }
}

/// All files that the Rust files include; `sort` gives the sort of a Rust file.
pub(super) fn includes(sources: &dyn Sources, sort: impl Fn(&str) -> Sort) -> Vec<Include> {
    let mut found = Vec::new();
    for path in sources.ending(".rs").into_iter().filter(|path| owns(path)) {
        let source = sources.read(path).filter(|source| may_include(source));
        if let Some(source) = source {
            found.extend(of_file(path, &source, sort(path)));
        }
    }
    found
}

/// The files that these files include by a literal path and that the tree lacks.
pub(super) fn absent(sources: &dyn Sources, paths: &[String]) -> Vec<(String, String)> {
    let is_held = |file: &str| sources.files().binary_search_by(|known| known.as_str().cmp(file)).is_ok();
    let mut found = Vec::new();
    for path in paths.iter().filter(|path| owns(path)) {
        let Some(source) = sources.read(path).filter(|source| may_include(source)) else { continue };
        for include in of_file(path, &source, Sort::Production) {
            match include.file {
                File::Exactly(file) if !is_held(&file) => found.push((path.clone(), file)),
                File::Exactly(_) | File::EndingIn(_) => {}
            }
        }
    }
    found
}

/// Whether a text may contain one of the macros; only then is it parsed.
fn may_include(source: &str) -> bool {
    let calls = |after: &str| {
        ["_str", "_bytes", ""]
            .iter()
            .any(|rest| after.strip_prefix(rest).is_some_and(|after| after.trim_start().starts_with(['!', '/'])))
    };
    source.match_indices("include").any(|(at, word)| calls(&source[at + word.len()..]))
}

fn of_file(path: &str, source: &str, sort: Sort) -> Vec<Include> {
    let Some(tree) = Tree::parse(source) else { return Vec::new() };
    let tokens: Vec<usize> = tree.tokens(0..tree.len()).collect();
    let text = |at: usize| tokens.get(at).map_or("", |node| tree.text(*node));
    let calls = (0..tokens.len()).filter(|at| MACROS.contains(&text(*at)) && text(at + 1) == "!");
    let calls: Vec<usize> = calls.collect();
    let for_tests = if calls.is_empty() { Vec::new() } else { Walk::new(&tree).run().test_ranges };
    let include = |at: usize| {
        let arguments = (at + 3..tokens.len()).take_while(|at| !matches!(text(*at), ";" | ")" | "]"));
        let arguments: Vec<&str> = arguments.map(text).collect();
        let place = tree.range(tokens[at]).start;
        let in_test = for_tests.iter().any(|range| range.contains(&place));
        Some(Include {
            file: file(path, source, &arguments, tree.range(tokens[at]).end)?,
            sort: if in_test { Sort::Test } else { sort },
            documents: at >= 2 && text(at - 1) == "=" && text(at - 2) == "doc",
        })
    };
    calls.into_iter().filter_map(include).collect()
}

/// The included file. A path that a macro builds is known only by its last literal.
fn file(path: &str, source: &str, arguments: &[&str], after: usize) -> Option<File> {
    if let [only] | [only, ","] = arguments {
        return normal(&format!("{}{}", folder_of(path), literal(only)?)).map(File::Exactly);
    }
    let statement = source.get(after..)?.split(';').next()?;
    let last = statement.split('"').skip(1).step_by(2).last()?;
    let end = last.trim_start_matches(['.', '/']);
    (!end.is_empty()).then(|| File::EndingIn(end.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;

    #[test]
    fn what_the_tree_does_not_hold_is_named_with_who_takes_it_in() {
        let code =
            "include!(\"../hidden/a.rs\");\ninclude_str!(\"b.txt\");\ninclude!(concat!(env!(\"OUT_DIR\"), \"/c.rs\"));";
        let files = [("src/b.txt", ""), ("src/lib.rs", code)];
        let found = absent(&memory(&files), &["src/lib.rs".to_owned()]);
        assert_eq!(found, [("src/lib.rs".to_owned(), "hidden/a.rs".to_owned())]);
    }
}
