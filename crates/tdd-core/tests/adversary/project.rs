//! A project so small that the result of every test can be computed.

use std::collections::BTreeMap;

use tdd_core::change::{Change, ItemChange, ItemFate, Mark, SteeringChange, TestChange, TestFacts, Unreadable};
use tdd_core::digest::{Digest, TreeId};
use tdd_core::report::{Cause, Obstacle, Outcome, Report, TestResult};
use tdd_core::signs::{Place, TestSigns};
use tdd_core::test_id::TestId;

/// How many features the kata asks for.
pub const FEATURES: u8 = 4;

/// One assertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ask {
    /// Production has this feature.
    Feature(u8),
    /// Production lacks this feature.
    Never(u8),
    /// A true assertion without production.
    Own,
    /// A false assertion without production.
    Absurd,
    /// The test hangs.
    Hang,
}

/// A test.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Test {
    pub asks: Vec<Ask>,
    pub skipped: bool,
    pub panics: bool,
}

/// How production implements a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    Stub,
    Real,
}

/// All files of the project.
#[expect(clippy::struct_excessive_bools, reason = "each is a sin of its own")]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Project {
    /// The tests, by file and name.
    pub tests: BTreeMap<(u8, u8), Test>,
    pub production: BTreeMap<u8, Code>,
    /// Production overrides the comparison, so every assertion passes.
    pub disarmed: bool,
    /// Production does not compile.
    pub broken: bool,
    /// The check command complains.
    pub lint: bool,
    pub helper: u8,
    pub helpers: u8,
    pub shadow: bool,
    pub steering: u8,
    pub dependencies: u8,
    pub documents: u8,
    /// A test file that does not parse.
    pub garbled: Option<u8>,
}

/// The line of the comparison.
const EQ_LINE: usize = 1;

/// The line of a feature.
fn feature_line(feature: u8) -> usize {
    10 + usize::from(feature)
}

pub fn id((file, name): (u8, u8)) -> TestId {
    TestId::native(&path(file), &format!("t{name}"))
}

fn unreadable(file: u8) -> Unreadable {
    Unreadable { place: Place::new(&path(file), 1), problem: "`(` is never closed".to_owned(), text: "(".to_owned() }
}

pub fn path(file: u8) -> String {
    format!("tests/f{file}.rs")
}

impl Test {
    pub fn of(asks: &[Ask]) -> Self {
        Self { asks: asks.to_vec(), skipped: false, panics: false }
    }

    pub fn asks_production(&self) -> bool {
        self.asks.iter().any(|ask| matches!(ask, Ask::Feature(_) | Ask::Never(_)))
    }
}

impl Project {
    pub fn tree(&self) -> TreeId {
        TreeId(Digest::of(format!("{self:?}")).to_string())
    }

    /// The result of a test: `None` if it passes, or why not.
    pub fn fate(&self, key: (u8, u8)) -> Option<Cause> {
        self.takes_down(key.0).or_else(|| self.outcome(&self.tests[&key]))
    }

    fn takes_down(&self, file: u8) -> Option<Cause> {
        let missing = |ask: &Ask| matches!(ask, Ask::Feature(it) if !self.production.contains_key(it));
        let mut in_file = self.tests.iter().filter(|((at, _), _)| *at == file);
        if self.garbled == Some(file) {
            Some(Cause::SyntaxError)
        } else if self.broken {
            Some(Cause::UnrelatedCompileError)
        } else if in_file.any(|(_, test)| test.asks.iter().any(missing)) {
            Some(Cause::MissingSymbol)
        } else {
            None
        }
    }

    fn outcome(&self, test: &Test) -> Option<Cause> {
        let holds = |ask: &Ask| match ask {
            Ask::Feature(it) => self.production.get(it) == Some(&Code::Real),
            Ask::Never(it) => self.production.get(it) != Some(&Code::Real),
            Ask::Own | Ask::Hang => true,
            Ask::Absurd => false,
        };
        let passes = self.disarmed || test.asks.iter().all(holds);
        if test.skipped {
            Some(Cause::Skipped)
        } else if test.asks.contains(&Ask::Hang) {
            Some(Cause::Timeout)
        } else if passes == test.panics {
            Some(Cause::Assertion)
        } else {
            None
        }
    }

    /// The report of a run of all tests.
    pub fn run(&self) -> Report {
        let mut files: Vec<u8> = self.tests.keys().map(|(file, _)| *file).collect();
        files.dedup();
        let (mut results, mut obstacles) = (Vec::new(), Vec::new());
        for file in files {
            let here = || self.tests.iter().filter(move |((at, _), _)| *at == file);
            match self.takes_down(file) {
                Some(cause) => {
                    let tests = here().map(|(key, _)| id(*key)).collect();
                    obstacles.push(Obstacle { tests, ..Obstacle::new(path(file), cause, "it does not build") });
                }
                None => results.extend(here().map(|(key, test)| self.result(*key, test))),
            }
        }
        Report::new(results, obstacles)
    }

    fn result(&self, key: (u8, u8), test: &Test) -> TestResult {
        let outcome = match self.outcome(test) {
            None => Outcome::Pass,
            Some(cause) => Outcome::Fail { cause, message: format!("{:?} does not hold", test.asks) },
        };
        TestResult { digest: Some(self.digest(key)), ..TestResult::new(id(key), outcome, 1) }
    }

    /// The digest of a test and of what it uses.
    pub fn digest(&self, key: (u8, u8)) -> Digest {
        Digest::of(format!("{key:?} {:?} {} {}", self.tests[&key], self.helper, self.shadow))
    }

    fn facts(&self, key: (u8, u8)) -> TestFacts {
        let test = &self.tests[&key];
        TestFacts {
            id: id(key),
            path: path(key.0),
            line: 1,
            digest: self.digest(key),
            body: Digest::of(format!("{test:?}")),
            assertions: test.asks.iter().map(|ask| Digest::of(format!("{ask:?}"))).collect(),
            skipped: test.skipped.then(|| Mark::always("#[ignore]")),
            conditions: Vec::new(),
            should_panic: test.panics,
            returns_result: false,
            asks_production: test.asks_production(),
        }
    }

    /// The signs of a test: it reaches the features that it asserts, and the comparison.
    pub fn signs(&self, key: (u8, u8)) -> TestSigns {
        let test = &self.tests[&key];
        let asked = test.asks.iter().filter_map(|ask| match ask {
            Ask::Feature(it) | Ask::Never(it) => Some(Place::new("src/lib.rs", feature_line(*it))),
            Ask::Own | Ask::Absurd | Ask::Hang => None,
        });
        TestSigns {
            at: Place::new(&path(key.0), 1),
            name: format!("t{}", key.1),
            asserts: !test.asks.is_empty() || test.panics,
            assertions: test.asks.len(),
            mocks: Vec::new(),
            subjects: Vec::new(),
            samples: Vec::new(),
            reaches: asked.chain([Place::new("src/lib.rs", EQ_LINE)]).collect(),
            asks: BTreeMap::new(),
        }
    }

    /// Whether a test asserts something about a feature.
    pub fn reaches(&self, test: &TestId, feature: u8) -> bool {
        let asks = |ask: &Ask| matches!(ask, Ask::Feature(it) | Ask::Never(it) if *it == feature);
        self.tests.iter().any(|(key, it)| &id(*key) == test && it.asks.iter().any(asks))
    }

    /// The change between two projects, as a language would report it.
    pub fn change_to(&self, after: &Self) -> Change {
        Change {
            tests: self.test_changes(after),
            support: self.support_changes(after),
            intrusions: Vec::new(),
            production: self.production_changes(after),
            steering: self.steering_changes(after),
            documents: if self.documents == after.documents { vec![] } else { vec!["README.md".to_owned()] },
            unreadable: after.garbled.map(unreadable).into_iter().collect(),
        }
    }

    fn test_changes(&self, after: &Self) -> Vec<TestChange> {
        let mut new: Vec<_> = after.tests.iter().filter(|(key, _)| !self.tests.contains_key(key)).collect();
        let mut changes = Vec::new();
        for (key, test) in &self.tests {
            let (before, moved) = (self.facts(*key), new.iter().position(|(_, other)| *other == test));
            changes.push(match (after.tests.get(key), moved) {
                (Some(now), _) if now == test => continue,
                (Some(now), _) => {
                    let only_added = is_subsequence(&test.asks, &now.asks);
                    TestChange::Changed { before, after: after.facts(*key), only_added }
                }
                (None, Some(at)) => TestChange::Moved { before, after: after.facts(*new.swap_remove(at).0) },
                (None, None) => TestChange::Removed(before),
            });
        }
        changes.extend(new.into_iter().map(|(key, _)| TestChange::Added(after.facts(*key))));
        changes
    }

    fn support_changes(&self, after: &Self) -> Vec<ItemChange> {
        let item = |item: &str, fate| ItemChange { path: path(0), item: item.to_owned(), line: 1, fate };
        let changed = (self.helper != after.helper).then(|| item("fn `helper`", ItemFate::Changed));
        let added = (self.helpers < after.helpers).then(|| item("fn `another`", ItemFate::Added));
        let shadow = (!self.shadow && after.shadow).then(|| item("macro `assert_eq`", ItemFate::Added));
        [changed, added, shadow].into_iter().flatten().collect()
    }

    fn production_changes(&self, after: &Self) -> Vec<ItemChange> {
        let item = |item: String, line, fate| ItemChange {
            path: "src/lib.rs".to_owned(),
            item: format!("fn `{item}`"),
            line,
            fate,
        };
        let features = (0..FEATURES).filter_map(|it| {
            let fate = match (self.production.get(&it), after.production.get(&it)) {
                (before, now) if before == now => return None,
                (None, _) => ItemFate::Added,
                (_, None) => ItemFate::Removed,
                (Some(_), Some(_)) => ItemFate::Changed,
            };
            Some(item(format!("feature{it}"), feature_line(it), fate))
        });
        let traits = [(self.disarmed, after.disarmed), (self.broken, after.broken), (self.lint, after.lint)];
        let traits = traits.into_iter().filter(|(before, now)| before != now);
        features.chain(traits.map(|_| item("eq".to_owned(), EQ_LINE, ItemFate::Changed))).collect()
    }

    fn steering_changes(&self, after: &Self) -> Vec<SteeringChange> {
        let change = |what: &str, free| SteeringChange { path: "Cargo.toml".to_owned(), what: what.to_owned(), free };
        let steered = (self.steering != after.steering).then(|| change("`lib.name`", false));
        let depends = (self.dependencies != after.dependencies).then(|| change("`dependencies.x`", true));
        [steered, depends].into_iter().flatten().collect()
    }
}

fn is_subsequence(few: &[Ask], many: &[Ask]) -> bool {
    let mut many = many.iter();
    few.iter().all(|wanted| many.any(|ask| ask == wanted))
}
