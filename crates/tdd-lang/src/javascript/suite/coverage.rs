//! Measures which lines the tests of a JavaScript project execute, as counted by node, vitest or jest.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use tdd_core::command::Finished;
use tdd_core::coverage::Coverage;

use super::JavaScriptSuite;
use crate::coverage::{measuring, of_text};
use crate::javascript::owns;
use crate::javascript::runner::chosen;
use crate::javascript::test_command::Program;
use crate::language::{Measured, Next, Project, Selection, Settings, Sources, Suite};

/// Files that node runs without compiling.
const PLAIN: [&str; 3] = [".js", ".mjs", ".cjs"];

/// Begins a run that measures these files.
pub fn coverage(project: &Project, settings: &Settings, paths: &[String]) -> Option<Box<dyn Suite<Measured>>> {
    let suite = JavaScriptSuite::new(project, settings, Selection::All).ok()?;
    let paths: Vec<String> = paths.iter().filter(|path| owns(path)).cloned().collect();
    if paths.is_empty() {
        return None;
    }
    Some(Box::new(Watching { suite: Some(suite), project: project.clone(), paths, run: None }))
}

/// A run that measures coverage: node counts in plain files; vitest and jest map back to the sources.
struct Watching {
    suite: Option<JavaScriptSuite>,
    project: Project,
    paths: Vec<String>,
    run: Option<Box<dyn Suite<Measured>>>,
}

impl Watching {
    /// The run, or why nothing can be measured.
    fn begin(&self, mut suite: JavaScriptSuite, sources: &dyn Sources) -> Result<Box<dyn Suite<Measured>>, String> {
        let program = chosen(&suite.command, &self.project, sources)?.program;
        let is_plain = |path: &&String| PLAIN.iter().any(|ending| path.ends_with(ending));
        let can = |path: &&String| program != Program::Node || is_plain(path);
        let paths: Vec<String> = self.paths.iter().filter(can).cloned().collect();
        if paths.is_empty() {
            return Err("what node compiles cannot be measured".to_owned());
        }
        suite.watch = paths.iter().filter_map(|path| self.project.relative_path(path)).map(str::to_owned).collect();
        let project = self.project.clone();
        let read =
            move |said: &[Finished], sources: &dyn Sources| read(said, program.name(), &project, &paths, sources);
        Ok(measuring(Box::new(suite), read))
    }
}

impl Suite<Measured> for Watching {
    fn next(&mut self, sources: &dyn Sources) -> Next<Measured> {
        if let Some(suite) = self.suite.take() {
            match self.begin(suite, sources) {
                Ok(run) => self.run = Some(run),
                Err(why) => return Next::Done(Err(why)),
            }
        }
        match &mut self.run {
            Some(run) => run.next(sources),
            None => Next::Done(Err("the tests were not run".to_owned())),
        }
    }

    fn feed(&mut self, finished: Vec<Finished>) {
        if let Some(run) = &mut self.run {
            run.feed(finished);
        }
    }
}

/// What each process executed, by file, as lists of functions with their ranges.
#[derive(Debug, Deserialize)]
struct CoverageReport {
    watched: Option<Vec<BTreeMap<String, Vec<Vec<Counted>>>>>,
}

/// A range's start and end, in UTF-16 units, and how often it was executed.
type Counted = (usize, usize, u64);

fn read(said: &[Finished], runner: &str, project: &Project, paths: &[String], sources: &dyn Sources) -> Measured {
    let told = said.first().and_then(|run| serde_json::from_slice::<Value>(&run.stdout.bytes).ok());
    let told = told.and_then(|told| serde_json::from_value::<CoverageReport>(told).ok()).and_then(|told| told.watched);
    let Some(processes) = told else { return Err(format!("{runner} wrote no coverage")) };
    let mut coverage = Coverage::default();
    for path in paths {
        let (Some(text), Some(below)) = (sources.read(path), project.relative_path(path)) else { continue };
        let mut idle = vec![true; text.lines().count()];
        for functions in processes.iter().filter_map(|files| files.get(below)) {
            for (known, seen) in idle.iter_mut().zip(idle_lines(&text, functions)) {
                *known &= seen;
            }
        }
        of_text(&mut coverage, path, &text, |line| idle.get(line - 1).copied().unwrap_or_default());
    }
    Ok(coverage)
}

/// For each line, whether nothing on it was executed. Inner ranges follow those around them.
fn idle_lines(text: &str, functions: &[Vec<Counted>]) -> Vec<bool> {
    let mut executed = vec![true; text.encode_utf16().count()];
    for (start, end, count) in functions.iter().flatten() {
        let end = (*end).min(executed.len());
        executed[(*start).min(end)..end].fill(*count > 0);
    }
    let mut at = 0;
    let mut idle = Vec::new();
    for line in text.split_inclusive('\n') {
        let mut nothing = true;
        for c in line.chars() {
            nothing &= c.is_whitespace() || !executed[at];
            at += c.len_utf16();
        }
        idle.push(nothing);
    }
    idle
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tdd_core::command::{Captured, Exit};

    use super::*;
    use crate::fixture::memory;

    const CODE: &str = "// ä😀\nexport function square(n) {\n  if (n < 0) {\n    n = -n;\n  }\n  return n * n;\n}\n\nfunction cube(n) {\n  return n * n * n;\n}\n";

    /// The number of UTF-16 units before a text.
    fn at(part: &str) -> usize {
        CODE[..CODE.find(part).unwrap()].encode_utf16().count()
    }

    fn idle(watched: &Value) -> Result<Vec<usize>, String> {
        let stdout = Captured::whole(json!({"complete": true, "watched": watched}).to_string());
        let finished = Finished::new(Exit::Passed, stdout, Captured::default());
        let project = Project { root: "sub".to_owned(), description: String::new() };
        let path = "sub/a.js".to_owned();
        let coverage =
            read(&[finished], "node", &project, std::slice::from_ref(&path), &memory(&[("sub/a.js", CODE)]))?;
        let lines = coverage.of(&path).into_iter().flatten();
        Ok(lines.filter(|(_, executed)| !**executed).map(|(line, _)| *line).collect())
    }

    fn process(square: u64, cube: u64) -> Value {
        let end = CODE.encode_utf16().count();
        let negative = [at("{\n    n"), at("\n  return n * n;"), 0];
        let functions = json!([
            [[0, end, 1]],
            [[at("function square"), at("\n\nfunction cube"), square], negative],
            [[at("function cube"), end - 1, cube]],
        ]);
        json!({"a.js": functions})
    }

    #[test]
    fn lines_on_which_nothing_was_executed_are_idle() {
        assert_eq!(idle(&json!([process(1, 0)])), Ok(vec![4, 9, 10]));
        assert_eq!(idle(&json!([process(1, 0), process(0, 1)])), Ok(vec![4]));
    }

    #[test]
    fn a_file_that_nobody_loaded_is_idle_as_a_whole() {
        assert_eq!(idle(&json!([{}])), Ok(vec![2, 3, 4, 6, 9, 10]));
    }

    #[test]
    fn no_coverage_is_no_measurement() {
        assert!(idle(&Value::Null).is_err());
    }
}
