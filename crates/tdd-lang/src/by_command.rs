//! Runs each test with its configured command: the usual one, or one from `test_command_for`.

use std::collections::BTreeMap;

use tdd_core::command::Finished;
use tdd_core::report::{Cause, Obstacle, Report, TestResult};
use tdd_core::test_id::TestId;

use crate::junit;
use crate::language::{CommandFor, Language, Next, Project, Selection, Settings, Sources, Suite, UnknownCommand};
use crate::pattern;
use crate::run::report_without_run;

/// The word of a command that is replaced by the ids of the tests to run.
const TEST_IDS: &str = "{test_ids}";

/// A run, or why its command cannot be read.
type Begun<'l> = Result<Box<dyn Suite + 'l>, UnknownCommand>;

/// Begins a run with one command, or with several after checking that each can be read.
pub(crate) fn begin<'l>(
    language: &'l dyn Language,
    project: &Project,
    settings: &Settings,
    selection: Selection,
) -> Begun<'l> {
    if settings.test_command_for.is_empty() {
        return by_one(language, project, settings, selection);
    }
    let plain = Settings { test_command_for: Vec::new(), ..settings.clone() };
    for command in std::iter::once(None).chain(settings.test_command_for.iter().map(Some)) {
        drop(by_one(language, project, &with_command(&plain, command), Selection::All)?);
    }
    let (rules, project) = (settings.test_command_for.clone(), project.clone());
    let stage = Stage::Begin(selection);
    Ok(Box::new(MultiCommandSuite { language, project, settings: plain, rules, stage }))
}

/// Runs the command of the settings: in the language's own way, or by the JUnit report that it writes.
fn by_one<'l>(language: &'l dyn Language, project: &Project, settings: &Settings, selection: Selection) -> Begun<'l> {
    // A known runner gets the selection in its own arguments, so the placeholder is dropped.
    let known = |words: &Vec<String>| words.iter().filter(|word| *word != TEST_IDS).cloned().collect();
    let own = Settings { test_cmd: settings.test_cmd.as_ref().map(known), ..settings.clone() };
    match (language.suite(project, &own, selection.clone()), &settings.junit) {
        (Err(_), Some(junit)) => {
            let command = with_ids(&language.test_command(settings), selection.ids(), project);
            Ok(junit::suite(language, project, settings, (&command, junit), selection))
        }
        (own, _) => own,
    }
}

/// A command with the placeholder replaced by ids, relative to the project's folder.
fn with_ids(command: &[String], ids: &[TestId], project: &Project) -> Vec<String> {
    let ids: Vec<String> =
        ids.iter().map(|id| project.relative_path(id.as_str()).unwrap_or(id.as_str()).to_owned()).collect();
    let filled = command.iter().flat_map(|word| match word.as_str() {
        TEST_IDS => ids.clone(),
        word => vec![word.replace(TEST_IDS, &ids.join(" "))],
    });
    filled.collect()
}

fn with_command(settings: &Settings, other: Option<&CommandFor>) -> Settings {
    match other {
        Some(other) => Settings { test_cmd: Some(other.command.clone()), ..settings.clone() },
        None => settings.clone(),
    }
}

/// A run with several commands, one after the other.
struct MultiCommandSuite<'l> {
    language: &'l dyn Language,
    project: Project,
    settings: Settings,
    rules: Vec<CommandFor>,
    stage: Stage<'l>,
}

enum Stage<'l> {
    Begin(Selection),
    Running(Running<'l>),
}

/// A run in progress.
struct Running<'l> {
    /// The shares still to run; the next one is last.
    left: Vec<Share>,
    now: Option<(Share, Box<dyn Suite + 'l>)>,
    /// The tests that have a command of their own.
    special: Vec<TestId>,
    reports: Vec<(Share, Report)>,
}

/// The tests that one command runs.
#[derive(Clone)]
struct Share {
    /// Index of the rule; `None` for the usual command.
    rule: Option<usize>,
    selection: Selection,
}

impl Suite for MultiCommandSuite<'_> {
    fn next(&mut self, sources: &dyn Sources) -> Next {
        if let Stage::Begin(selection) = &self.stage {
            self.stage = Stage::Running(self.divided(selection, sources));
        }
        loop {
            let Stage::Running(running) = &mut self.stage else { return Next::Done(Report::default()) };
            match running.now.take() {
                Some((share, mut suite)) => match suite.next(sources) {
                    Next::Run(jobs) => {
                        running.now = Some((share, suite));
                        return Next::Run(jobs);
                    }
                    Next::Done(report) => running.reports.push((share, report)),
                },
                None => match running.left.pop() {
                    Some(share) => {
                        let rule = share.rule.map(|rule| &self.rules[rule]);
                        let settings = with_command(&self.settings, rule);
                        match by_one(self.language, &self.project, &settings, share.selection.clone()) {
                            Ok(suite) => running.now = Some((share, suite)),
                            Err(unknown) => {
                                let obstacle = Obstacle::new(&unknown.command, Cause::UnknownOutput, &unknown.reason);
                                let report = report_without_run(&share.selection, obstacle);
                                running.reports.push((share, report));
                            }
                        }
                    }
                    None => return Next::Done(merge_reports(&running.reports, &running.special)),
                },
            }
        }
    }

    fn feed(&mut self, finished: Vec<Finished>) {
        if let Stage::Running(Running { now: Some((_, suite)), .. }) = &mut self.stage {
            suite.feed(finished);
        }
    }
}

impl<'l> MultiCommandSuite<'l> {
    /// Assigns the tests to commands. If all tests are selected, the usual command runs all of them, because only a
    /// runner finds every test; its results for tests that have a command of their own are dropped.
    fn divided(&self, selection: &Selection, sources: &dyn Sources) -> Running<'l> {
        let mut by_rule: BTreeMap<usize, Vec<TestId>> = BTreeMap::new();
        let mut usual = Vec::new();
        match selection {
            Selection::All => {
                for path in sources.files().iter().filter(|path| self.project.relative_path(path).is_some()) {
                    if !self.language.owns(path) || !self.rules.iter().any(|rule| self.may_fit(rule, path)) {
                        continue;
                    }
                    for id in self.language.tests_in(&self.project, path, sources) {
                        if let Some(rule) = self.rule_of(path, &id) {
                            by_rule.entry(rule).or_default().push(id);
                        }
                    }
                }
            }
            Selection::Only(ids) => {
                for id in ids {
                    let found = || self.language.find_test(id, sources).map(|(path, _)| path);
                    let path = id.path().map(str::to_owned).or_else(found);
                    match path.and_then(|path| self.rule_of(&path, id)) {
                        Some(rule) => by_rule.entry(rule).or_default().push(id.clone()),
                        None => usual.push(id.clone()),
                    }
                }
            }
        }
        let special = by_rule.values().flatten().cloned().collect();
        let others = by_rule.into_iter().rev();
        let mut left: Vec<Share> =
            others.map(|(rule, ids)| Share { rule: Some(rule), selection: Selection::Only(ids) }).collect();
        match selection {
            Selection::All => left.push(Share { rule: None, selection: Selection::All }),
            Selection::Only(_) if usual.is_empty() => {}
            Selection::Only(_) => left.push(Share { rule: None, selection: Selection::Only(usual) }),
        }
        Running { left, now: None, special, reports: Vec::new() }
    }

    /// The first rule that matches a test of this file.
    fn rule_of(&self, path: &str, id: &TestId) -> Option<usize> {
        let name = id.name().unwrap_or_else(|| id.as_str());
        self.rules.iter().position(|rule| self.fits(rule, path, name))
    }

    fn fits(&self, rule: &CommandFor, path: &str, name: &str) -> bool {
        self.paths(path).any(|path| {
            if is_glob(&rule.pattern) {
                pattern::matches(&rule.pattern, path)
            } else {
                format!("{path}::{name}").starts_with(&rule.pattern)
            }
        })
    }

    /// Whether a rule may match a test of this file.
    fn may_fit(&self, rule: &CommandFor, path: &str) -> bool {
        self.fits(rule, path, "") || self.paths(path).any(|path| rule.pattern.starts_with(&format!("{path}::")))
    }

    /// The spellings of a path: relative to the repository's root, and relative to the project's folder.
    fn paths<'p>(&self, path: &'p str) -> impl Iterator<Item = &'p str> {
        std::iter::once(path).chain(self.project.relative_path(path))
    }
}

fn is_glob(pattern: &str) -> bool {
    pattern.contains(['*', '?'])
}

/// Merges the reports; each test keeps the result of its own command.
fn merge_reports(reports: &[(Share, Report)], special: &[TestId]) -> Report {
    let mut results: Vec<TestResult> = Vec::new();
    let mut obstacles = Vec::new();
    for (share, report) in reports {
        let is_ours = |id: &TestId| share.rule.is_some() || !special.contains(id);
        results.extend(report.results().filter(|result| is_ours(&result.id)).cloned());
        for obstacle in report.obstacles() {
            let tests: Vec<TestId> = obstacle.tests.iter().filter(|id| is_ours(id)).cloned().collect();
            // An obstacle that only blocks tests which have another command does not matter.
            if tests.is_empty() && !obstacle.tests.is_empty() {
                continue;
            }
            obstacles.push(Obstacle { tests, ..obstacle.clone() });
        }
    }
    // If any command ran tests, it does not matter that another one found none.
    if !results.is_empty() {
        obstacles.retain(|obstacle| obstacle.cause != Cause::ZeroTests);
    }
    Report::new(results, obstacles)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;
    use crate::python::Python;
    use crate::rust::Rust;

    fn multi_command_suite(root: &str, patterns: &[&str]) -> MultiCommandSuite<'static> {
        let rules = patterns.iter().map(|pattern| CommandFor {
            pattern: (*pattern).to_owned(),
            command: vec!["pytest".to_owned(), (*pattern).to_owned()],
        });
        MultiCommandSuite {
            language: &Python,
            project: Project { root: root.to_owned(), description: String::new() },
            settings: Settings::default(),
            rules: rules.collect(),
            stage: Stage::Begin(Selection::All),
        }
    }

    fn id(text: &str) -> TestId {
        TestId::parse(text).unwrap()
    }

    #[test]
    fn a_pattern_is_a_glob_for_files_or_the_beginning_of_an_id() {
        for (root, pattern, fits) in [
            ("", "tests/slow/**", true),
            ("", "tests/*/test_a.py", true),
            ("", "tests/*", false),
            ("", "tests/slow", true),
            ("", "tests/slow/test_a.py::test_x", true),
            ("", "tests/slow/test_a.py::test_y", false),
            ("tests", "slow/", true),
            ("tests", "slow/**", true),
            ("web", "slow/", false),
        ] {
            let rules = multi_command_suite(root, &[pattern]);
            let found = rules.rule_of("tests/slow/test_a.py", &id("tests/slow/test_a.py::test_x"));
            assert_eq!(found.is_some(), fits, "{root} {pattern}");
            assert!(!fits || rules.may_fit(&rules.rules[0], "tests/slow/test_a.py"), "{root} {pattern}");
        }
        let rules = multi_command_suite("", &["tests/slow/test_a.py::", "tests/"]);
        assert_eq!(rules.rule_of("tests/slow/test_a.py", &id("tests/slow/test_a.py::test_x")), Some(0));
    }

    #[test]
    fn each_test_goes_to_the_first_command_that_it_fits_and_the_rest_to_the_usual_one() {
        let sources = memory(&[
            ("tests/test_a.py", "def test_x(): pass\n"),
            ("tests/slow/test_b.py", "# @tdd-test-id: slug\ndef test_y(): pass\ndef test_z(): pass\n"),
        ]);
        let rules = multi_command_suite("", &["tests/slow/test_b.py::test_z", "tests/slow/"]);
        let shares = |selection: &Selection| -> Vec<String> {
            let running = rules.divided(selection, &sources);
            let shown = |share: &Share| {
                let ids: Vec<&str> = share.selection.ids().iter().map(TestId::as_str).collect();
                format!("{:?} {}", share.rule, ids.join(" "))
            };
            running.left.iter().rev().map(shown).collect()
        };
        let (first, second) = ("Some(0) tests/slow/test_b.py::test_z", "Some(1) slug");
        assert_eq!(shares(&Selection::All), ["None ", first, second]);
        let only = vec![id("slug"), id("tests/test_a.py::test_x")];
        assert_eq!(shares(&Selection::Only(only)), ["None tests/test_a.py::test_x", second]);
    }

    #[test]
    fn a_test_counts_as_its_own_command_has_it() {
        let result = |text: &str, cause| match cause {
            Some(cause) => crate::run::failed(id(text), cause, "no", 1),
            None => TestResult::new(id(text), tdd_core::report::Outcome::Pass, 1),
        };
        let obstacle = |cause, tests: &[&str]| Obstacle {
            tests: tests.iter().map(|text| id(text)).collect(),
            ..Obstacle::new("x", cause, "")
        };
        let usual = Report::new(
            [result("a.py::x", None), result("s.py::y", Some(Cause::Assertion))],
            vec![obstacle(Cause::LoadFailure, &["s.py::z"]), obstacle(Cause::ZeroTests, &[])],
        );
        let own = Report::new([result("s.py::y", None)], vec![obstacle(Cause::MissingSymbol, &["s.py::z"])]);
        let share = |rule| Share { rule, selection: Selection::All };
        let report = merge_reports(&[(share(None), usual), (share(Some(0)), own)], &[id("s.py::y"), id("s.py::z")]);
        assert_eq!(report.counts().passed, 2);
        let causes: Vec<Cause> = report.obstacles().iter().map(|obstacle| obstacle.cause).collect();
        assert_eq!(causes, [Cause::MissingSymbol]);
    }

    #[test]
    fn the_ids_stand_where_the_command_wants_them() {
        let project = Project { root: "web".to_owned(), description: String::new() };
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let ids = [id("web/t.sh::a"), id("slug")];
        let filled = with_ids(&words("run {test_ids} --only={test_ids} x"), &ids, &project);
        assert_eq!(filled, ["run", "t.sh::a", "slug", "--only=t.sh::a slug", "x"]);
    }

    #[test]
    fn a_command_that_nobody_can_read_needs_a_report() {
        let project = Project { root: String::new(), description: String::new() };
        let with = |command: &str, junit: Option<&str>| Settings {
            test_command_for: vec![CommandFor {
                pattern: "tests/".to_owned(),
                command: command.split(' ').map(str::to_owned).collect(),
            }],
            junit: junit.map(str::to_owned),
            ..Settings::default()
        };
        let begin = |settings: &Settings| super::begin(&Rust, &project, settings, Selection::All).map(|_| ());
        assert_eq!(begin(&with("cargo test {test_ids} -- --ignored", None)), Ok(()));
        assert!(begin(&with("make slow", None)).is_err());
        assert_eq!(begin(&with("make slow", Some("out.xml"))), Ok(()));
    }
}
