//! Measures which lines the tests of a Python project execute: Python itself reports them to our runner, so nothing
//! must be installed.

use serde_json::json;
use tdd_core::command::Finished;
use tdd_core::coverage::Coverage;

use super::PytestSuite;
use super::events::{Event, RunnerReport, Watched};
use crate::coverage::measuring;
use crate::language::{Measured, Project, Selection, Settings, Suite};
use crate::python::owns;

/// Script that records executed lines inside the process that runs the tests.
const WATCH: &str = include_str!("watch.py");

/// Begins a run that measures the coverage of these files.
pub fn coverage(project: &Project, settings: &Settings, paths: &[String]) -> Option<Box<dyn Suite<Measured>>> {
    let mut suite = PytestSuite::new(project, settings, Selection::All).ok()?;
    let files: Vec<&str> =
        paths.iter().filter(|path| owns(path)).filter_map(|path| project.relative_path(path)).collect();
    suite.watch = Some(json!({"script": WATCH, "files": files}));
    let project = project.clone();
    Some(measuring(Box::new(suite), move |runs, _| read(runs, &project)))
}

fn read(runs: &[Finished], project: &Project) -> Measured {
    let report = runs.first().and_then(|run| serde_json::from_slice::<RunnerReport>(&run.stdout.bytes).ok());
    let events = report.into_iter().flat_map(|report| report.events);
    let mut watched = events.filter_map(|event| if let Event::Watched(watched) = event { Some(watched) } else { None });
    match watched.next() {
        Some(Watched { doubt: Some(doubt), .. }) => Err(doubt),
        Some(Watched { lines, doubt: None }) => {
            let mut coverage = Coverage::default();
            for (file, lines) in lines {
                let path = project.repository_path(&file);
                coverage.measured(&path);
                for (line, executed) in lines {
                    coverage.saw(&path, line, executed);
                }
            }
            Ok(coverage)
        }
        None => Err("pytest ended before it could tell".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use tdd_core::command::{Captured, Exit};

    use super::*;

    fn of(text: &str) -> Measured {
        let stdout = Captured::whole(text.as_bytes());
        let finished = Finished::new(Exit::Passed, stdout, Captured::default());
        read(&[finished], &Project { root: "sub".to_owned(), description: String::new() })
    }

    #[test]
    fn lines_are_told_by_file() {
        let told = r#"{"complete": true, "events": [{"type": "collected", "ids": []},
            {"type": "watched", "lines": {"calc.py": [[1, true], [2, false]], "empty.py": []}, "doubt": null},
            {"type": "end", "exit": 0}]}"#;
        let coverage = of(told).unwrap();
        let lines = coverage.of("sub/calc.py").unwrap();
        assert_eq!(lines.iter().map(|(line, ran)| (*line, *ran)).collect::<Vec<_>>(), [(1, true), (2, false)]);
        assert!(coverage.of("sub/empty.py").unwrap().is_empty());
        assert_eq!(coverage.of("calc.py"), None);
    }

    #[test]
    fn a_doubt_and_silence_are_no_measurement() {
        let doubt = r#"{"complete": true, "events": [{"type": "watched", "lines": {}, "doubt": "another"}]}"#;
        assert_eq!(of(doubt), Err("another".to_owned()));
        assert!(of(r#"{"complete": true, "events": []}"#).is_err());
        assert!(of("").is_err());
    }
}
