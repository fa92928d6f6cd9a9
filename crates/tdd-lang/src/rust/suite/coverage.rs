//! Measures which lines the tests of a cargo project execute, if `cargo llvm-cov` is installed.
//!
//! Stable Rust cannot measure doctests.

use tdd_core::command::{Exit, Finished};
use tdd_core::coverage::Coverage;

use super::CargoSuite;
use crate::coverage::holds_code;
use crate::language::{Job, Measured, Next, Project, Selection, Settings, Sources, Suite};

/// Begins a run that measures these files.
pub fn coverage(project: &Project, settings: &Settings, paths: &[String]) -> Option<Box<dyn Suite<Measured>>> {
    let suite = CargoSuite::new(project, settings, Selection::All).ok()?;
    Some(Box::new(Instrumented { suite, paths: paths.to_vec(), stage: Stage::Begin, finished: Vec::new() }))
}

struct Instrumented {
    suite: CargoSuite,
    paths: Vec<String>,
    stage: Stage,
    finished: Vec<Finished>,
}

enum Stage {
    Begin,
    Finding,
    Running,
}

impl Suite<Measured> for Instrumented {
    fn next(&mut self, sources: &dyn Sources) -> Next<Measured> {
        let finished = std::mem::take(&mut self.finished);
        match self.stage {
            Stage::Begin => {
                self.stage = Stage::Finding;
                Next::Run(vec![self.suite.tool(self.suite.cargo(["llvm-cov", "--version"]), "finding cargo-llvm-cov")])
            }
            Stage::Finding if finished.first().is_some_and(|found| found.exit == Exit::Passed) => {
                self.stage = Stage::Running;
                Next::Run(self.jobs(sources))
            }
            Stage::Finding => Next::Done(Err("cargo-llvm-cov is not installed".to_owned())),
            Stage::Running => Next::Done(self.read(&finished, sources)),
        }
    }

    fn feed(&mut self, finished: Vec<Finished>) {
        self.finished = finished;
    }
}

impl Instrumented {
    /// The commands of a measurement. Cleans first, so that counts of earlier runs and of deleted files are not
    /// included.
    fn jobs(&self, sources: &dyn Sources) -> Vec<Job> {
        let command = &self.suite.command;
        let mut clean = self.suite.cargo(["llvm-cov", "clean", "--workspace"]);
        let mut test = self.suite.cargo(["llvm-cov", "test", "--no-report"]);
        let mut report = self.suite.cargo(["llvm-cov", "report", "--lcov"]);
        test.extend(command.packages.iter().chain(&command.build).cloned());
        report.extend(places(&command.build));
        if let Some(manifest) = &command.manifest {
            let there = ["--manifest-path".to_owned(), manifest.clone()];
            clean.extend(there.clone());
            report.extend(there);
        }
        let deadline = self.suite.settings.build_timeout + self.suite.settings.timeout * 6;
        let jobs = [
            self.suite.tool(clean, "clearing old counts"),
            self.suite.job_with_tests(test, "running instrumented tests", deadline, sources),
            self.suite.tool(report, "reading coverage"),
        ];
        // Keeps `cargo llvm-cov` from asking whether it may install components.
        let quiet = |job: Job| Job { command: job.command.clone().with_env("CARGO_LLVM_COV_SETUP", "no"), ..job };
        jobs.map(quiet).into()
    }

    fn read(&self, finished: &[Finished], sources: &dyn Sources) -> Measured {
        let [_, tested, report] = finished else { return Err("the tests were not run".to_owned()) };
        for (what, run) in [("the tests", tested), ("the report", report)] {
            if run.exit != Exit::Passed {
                let stderr = run.stderr.text();
                let error = stderr.lines().find(|line| line.starts_with("error")).unwrap_or_default();
                return Err(format!("cargo llvm-cov: {what} ended with {} {error}", run.exit).trim_end().to_owned());
            }
        }
        Ok(read_lcov(&report.stdout.text(), &self.paths, sources))
    }
}

/// The build flags that decide where the products are.
fn places(build: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for (at, flag) in build.iter().enumerate() {
        match flag.split('=').next() {
            Some("--release" | "-r") => found.push("--release".to_owned()),
            Some("--profile" | "--target") if flag.contains('=') => found.push(flag.clone()),
            Some("--profile" | "--target") => found.extend(build[at..].iter().take(2).cloned()),
            _ => {}
        }
    }
    found
}

/// Reads the wanted files' lines from a report, which names files by absolute path.
fn read_lcov(text: &str, paths: &[String], sources: &dyn Sources) -> Coverage {
    let mut coverage = Coverage::default();
    let mut file: Option<(&str, Vec<bool>)> = None;
    for line in text.lines() {
        if let Some(full) = line.strip_prefix("SF:") {
            file = source_of(full, sources).filter(|path| paths.iter().any(|wanted| wanted == path)).map(|path| {
                coverage.measured(path);
                (path, sources.read(path).unwrap_or_default().lines().map(holds_code).collect())
            });
        } else if let (Some((path, with_code)), Some((number, executed))) = (&file, counted(line))
            && number.checked_sub(1).and_then(|at| with_code.get(at)) == Some(&true)
        {
            coverage.saw(path, number, executed);
        }
    }
    coverage
}

/// The repository file at an absolute path: the longest path that it ends with.
fn source_of<'s>(full: &str, sources: &'s dyn Sources) -> Option<&'s str> {
    let ends = |path: &&String| full.strip_suffix(path.as_str()).is_some_and(|before| before.ends_with('/'));
    sources.files().iter().filter(ends).max_by_key(|path| path.len()).map(String::as_str)
}

/// A line number and whether the line was executed: `DA:13,0`.
fn counted(line: &str) -> Option<(usize, bool)> {
    let (number, count) = line.strip_prefix("DA:")?.split_once(',')?;
    let count = count.split(',').next()?.parse::<u64>().ok()?;
    Some((number.parse().ok()?, count > 0))
}

#[cfg(test)]
mod tests {
    use tdd_core::command::Captured;

    use super::*;
    use crate::fixture::memory;

    const CODE: &str =
        "pub fn square(n: u32) -> u32 {\n    if n > 100 {\n        // Never.\n        return 0;\n    }\n    n * n\n}\n";
    const LCOV: &str = "SF:/somewhere/a/src/lib.rs\nFN:1,square\nFNDA:3,square\nDA:1,3\nDA:2,3\nDA:3,0\nDA:4,0\nDA:5,3\nDA:6,3\nDA:7,3\nend_of_record\nSF:/somewhere/src/lib.rs\nDA:1,0\nend_of_record\nSF:/elsewhere/x.rs\nDA:1,0\nend_of_record\n";

    fn finished(exit: Exit, stdout: &str, stderr: &str) -> Finished {
        let (stdout, stderr) = (Captured::whole(stdout), Captured::whole(stderr));
        Finished::new(exit, stdout, stderr)
    }

    /// Plays a run; also returns the commands.
    fn play(answers: Vec<Vec<Finished>>) -> (Measured, Vec<String>) {
        let sources = memory(&[("a/src/lib.rs", CODE), ("src/lib.rs", CODE)]);
        let project = Project { root: String::new(), description: String::new() };
        let mut run = coverage(&project, &Settings::default(), &["a/src/lib.rs".to_owned()]).unwrap();
        let (mut answers, mut asked) = (answers.into_iter(), Vec::new());
        loop {
            match run.next(&sources) {
                Next::Done(measured) => return (measured, asked),
                Next::Run(jobs) => {
                    asked.extend(jobs.iter().map(|job| job.command.line()));
                    run.feed(answers.next().unwrap());
                }
            }
        }
    }

    #[test]
    fn lines_with_code_are_executed_or_idle() {
        let passed = |stdout: &str| finished(Exit::Passed, stdout, "");
        let (measured, asked) =
            play(vec![vec![passed("cargo-llvm-cov 0.9")], vec![passed(""), passed(""), passed(LCOV)]]);
        let coverage = measured.unwrap();
        let lines: Vec<_> = coverage.of("a/src/lib.rs").unwrap().iter().map(|(line, ran)| (*line, *ran)).collect();
        assert_eq!(lines, [(1, true), (2, true), (4, false), (6, true)]);
        assert_eq!(coverage.files().count(), 1);
        assert_eq!(
            asked,
            [
                "cargo llvm-cov --version",
                "cargo llvm-cov clean --workspace",
                "cargo llvm-cov test --no-report --workspace",
                "cargo llvm-cov report --lcov",
            ]
        );
    }

    #[test]
    fn the_report_looks_where_the_tests_were_built() {
        let of = |flags: &str| places(&flags.split(' ').map(str::to_owned).collect::<Vec<_>>()).join(" ");
        assert_eq!(of("--release --features a"), "--release");
        assert_eq!(of("--locked --profile ci --target=x"), "--profile ci --target=x");
        assert_eq!(of("--all-features"), "");
    }

    #[test]
    fn what_is_not_installed_or_fails_measures_nothing() {
        let missing = finished(Exit::Failed(101), "", "error: no such command: `llvm-cov`\n");
        assert_eq!(play(vec![vec![missing]]).0, Err("cargo-llvm-cov is not installed".to_owned()));
        let there = || vec![finished(Exit::Passed, "", "")];
        let red = finished(Exit::Failed(101), "", "    Finished\nerror: test failed, to rerun pass `--lib`\n");
        let (measured, _) = play(vec![there(), [there(), vec![red], there()].concat()]);
        let why = "cargo llvm-cov: the tests ended with exit 101 error: test failed, to rerun pass `--lib`";
        assert_eq!(measured, Err(why.to_owned()));
    }
}
