//! Compares the runner configuration of a Go module: `go.mod` and `go.sum` line by line, other files as a whole.

use std::collections::BTreeSet;

use tdd_core::change::SteeringChange;

use crate::analysis::steering::{changed, frozen};

/// What changed between two texts of a runner configuration file.
pub(super) fn compare(path: &str, before: &str, after: &str) -> Vec<SteeringChange> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let change = |what: String, free: bool| changed(path, what, free);
    match name {
        "go.mod" => {
            let (old, new) = (directives(before), directives(after));
            let gone = old.difference(&new).map(|line| change(format!("`{line}`"), /* free */ false));
            let added = new.difference(&old).map(|line| change(format!("`{line}`"), is_new_requirement(line, &old)));
            gone.chain(added).collect()
        }
        // Each line pins a module's content; an additional line is an additional module.
        "go.sum" => {
            let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
            let (old, new) = (lines(before), lines(after));
            let changed = (old != new).then(|| change("its lines".to_owned(), old.is_subset(&new)));
            changed.into_iter().collect()
        }
        _ if before == after => Vec::new(),
        _ => frozen(path, "its text"),
    }
}

/// The directives of a `go.mod`, one per line; an entry of a block follows the block's keyword.
fn directives(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut block = None;
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or(line).split_whitespace().collect::<Vec<_>>().join(" ");
        match (line.as_str(), &block) {
            ("", _) => {}
            (")", _) => block = None,
            (opening, None) if opening.ends_with('(') => block = Some(opening.trim_end_matches(['(', ' ']).to_owned()),
            (entry, Some(word)) => drop(found.insert(format!("{word} {entry}"))),
            (entry, None) => drop(found.insert(entry.to_owned())),
        }
    }
    found
}

/// Whether a line requires a module that was not required before.
fn is_new_requirement(line: &str, before: &BTreeSet<String>) -> bool {
    let mut words = line.split(' ');
    let (is_requirement, module) = (words.next() == Some("require"), words.next().unwrap_or_default());
    let is_known = |line: &String| line.starts_with(&format!("require {module} "));
    is_requirement && module.contains('.') && !before.iter().any(is_known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_requirement_is_free_and_all_else_is_not() {
        let old = "module a\n\ngo 1.22\n\nrequire example.com/x v1.0.0\n";
        let check = |after: &str, expected: &[(&str, bool)]| {
            let found: Vec<_> = compare("go.mod", old, after).into_iter().map(|it| (it.what, it.free)).collect();
            let expected: Vec<_> = expected.iter().map(|(what, free)| ((*what).to_owned(), *free)).collect();
            assert_eq!(found, expected, "{after}");
        };
        check("module a // x\ngo 1.22\nrequire (\n\texample.com/x v1.0.0 // indirect\n)\n", &[]);
        check(&format!("{old}require example.com/y v2.0.0\n"), &[("`require example.com/y v2.0.0`", true)]);
        check(&format!("{old}replace example.com/x => ./x\n"), &[("`replace example.com/x => ./x`", false)]);
        check(
            &old.replace("v1.0.0", "v1.1.0"),
            &[("`require example.com/x v1.0.0`", false), ("`require example.com/x v1.1.0`", false)],
        );
    }

    #[test]
    fn a_sum_may_only_grow() {
        let free = |before: &str, after: &str| compare("go.sum", before, after).first().map(|it| it.free);
        assert_eq!(free("a 1\n", "a 1\nb 2\n"), Some(true));
        assert_eq!(free("a 1\n", "a 2\n"), Some(false));
        assert_eq!(free("a 1\n", "a 1\n"), None);
    }
}
