//! Treats several projects in one repository as one; each file belongs to the innermost project around it.

use std::collections::BTreeMap;
use std::rc::Rc;

use tdd_core::change::{Change, Sort};
use tdd_core::command::{CommandSpec, Finished};
use tdd_core::coverage::Coverage;
use tdd_core::merge::{MergeError, Merged};
use tdd_core::report::{Cause, Obstacle, Report, TestResult};
use tdd_core::signs::Signs;
use tdd_core::test_id::TestId;

use crate::alter::{Instrumented, Request, together};
use crate::item::{Items, TestItem};
use crate::language::{
    Demand, Language, Measured, Next, Project, Selection, Settings, Skip, Sources, Suite, Tool, UnknownCommand,
};
use crate::plain::{Copies, PlainProgram};
use crate::test_words;
use crate::twin::{AlterationMode, ScratchNeeds, Twins};

/// One of the projects.
#[derive(Clone)]
pub struct Member {
    /// The project's folder, relative to the repository's root.
    pub root: String,
    /// The project's language.
    pub language: Rc<dyn Language>,
    /// The project's own commands and limits.
    pub settings: Settings,
    /// Whether the project still exists; a removed project is not checked.
    pub present: bool,
}

impl Member {
    fn project(&self) -> Project {
        Project { root: self.root.clone(), description: String::new() }
    }

    fn holds(&self, path: &str) -> bool {
        self.project().relative_path(path).is_some()
    }
}

/// All projects of a repository.
///
/// A project sees its own files and those outside of all projects, but not those of another project.
#[derive(Clone)]
pub struct ProjectSet {
    members: Vec<Member>,
}

impl ProjectSet {
    /// The projects, in the order in which they are tested and checked.
    pub fn new(members: Vec<Member>) -> Self {
        Self { members }
    }

    /// The innermost project around a file.
    fn at(&self, path: &str) -> Option<usize> {
        let around = (0..self.members.len()).filter(|at| self.members[*at].holds(path));
        around.max_by_key(|at| self.members[*at].root.len())
    }

    fn member(&self, path: &str) -> Option<&Member> {
        self.at(path).map(|at| &self.members[at])
    }

    /// The files that a project sees: its own, and those outside of all projects.
    fn view<'s>(&self, at: usize, sources: &'s dyn Sources) -> View<'s> {
        let is_seen = |path: &&String| self.at(path).is_none_or(|owner| owner == at);
        View { sources, files: sources.files().iter().filter(is_seen).cloned().collect() }
    }

    /// Only the project's own files.
    fn own<'s>(&self, at: usize, sources: &'s dyn Sources) -> View<'s> {
        let is_own = |path: &&String| self.at(path) == Some(at);
        View { sources, files: sources.files().iter().filter(is_own).cloned().collect() }
    }

    /// The projects that exist in this tree.
    fn present(&self, sources: &dyn Sources) -> Vec<(usize, Project)> {
        let found = |at: usize| self.members[at].language.detect(&self.own(at, sources)).map(|project| (at, project));
        (0..self.members.len()).filter_map(found).filter(|(at, found)| found.root == self.members[*at].root).collect()
    }

    /// The part of a project's report that is about its own tests: its runner may have run those of a nested project
    /// too.
    fn own_results(&self, at: usize, report: &Report) -> Report {
        let is_own = |path: &str| self.at(path).is_none_or(|owner| owner == at);
        let results = report.results().filter(|result| result.id.path().is_none_or(is_own)).cloned();
        let obstacles = report.obstacles().iter().filter(|obstacle| is_own(&obstacle.subject));
        let root = &self.members[at].root;
        let is_named = |obstacle: &Obstacle| obstacle.subject.contains('/') || root.is_empty();
        let named = obstacles.cloned().map(|obstacle| {
            let subject = format!("{} in {root}", obstacle.subject);
            if is_named(&obstacle) { obstacle } else { Obstacle { subject, ..obstacle } }
        });
        Report::new(results.collect::<Vec<_>>(), named.collect())
    }

    /// The strictest sort that any project gives to a path outside of all projects.
    fn sort_outside(&self, path: &str, sources: &dyn Sources) -> (usize, Sort) {
        let sorts = (0..self.members.len()).map(|at| {
            let member = &self.members[at];
            (at, member.language.sort(&member.project(), path, &self.view(at, sources)))
        });
        sorts.min_by_key(|(_, sort)| strictness(*sort)).unwrap_or((0, Sort::Document))
    }

    /// The paths of each project; a path outside of all projects goes to the one that gives it the strictest sort.
    fn shares(&self, paths: &[String], sources: &dyn Sources) -> BTreeMap<usize, Vec<String>> {
        let mut shares: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for path in paths {
            let at = self.at(path).unwrap_or_else(|| self.sort_outside(path, sources).0);
            shares.entry(at).or_default().push(path.clone());
        }
        shares
    }
}

fn strictness(sort: Sort) -> u8 {
    match sort {
        Sort::Steering => 0,
        Sort::Production => 1,
        Sort::Test => 2,
        Sort::Document => 3,
    }
}

/// Some of a repository's files.
pub(crate) struct View<'s> {
    pub sources: &'s dyn Sources,
    pub files: Vec<String>,
}

impl Sources for View<'_> {
    fn files(&self) -> &[String] {
        &self.files
    }

    fn read(&self, path: &str) -> Option<String> {
        self.sources.read(path)
    }
}

impl Language for ProjectSet {
    fn name(&self) -> &'static str {
        "several languages"
    }

    fn detect(&self, sources: &dyn Sources) -> Option<Project> {
        let present = self.present(sources);
        let descriptions: Vec<String> =
            present.iter().map(|(_, project)| format!("{} in `{}`", project.description, project.root)).collect();
        (!descriptions.is_empty()).then(|| Project { root: String::new(), description: descriptions.join(", ") })
    }

    fn is_untested(&self, _: &Project, sources: &dyn Sources) -> bool {
        let untested =
            |(at, project): (usize, Project)| self.members[at].language.is_untested(&project, &self.view(at, sources));
        self.present(sources).into_iter().any(untested)
    }

    fn tools(&self) -> Vec<Tool> {
        let mut tools: Vec<Tool> = Vec::new();
        for tool in self.members.iter().flat_map(|member| member.language.tools()) {
            match tools.iter_mut().find(|known| known.name == tool.name) {
                Some(known) => known.required |= tool.required,
                None => tools.push(tool),
            }
        }
        tools
    }

    fn demand(&self, tool: &Tool, _: &Project, _: &Settings, sources: &dyn Sources) -> Demand {
        let of_member = |(at, project): (usize, Project)| {
            let member = &self.members[at];
            let own = member.language.tools().into_iter().find(|known| known.name == tool.name)?;
            Some(member.language.demand(&own, &project, &member.settings, &self.view(at, sources)))
        };
        let demand = self.present(sources).into_iter().filter_map(of_member).max();
        demand.unwrap_or(if tool.required { Demand::Required } else { Demand::Useful })
    }

    fn fmt(&self, _: &Project, _: &Settings, files: &[String], sources: &dyn Sources) -> Vec<CommandSpec> {
        let mut commands = Vec::new();
        for (at, member) in self.members.iter().enumerate() {
            let own: Vec<String> = files.iter().filter(|file| self.at(file) == Some(at)).cloned().collect();
            if !own.is_empty() {
                let view = self.view(at, sources);
                commands.extend(member.language.fmt(&member.project(), &member.settings, &own, &view));
            }
        }
        commands
    }

    fn check(&self, _: &Project, _: &Settings) -> Vec<CommandSpec> {
        let check = |member: &Member| member.language.check(&member.project(), &member.settings);
        self.members.iter().filter(|member| member.present).flat_map(check).collect()
    }

    fn suite(&self, _: &Project, _: &Settings, selection: Selection) -> Result<Box<dyn Suite + '_>, UnknownCommand> {
        let mut parts = Vec::new();
        for (at, member) in self.members.iter().enumerate() {
            let share = match &selection {
                Selection::All => Selection::All,
                // An id without a path is a slug; any project may have it.
                Selection::Only(ids) => Selection::Only(
                    ids.iter().filter(|id| id.path().is_none_or(|path| self.at(path) == Some(at))).cloned().collect(),
                ),
            };
            if share != Selection::Only(Vec::new()) {
                parts.push((at, crate::suite(member.language.as_ref(), &member.project(), &member.settings, share)?));
            }
        }
        Ok(Box::new(Suites::new(self, parts, all_reports)))
    }

    /// Measures only the projects of these files; `None` if one of them cannot measure.
    fn coverage<'l>(&'l self, _: &Project, _: &Settings, paths: &[String]) -> Option<Box<dyn Suite<Measured> + 'l>> {
        let mut parts = Vec::new();
        for (at, member) in self.members.iter().enumerate() {
            let own: Vec<String> = paths.iter().filter(|path| self.at(path) == Some(at)).cloned().collect();
            if !own.is_empty() {
                parts.push((at, member.language.coverage(&member.project(), &member.settings, &own)?));
            }
        }
        (!parts.is_empty()).then(|| Box::new(Suites::new(self, parts, all_lines)) as Box<dyn Suite<Measured>>)
    }

    fn test_command(&self, _: &Settings) -> Vec<String> {
        let one = |member: &Member| {
            [vec![format!("{}:", member.root)], test_words(member.language.as_ref(), &member.settings)]
        };
        self.members.iter().flat_map(|member| one(member).concat()).collect()
    }

    fn runs_skipped(&self, _: &Settings) -> bool {
        self.members.iter().any(|member| member.language.runs_skipped(&member.settings))
    }

    /// Each project has its own.
    fn default_test_command(&self) -> &'static [&'static str] {
        &[]
    }

    fn find_test(&self, id: &TestId, sources: &dyn Sources) -> Option<(String, TestItem)> {
        let find = |at: usize| self.members[at].language.find_test(id, &self.view(at, sources));
        match id.path() {
            Some(path) => find(self.at(path)?),
            None => (0..self.members.len()).find_map(find),
        }
    }

    fn tests_in(&self, _: &Project, path: &str, sources: &dyn Sources) -> Vec<TestId> {
        let Some(at) = self.at(path) else { return Vec::new() };
        self.members[at].language.tests_in(&self.members[at].project(), path, &self.view(at, sources))
    }

    fn compose(&self, path: &str, before: Option<&str>, after: Option<&str>) -> Option<String> {
        self.member(path)?.language.compose(path, before, after)
    }

    fn merge(&self, path: &str, file: &str, answer: &str) -> Option<Result<Merged, MergeError>> {
        self.member(path)?.language.merge(path, file, answer)
    }

    fn renamed(&self, path: &str, source: String, names: &BTreeMap<String, String>) -> String {
        match self.member(path) {
            Some(member) => member.language.renamed(path, source, names),
            None => source,
        }
    }

    fn owns(&self, path: &str) -> bool {
        self.member(path).is_some_and(|member| member.language.owns(path))
    }

    fn items(&self, path: &str, source: &str) -> Items {
        self.member(path).map_or_else(Items::default, |member| member.language.items(path, source))
    }

    fn sort(&self, _: &Project, path: &str, sources: &dyn Sources) -> Sort {
        match self.at(path) {
            Some(at) => {
                let member = &self.members[at];
                member.language.sort(&member.project(), path, &self.view(at, sources))
            }
            None => self.sort_outside(path, sources).1,
        }
    }

    fn sorts(&self, project: &Project, paths: &[String], sources: &dyn Sources) -> Vec<Sort> {
        let mut sorts: BTreeMap<&str, Sort> = BTreeMap::new();
        for (at, member) in self.members.iter().enumerate() {
            let own: Vec<String> = paths.iter().filter(|path| self.at(path) == Some(at)).cloned().collect();
            let own_sorts = member.language.sorts(&member.project(), &own, &self.view(at, sources));
            let known = paths.iter().filter(|path| self.at(path) == Some(at));
            sorts.extend(known.map(String::as_str).zip(own_sorts));
        }
        let of = |path: &String| sorts.get(path.as_str()).copied();
        paths.iter().map(|path| of(path).unwrap_or_else(|| self.sort(project, path, sources))).collect()
    }

    fn is_test_line(&self, _: &Project, path: &str, line: usize, sources: &dyn Sources) -> bool {
        self.at(path).is_some_and(|at| {
            let member = &self.members[at];
            member.language.is_test_line(&member.project(), path, line, &self.view(at, sources))
        })
    }

    fn absent(&self, sources: &dyn Sources, paths: &[String]) -> Vec<(String, String)> {
        let shares = self.shares(paths, sources).into_iter();
        shares.flat_map(|(at, paths)| self.members[at].language.absent(&self.view(at, sources), &paths)).collect()
    }

    fn change(&self, _: &Project, before: &dyn Sources, after: &dyn Sources, paths: &[String]) -> Change {
        let mut change = Change::default();
        for (at, paths) in self.shares(paths, after) {
            let (member, before, after) = (&self.members[at], self.view(at, before), self.view(at, after));
            let part = member.language.change(&member.project(), &before, &after, &paths);
            change.tests.extend(part.tests);
            change.support.extend(part.support);
            change.intrusions.extend(part.intrusions);
            change.production.extend(part.production);
            change.steering.extend(part.steering);
            change.documents.extend(part.documents);
            change.unreadable.extend(part.unreadable);
        }
        change
    }

    fn twins(&self, path: &str, source: &str, test: &TestItem, seed: u64, mode: AlterationMode) -> Option<Twins> {
        self.member(path)?.language.twins(path, source, test, seed, mode)
    }

    fn plainly(&self, copies: &Copies<'_>) -> Option<PlainProgram> {
        let at = self.at(copies.path)?;
        let (member, view) = (&self.members[at], self.view(at, copies.sources));
        member.language.plainly(&Copies {
            project: &member.project(),
            settings: &member.settings,
            sources: &view,
            ..*copies
        })
    }

    fn can_hide_runner(&self, path: &str) -> bool {
        self.member(path).is_some_and(|member| member.language.can_hide_runner(path))
    }

    fn instrument(&self, request: &Request<'_>) -> Option<Instrumented> {
        let mut parts: Vec<Instrumented> = Vec::new();
        for (at, member) in self.members.iter().enumerate() {
            let own = request.code.iter().filter(|code| self.at(&code.path) == Some(at)).cloned().collect::<Vec<_>>();
            let first = request.first + parts.iter().map(|part| part.functions.len()).sum::<usize>();
            let (project, view) = (member.project(), self.view(at, request.sources));
            let own = Request { project: &project, sources: &view, code: &own, first, ..*request };
            parts.extend(member.language.instrument(&own));
        }
        together(parts)
    }

    fn signs(&self, _: &Project, sources: &dyn Sources, paths: &[String]) -> Signs {
        let mut signs = Signs::default();
        for (at, paths) in self.shares(paths, sources) {
            let member = &self.members[at];
            let part = member.language.signs(&member.project(), &self.view(at, sources), &paths);
            signs.tests.extend(part.tests);
            signs.sensing.extend(part.sensing);
            signs.answers.extend(part.answers);
            signs.unreferenced.extend(part.unreferenced);
            signs.documented.extend(part.documented);
            signs.unreadable.extend(part.unreadable);
        }
        signs
    }

    fn without_test(&self, path: &str, source: &str, test: &TestItem) -> Option<String> {
        self.member(path)?.language.without_test(path, source, test)
    }

    fn skip(&self, path: &str, source: &str, test: &TestItem, reason: &str, skip: Skip) -> Option<String> {
        self.member(path)?.language.skip(path, source, test, reason, skip)
    }

    fn unskip(&self, path: &str, source: &str, test: &TestItem) -> Option<String> {
        self.member(path)?.language.unskip(path, source, test)
    }

    fn scratch(&self, _: &Project, products: &str) -> ScratchNeeds {
        let mut all = ScratchNeeds::default();
        for needs in self.members.iter().map(|member| member.language.scratch(&member.project(), products)) {
            all.env.extend(needs.env.into_iter().filter(|known| !all.env.contains(known)).collect::<Vec<_>>());
            all.files.extend(needs.files);
            all.links.extend(needs.links);
            all.runner_finds_copy |= needs.runner_finds_copy;
            all.beside.extend(needs.beside);
        }
        all
    }
}

/// The test runs of the projects, one after the other.
struct Suites<'m, T> {
    project_set: &'m ProjectSet,
    /// Unfinished runs; the current one is last.
    parts: Vec<Part<'m, T>>,
    /// The results of the finished runs.
    results: Vec<(usize, T)>,
    join: fn(&ProjectSet, Vec<(usize, T)>) -> T,
}

type Part<'m, T> = (usize, Box<dyn Suite<T> + 'm>);

impl<'m, T> Suites<'m, T> {
    fn new(
        project_set: &'m ProjectSet,
        mut parts: Vec<Part<'m, T>>,
        join: fn(&ProjectSet, Vec<(usize, T)>) -> T,
    ) -> Self {
        parts.reverse();
        Self { project_set, parts, results: Vec::new(), join }
    }
}

impl<T> Suite<T> for Suites<'_, T> {
    fn next(&mut self, sources: &dyn Sources) -> Next<T> {
        while let Some((at, suite)) = self.parts.last_mut() {
            let (view, own) = (self.project_set.view(*at, sources), self.project_set.own(*at, sources));
            // A project that is not in this tree has no tests.
            if self.project_set.members[*at].language.detect(&own).is_none() {
                self.parts.pop();
                continue;
            }
            match suite.next(&view) {
                Next::Run(jobs) => return Next::Run(jobs),
                Next::Done(result) => {
                    self.results.push((*at, result));
                    self.parts.pop();
                }
            }
        }
        Next::Done((self.join)(self.project_set, std::mem::take(&mut self.results)))
    }

    fn feed(&mut self, finished: Vec<Finished>) {
        if let Some((_, suite)) = self.parts.last_mut() {
            suite.feed(finished);
        }
    }
}

fn all_reports(project_set: &ProjectSet, results: Vec<(usize, Report)>) -> Report {
    merged(&results.into_iter().map(|(at, report)| project_set.own_results(at, &report)).collect::<Vec<_>>())
}

fn all_lines(project_set: &ProjectSet, results: Vec<(usize, Measured)>) -> Measured {
    let mut all = Coverage::default();
    for (at, measured) in results {
        all.add(measured.map_err(|why| format!("{why} in {}", project_set.members[at].root))?);
    }
    Ok(all)
}

/// Merges reports. `TargetNotFound` counts only if no project knows the test.
pub(crate) fn merged(reports: &[Report]) -> Report {
    let is_unknown = |result: &TestResult| result.outcome.cause() == Some(Cause::TargetNotFound);
    let is_known = |id: &TestId| {
        let seen = reports.iter().filter_map(|report| report.get(id));
        seen.into_iter().any(|result| !is_unknown(result))
    };
    let mut unknown: Vec<&TestId> = Vec::new();
    let mut results = Vec::new();
    for result in reports.iter().flat_map(Report::results) {
        if is_unknown(result) {
            if is_known(&result.id) || unknown.contains(&&result.id) {
                continue;
            }
            unknown.push(&result.id);
        }
        results.push(result.clone());
    }
    Report::new(results, reports.iter().flat_map(Report::obstacles).cloned().collect())
}

#[cfg(test)]
mod tests {
    use tdd_core::report::Outcome;

    use super::*;
    use crate::fixture::memory;
    use crate::python::Python;
    use crate::rust::Rust;

    fn project_set() -> ProjectSet {
        let member = |root: &str, language: Rc<dyn Language>| Member {
            root: root.to_owned(),
            language,
            settings: Settings::default(),
            present: true,
        };
        ProjectSet::new(vec![member("a", Rc::new(Rust)), member("a/b", Rc::new(Python)), member("c", Rc::new(Rust))])
    }

    #[test]
    fn a_file_belongs_to_the_innermost_project_and_only_that_sees_it() {
        let sources = memory(&[
            ("README.md", ""),
            ("a/Cargo.toml", "[package]\nname = \"a\"\n"),
            ("a/b/pyproject.toml", "[project]\nname = \"b\"\n"),
            ("ab/x.rs", ""),
        ]);
        let project_set = project_set();
        let files = |at| project_set.view(at, &sources).files;
        assert_eq!(files(0), ["README.md", "a/Cargo.toml", "ab/x.rs"]);
        assert_eq!(files(1), ["README.md", "a/b/pyproject.toml", "ab/x.rs"]);
        assert_eq!(project_set.present(&sources).iter().map(|(at, _)| *at).collect::<Vec<_>>(), [0, 1]);
        let project = project_set.detect(&sources).unwrap();
        assert_eq!(project_set.sort(&project, "a/b/x.py", &sources), Sort::Production);
        assert_eq!(project_set.sort(&project, "a/b/x.rs", &sources), Sort::Document);
        assert_eq!(project_set.sort(&project, "Cargo.toml", &sources), Sort::Steering);
        assert_eq!(project_set.sort(&project, "notes.txt", &sources), Sort::Document);
        let paths = ["notes.txt", "a/b/x.py", "a/Cargo.toml"].map(str::to_owned);
        assert_eq!(project_set.sorts(&project, &paths, &sources), [Sort::Document, Sort::Production, Sort::Steering]);
    }

    #[test]
    fn a_project_tells_of_its_own_tests_and_names_itself_where_something_is_in_the_way() {
        let project_set = project_set();
        let passed = |id: &str| TestResult::new(TestId::parse(id).unwrap(), Outcome::Pass, 0);
        let obstacle = |subject: &str| Obstacle::new(subject, Cause::RunnerMissing, "no");
        let obstacles = vec![obstacle("cargo"), obstacle("a/b/tests/t.py"), obstacle("a/src/x.rs")];
        let told =
            project_set.own_results(0, &Report::new(vec![passed("a/x.rs::x"), passed("a/b/t.py::y")], obstacles));
        assert_eq!(told.results().map(|result| result.id.as_str()).collect::<Vec<_>>(), ["a/x.rs::x"]);
        let subjects: Vec<_> = told.obstacles().iter().map(|obstacle| obstacle.subject.as_str()).collect();
        assert_eq!(subjects, ["cargo in a", "a/src/x.rs"]);
    }

    #[test]
    fn a_slug_is_unknown_only_if_no_project_knows_it() {
        let id = |slug: &str| TestId::annotation(slug).unwrap();
        let unknown = |slug: &str| {
            let outcome = Outcome::Fail { cause: Cause::TargetNotFound, message: String::new() };
            TestResult::new(id(slug), outcome, 0)
        };
        let passed = |slug: &str| TestResult::new(id(slug), Outcome::Pass, 0);
        let of = |results: Vec<TestResult>| Report::new(results, Vec::new());
        let report = merged(&[of(vec![unknown("x"), unknown("y")]), of(vec![passed("x"), unknown("y")])]);
        let cause = |slug: &str| report.get(&id(slug)).unwrap().outcome.cause();
        assert_eq!((cause("x"), cause("y")), (None, Some(Cause::TargetNotFound)));
        let twice = merged(&[of(vec![passed("x")]), of(vec![passed("x")])]);
        assert_eq!(twice.get(&id("x")).unwrap().outcome.cause(), Some(Cause::UnknownOutput));
    }
}
