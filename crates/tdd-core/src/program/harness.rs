//! The test harness of a program: one entry per pinned behaviour, newest first; old entries are folded.

use serde::{Deserialize, Serialize};

use super::sections::Kept;
use crate::test_id::TestId;

/// The status of a pinned behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Its test passes.
    Passing,
    /// Its test fails and must be made to pass.
    Failing,
    /// All attempts at it are used up, and a person must decide.
    Blocked,
}

impl Status {
    /// One word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Passing => "passing",
            Self::Failing => "failing",
            Self::Blocked => "blocked",
        }
    }

    /// The status for a page.
    pub fn shown(self) -> &'static str {
        match self {
            Self::Passing => "✅ passing",
            Self::Failing => "❌ failing",
            Self::Blocked => "🚧 blocked",
        }
    }
}

/// A pinned behaviour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its test.
    pub test: TestId,
    /// Its status.
    pub status: Status,
    /// The files that were changed for it.
    pub target: String,
    /// The source of the behaviour in the spec.
    pub spec_source: String,
    /// The iteration that added it.
    pub added: u32,
    /// The iteration that made it pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_green: Option<u32>,
    /// Why it is blocked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_reason: Option<String>,
    /// What it pins.
    pub notes: String,
}

/// The state of one test after an iteration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sighting {
    /// The test.
    pub test: TestId,
    /// Its status.
    pub status: Status,
    /// The files that were changed for it; empty if none were.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub target: String,
    /// The source of the behaviour in the spec, if given.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub spec_source: String,
    /// What it pins, or what was changed about it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub notes: String,
    /// Why it is blocked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_reason: Option<String>,
    /// The name of its entry so far, if another tool wrote it without the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_as: Option<TestId>,
}

/// Passing entries that are summarized as a range.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    /// The first iteration that added one.
    pub first: u32,
    /// The last iteration that added one.
    pub last: u32,
    /// How many tests.
    pub tests: usize,
    /// The files that were changed for them.
    pub targets: Vec<String>,
}

/// All entries.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Harness {
    /// The entries that are listed one by one, newest first.
    pub entries: Vec<Entry>,
    /// The ranges of older entries, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folded: Vec<Range>,
    /// Text of another tool that is not an entry, such as its own ranges; kept verbatim.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Kept>,
}

/// The file of a test that another tool named without one.
const UNKNOWN: &str = "unknown";

/// The id of a test of which only a name is known.
pub fn bare(name: &str) -> TestId {
    TestId::parse(name).unwrap_or_else(|_| TestId::native(UNKNOWN, name))
}

/// Tests per range.
const RANGE: usize = 50;

impl Harness {
    /// Records the state of a test after an iteration.
    pub fn see(&mut self, sighting: &Sighting, iteration: u32) {
        let made_green = (sighting.status == Status::Passing).then_some(iteration);
        let is_meant =
            |entry: &&mut Entry| entry.test == sighting.test || Some(&entry.test) == sighting.known_as.as_ref();
        let Some(entry) = self.entries.iter_mut().find(is_meant) else {
            self.entries.insert(0, Entry::new(sighting, iteration, made_green));
            return;
        };
        entry.made_green = match sighting.status {
            Status::Passing => entry.made_green.or(made_green),
            Status::Failing | Status::Blocked => None,
        };
        entry.test.clone_from(&sighting.test);
        entry.status = sighting.status;
        entry.blocked_reason.clone_from(&sighting.blocked_reason);
        let fields = [
            (&mut entry.target, &sighting.target),
            (&mut entry.spec_source, &sighting.spec_source),
            (&mut entry.notes, &sighting.notes),
        ];
        for (known, new) in fields.into_iter().filter(|(_, new)| !new.is_empty()) {
            known.clone_from(new);
        }
    }

    /// Removes tests that were discarded or withdrawn.
    pub fn forget(&mut self, tests: &[TestId]) {
        self.entries.retain(|entry| !tests.contains(&entry.test));
    }

    /// The tests that must pass before anything new begins.
    pub fn obligations(&self) -> impl Iterator<Item = &TestId> {
        self.entries.iter().filter(|entry| entry.status == Status::Failing).map(|entry| &entry.test)
    }

    /// Keeps at most `cap` entries, and folds the oldest passing ones into ranges. Failing and blocked entries always
    /// stay.
    pub fn fold(&mut self, cap: usize) {
        while self.entries.len() > cap {
            let Some(at) = self.entries.iter().rposition(|entry| entry.status == Status::Passing) else { return };
            let entry = self.entries.remove(at);
            match self.folded.first_mut().filter(|range| range.tests < RANGE) {
                Some(range) => range.take(&entry),
                None => self.folded.insert(0, Range::of(&entry)),
            }
        }
    }
}

impl Entry {
    /// Its name on the page.
    pub fn name(&self) -> &str {
        self.bare_name().unwrap_or_else(|| self.test.as_str())
    }

    /// The name, if the file of the test is unknown.
    fn bare_name(&self) -> Option<&str> {
        match self.test.path() {
            None => Some(self.test.as_str()),
            Some(UNKNOWN) => self.test.name(),
            // `tests::adds` is a name with its module, not a path.
            Some(path) => Some(self.test.as_str()).filter(|_| !path.contains(['.', '/'])),
        }
    }

    /// The test that the entry is about, with its value: the one with its id, or else the only one with its bare name.
    pub(super) fn matching<'t, T: Copy>(
        &self,
        mut tests: impl Iterator<Item = (&'t TestId, T)> + Clone,
    ) -> Option<(&'t TestId, T)> {
        let bare = self.bare_name();
        let mut called = tests.clone().filter(|(id, _)| bare.is_some_and(|name| id.is_called(name)));
        tests.find(|(id, _)| **id == self.test).or_else(|| called.next().filter(|_| called.next().is_none()))
    }

    fn new(sighting: &Sighting, iteration: u32, made_green: Option<u32>) -> Self {
        Self {
            test: sighting.test.clone(),
            status: sighting.status,
            target: sighting.target.clone(),
            spec_source: sighting.spec_source.clone(),
            added: iteration,
            made_green,
            blocked_reason: sighting.blocked_reason.clone(),
            notes: sighting.notes.clone(),
        }
    }
}

impl Range {
    fn of(entry: &Entry) -> Self {
        Self { first: entry.added, last: entry.added, tests: 1, targets: vec![entry.target.clone()] }
    }

    fn take(&mut self, entry: &Entry) {
        self.first = self.first.min(entry.added);
        self.last = self.last.max(entry.added);
        self.tests += 1;
        if !self.targets.contains(&entry.target) {
            self.targets.push(entry.target.clone());
        }
    }
}

impl Sighting {
    /// A failing test without further details.
    pub fn failing(test: TestId) -> Self {
        let (target, spec_source, notes) = (String::new(), String::new(), String::new());
        Self { test, status: Status::Failing, target, spec_source, notes, blocked_reason: None, known_as: None }
    }
}

#[cfg(test)]
impl Sighting {
    /// A sample of a test in `tests/a.rs`, for tests.
    pub(crate) fn sample(name: &str, status: Status) -> Self {
        Self {
            status,
            target: "src/lib.rs".to_owned(),
            spec_source: "the kata".to_owned(),
            notes: "it adds".to_owned(),
            blocked_reason: (status == Status::Blocked).then(|| "five attempts".to_owned()),
            ..Self::failing(TestId::native("tests/a.rs", name))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_keeps_what_it_was_and_takes_in_what_is_new() {
        let mut harness = Harness::default();
        harness.see(&Sighting { notes: "pins x".to_owned(), ..Sighting::sample("a", Status::Failing) }, 1);
        assert_eq!(harness.obligations().count(), 1);
        let silent = Sighting { notes: String::new(), ..Sighting::sample("a", Status::Passing) };
        harness.see(&silent, 2);
        harness.see(&silent, 5);
        let entry = &harness.entries[0];
        assert_eq!((entry.added, entry.made_green, entry.notes.as_str()), (1, Some(2), "pins x"));
        assert_eq!(harness.obligations().count(), 0);
    }

    #[test]
    fn a_bare_name_means_a_test_only_if_one_alone_is_called_so() {
        let ids = ["tests/a.rs::m::adds", "test/a.test.js::adds > two numbers", "tests/b.rs::adds"].map(bare);
        let meant = |name: &str, tests: &[TestId]| {
            let sighting = Sighting { test: bare(name), ..Sighting::sample("x", Status::Passing) };
            let entry = Entry::new(&sighting, 1, None);
            assert_eq!(entry.name(), name);
            entry.matching(tests.iter().map(|id| (id, ()))).map(|(id, ())| id.to_string())
        };
        assert_eq!(meant("adds", &ids), None);
        assert_eq!(meant("adds", &ids[..2]).as_deref(), Some("tests/a.rs::m::adds"));
        assert_eq!(meant("m::adds", &ids).as_deref(), Some("tests/a.rs::m::adds"));
        assert_eq!(meant("two numbers", &ids).as_deref(), Some("test/a.test.js::adds > two numbers"));
        assert_eq!(meant("adds > two numbers", &ids).as_deref(), Some("test/a.test.js::adds > two numbers"));
        assert_eq!(meant("tests/b.rs::adds", &ids).as_deref(), Some("tests/b.rs::adds"));
        assert_eq!(meant("tests/c.rs::adds", &ids), None);
    }

    #[test]
    fn the_oldest_that_pass_are_folded_and_what_fails_is_always_shown() {
        let mut harness = Harness::default();
        for n in 1..=60 {
            let status = if n == 3 { Status::Blocked } else { Status::Passing };
            harness.see(&Sighting::sample(&format!("t{n}"), status), n);
        }
        harness.fold(5);
        let shown: Vec<u32> = harness.entries.iter().map(|entry| entry.added).collect();
        assert_eq!(shown, [60, 59, 58, 57, 3]);
        let ranges: Vec<_> = harness.folded.iter().map(|range| (range.first, range.last, range.tests)).collect();
        assert_eq!(ranges, [(52, 56, 5), (1, 51, 50)]);
        let before = harness.clone();
        harness.fold(5);
        assert_eq!(harness, before);
    }
}
