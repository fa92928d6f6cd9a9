//! Counts passed and failed tests per project in a repository with several projects.

use serde::Serialize;
use tdd_core::config::Config;
use tdd_core::test_id::TestId;
use tdd_lang::discover::{self, DiscoveredProject};
use tdd_lang::language::Sources;

use crate::project;

/// The counts of one project.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// The project's folder; empty for the root.
    pub path: String,
    /// The project's language.
    pub language: &'static str,
    /// The number of passing tests.
    pub green: usize,
    /// The number of failing tests.
    pub failing: usize,
}

/// Counts the results per project; empty if there is only one. A test known only by a slug is not counted, because its
/// id does not contain a path.
pub fn tally<'t>(
    config: &Config,
    sources: &dyn Sources,
    ended: impl IntoIterator<Item = (&'t TestId, bool)>,
) -> Vec<Tally> {
    let projects = project::multiple_projects(config, sources);
    let new =
        |DiscoveredProject { root, language }: DiscoveredProject| Tally { path: root, language, green: 0, failing: 0 };
    let mut tallies: Vec<Tally> = projects.into_iter().map(new).collect();
    for (id, passed) in ended {
        let Some(path) = id.path() else { continue };
        let around = tallies.iter_mut().filter(|tally| discover::holds(&tally.path, path));
        if let Some(tally) = around.max_by_key(|tally| tally.path.len()) {
            *(if passed { &mut tally.green } else { &mut tally.failing }) += 1;
        }
    }
    tallies
}

#[cfg(test)]
mod tests {
    use tdd_lang::language::NoSources;

    use super::*;

    #[test]
    fn a_test_counts_in_the_innermost_project_around_it() {
        let config = "projects: [{ path: ., language: rust }, { path: web, language: typescript }]\n";
        let config = Config::parse(config).unwrap();
        let ids = ["tests/a.rs::a", "web/a.test.js::a", "web/b.test.js::b", "webs/a.rs::a"];
        let ids = ids.map(|id| TestId::parse(id).unwrap());
        let found = tally(&config, &NoSources, ids.iter().map(|id| (id, !id.as_str().ends_with("::b"))));
        let told: Vec<_> = found.iter().map(|it| (it.path.as_str(), it.language, it.green, it.failing)).collect();
        assert_eq!(told, [("", "rust", 2, 0), ("web", "typescript", 1, 1)]);
        assert_eq!(tally(&Config::default(), &NoSources, []), []);
    }
}
