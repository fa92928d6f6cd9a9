//! Measures which lines the tests of a Go module execute, from the profile that `go test` writes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use tdd_core::command::Finished;
use tdd_core::coverage::Coverage;

use super::GoSuite;
use crate::coverage::{measuring, of_text};
use crate::go::owns;
use crate::go::project::module_path;
use crate::language::{Measured, Project, Selection, Settings, Sources, Suite, join};

/// Runs a command and then prints the profile, whose path is `$0`.
pub(super) const AND_PROFILE: &str = "# go test, and then its profile\n\"$@\"\ncode=$?\ncat \"$0\"\nexit $code\n";

/// Begins a run that measures the coverage of these files.
pub fn coverage(project: &Project, settings: &Settings, paths: &[String]) -> Option<Box<dyn Suite<Measured>>> {
    let suite = GoSuite { measures: true, ..GoSuite::new(project, settings, Selection::All).ok()? };
    // A command that picks tests runs without the script that sets the profile's folder.
    if suite.command.picks {
        return None;
    }
    let project = project.clone();
    let paths: Vec<String> = paths.iter().filter(|path| owns(path)).cloned().collect();
    Some(measuring(Box::new(suite), move |runs, sources| read(runs, &project, &paths, sources)))
}

fn read(runs: &[Finished], project: &Project, paths: &[String], sources: &dyn Sources) -> Measured {
    let manifest = sources.read(&join(&project.root, "go.mod")).unwrap_or_default();
    let module = module_path(&manifest).ok_or("`go.mod` does not name its module")?;
    let text = runs.first().map(|run| run.stdout.text()).unwrap_or_default();
    if !text.lines().any(|line| line.starts_with("mode: ")) {
        return Err("go test wrote no profile".to_owned());
    }
    let mut blocks: BTreeMap<String, Vec<(RangeInclusive<usize>, bool)>> = BTreeMap::new();
    for (file, lines, executed) in text.lines().filter_map(block) {
        if let Some(below) = file.strip_prefix(module).and_then(|below| below.strip_prefix('/')) {
            blocks.entry(project.repository_path(below)).or_default().push((lines, executed));
        }
    }
    let mut coverage = Coverage::default();
    for path in paths {
        // A file without a block has no code, or is not built on this machine.
        let (Some(blocks), Some(text)) = (blocks.get(path), sources.read(path)) else { continue };
        let lines = |wanted: bool| -> BTreeSet<usize> {
            blocks.iter().filter(|(_, executed)| *executed == wanted).flat_map(|(lines, _)| lines.clone()).collect()
        };
        let (executed, idle) = (lines(true), lines(false));
        of_text(&mut coverage, path, &text, |line| idle.contains(&line) && !executed.contains(&line));
    }
    Ok(coverage)
}

/// One line of a profile: `example.com/calc/calc.go:3.24,5.2 1 0`.
fn block(line: &str) -> Option<(&str, RangeInclusive<usize>, bool)> {
    let (place, counts) = line.split_once(' ')?;
    let (file, range) = place.rsplit_once(':')?;
    let (start, end) = range.split_once(',')?;
    let number = |place: &str| place.split('.').next()?.parse::<usize>().ok();
    let count = counts.split(' ').nth(1)?.parse::<u64>().ok()?;
    Some((file, number(start)?..=number(end)?, count > 0))
}

#[cfg(test)]
mod tests {
    use tdd_core::command::{Captured, Exit};

    use super::*;
    use crate::fixture::memory;

    const CODE: &str = "package calc\n\nfunc Add(a, b int) int {\n\tif a < 0 {\n\t\t// Never.\n\t\treturn b\n\t}\n\n\treturn a + b\n}\n\nfunc Sub(a, b int) int {\n\treturn a - b\n}\n";

    fn idle(printed: &str, root: &str) -> Result<Vec<usize>, String> {
        let path = join(root, "calc.go");
        let sources = memory(&[(&join(root, "go.mod"), "module example.com/calc\n"), (&path, CODE)]);
        let stdout = Captured::whole(printed.as_bytes());
        let finished = Finished::new(Exit::Passed, stdout, Captured::default());
        let project = Project { root: root.to_owned(), description: String::new() };
        let coverage = read(&[finished], &project, std::slice::from_ref(&path), &sources)?;
        let lines = coverage.of(&path).into_iter().flatten();
        Ok(lines.filter(|(_, executed)| !**executed).map(|(line, _)| *line).collect())
    }

    const PROFILE: &str = "{\"Action\":\"start\",\"Package\":\"example.com/calc\"}\nmode: set\n\
        example.com/calc/calc.go:3.25,4.11 1 1\nexample.com/calc/calc.go:4.11,7.3 1 0\n\
        example.com/calc/calc.go:9.2,9.14 1 1\nexample.com/calc/calc.go:12.24,14.2 1 0\n";

    #[test]
    fn lines_with_code_in_idle_blocks_alone_are_idle() {
        for root in ["", "sub"] {
            assert_eq!(idle(PROFILE, root), Ok(vec![6, 12, 13]));
        }
    }

    #[test]
    fn a_block_that_another_package_executed_was_executed() {
        let more = format!("{PROFILE}example.com/calc/calc.go:12.24,14.2 1 1\n");
        assert_eq!(idle(&more, ""), Ok(vec![6]));
    }

    #[test]
    fn no_profile_is_no_measurement() {
        assert!(idle("{\"Action\":\"start\"}\n", "").is_err());
        assert_eq!(idle("mode: set\n", ""), Ok(Vec::new()));
    }
}
