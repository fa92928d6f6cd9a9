//! The answers that an agent may give: anything, in any turn, whatever its role is.

use proptest::prelude::*;
use tdd_core::gate::{Action, Edit};
use tdd_core::rule::Rule;

use crate::project::{Ask, Code, FEATURES, Project, Test, path};

/// The next act of a person or an agent.
#[derive(Clone, Debug)]
pub enum Act {
    /// The agent whose turn it is makes the honest moves, and these in addition.
    Honest(Vec<Move>),
    /// The agent makes these moves.
    Wild(Claims, Vec<Move>),
    /// The agent declares the kata done.
    SaysDone,
    /// Its answer cannot be read.
    Garbage,
    /// A request to the gate outside a step.
    Outside(Claims, Vec<Move>),
    /// The run is killed in the middle of this attempt.
    Killed(Vec<Move>),
    /// A person resumes the run.
    Resume { skip: bool },
    /// A person makes an exception.
    Except(Rule),
}

/// Which tests an answer claims.
#[derive(Clone, Copy, Debug)]
pub enum Claims {
    Targets,
    Nothing,
    Some(u8),
    Unknown,
}

/// One effect of an edit.
#[derive(Clone, Copy, Debug)]
pub enum Move {
    Write(u8, Code),
    Unwrite(u8),
    Disarm,
    Break,
    Lint,
    /// Reverts `Disarm`, `Break` and `Lint`.
    Mend,
    AddTest(u8, u8, Ask),
    Grow(u8, Ask),
    Drop(u8),
    Swap(u8, Ask),
    Remove(u8),
    Skip(u8),
    Unskip(u8),
    Panic(u8),
    Rename(u8, u8, u8),
    ChangeHelper,
    AddHelper,
    Shadow,
    Steer,
    Depend,
    Document,
    Garble(u8),
    /// Edits a forbidden path.
    Reach(u8),
    /// Edits a file that git ignores.
    Ignored,
    /// The tests change files while they run.
    Scribble,
    /// The test runner is missing.
    NoRunner,
}

/// Paths that no edit may lead to.
pub const FORBIDDEN: [&str; 9] = [
    "../outside",
    "/etc/passwd",
    ".git/hooks/pre-commit",
    "src/.git/config",
    ".tdd/events.jsonl",
    "tdd.yaml",
    "kata.md",
    "KATA.md",
    "src/../../x",
];

pub fn acts() -> impl Strategy<Value = Vec<Act>> {
    prop::collection::vec(act(), 1..24)
}

fn act() -> impl Strategy<Value = Act> {
    let moves = || prop::collection::vec(a_move(), 1..4);
    prop_oneof![
        8 => prop::collection::vec(a_move(), 0..2).prop_map(Act::Honest),
        4 => Just(Act::Honest(Vec::new())),
        8 => (claims(), moves()).prop_map(|(claims, moves)| Act::Wild(claims, moves)),
        1 => Just(Act::SaysDone),
        1 => Just(Act::Garbage),
        1 => (claims(), moves()).prop_map(|(claims, moves)| Act::Outside(claims, moves)),
        1 => moves().prop_map(Act::Killed),
        1 => any::<bool>().prop_map(|skip| Act::Resume { skip }),
        1 => prop::sample::select(&Rule::ALL[..]).prop_map(Act::Except),
    ]
}

fn claims() -> impl Strategy<Value = Claims> {
    prop_oneof![
        4 => Just(Claims::Targets),
        1 => Just(Claims::Nothing),
        1 => any::<u8>().prop_map(Claims::Some),
        1 => Just(Claims::Unknown),
    ]
}

fn ask() -> impl Strategy<Value = Ask> {
    prop_oneof![
        5 => (0..FEATURES).prop_map(Ask::Feature),
        1 => (0..FEATURES).prop_map(Ask::Never),
        1 => Just(Ask::Own),
        1 => Just(Ask::Absurd),
        1 => Just(Ask::Hang),
    ]
}

fn a_move() -> impl Strategy<Value = Move> {
    let code = || prop_oneof![Just(Code::Stub), Just(Code::Real)];
    let production = prop_oneof![
        4 => (0..FEATURES, code()).prop_map(|(feature, code)| Move::Write(feature, code)),
        1 => (0..FEATURES).prop_map(Move::Unwrite),
        1 => prop::sample::select(vec![Move::Disarm, Move::Break, Move::Lint]),
    ];
    let tests = prop_oneof![
        4 => (0..2_u8, 0..6_u8, ask()).prop_map(|(file, name, ask)| Move::AddTest(file, name, ask)),
        2 => (any::<u8>(), ask()).prop_map(|(nth, ask)| Move::Grow(nth, ask)),
        1 => (any::<u8>(), ask()).prop_map(|(nth, ask)| Move::Swap(nth, ask)),
        1 => (any::<u8>(), 0..2_u8, 0..6_u8).prop_map(|(nth, file, name)| Move::Rename(nth, file, name)),
        1 => any::<u8>().prop_map(Move::Drop),
        1 => any::<u8>().prop_map(Move::Remove),
        1 => any::<u8>().prop_map(Move::Skip),
        1 => any::<u8>().prop_map(Move::Unskip),
        1 => any::<u8>().prop_map(Move::Panic),
    ];
    let beside = prop_oneof![
        Just(Move::ChangeHelper),
        Just(Move::AddHelper),
        Just(Move::Shadow),
        Just(Move::Steer),
        Just(Move::Depend),
        Just(Move::Document),
        (0..2_u8).prop_map(Move::Garble),
        any::<u8>().prop_map(Move::Reach),
        Just(Move::Ignored),
        Just(Move::Scribble),
        Just(Move::NoRunner),
    ];
    prop_oneof![3 => production, 4 => tests, 2 => beside]
}

/// Edits, with the project after them and what happens when its tests run.
#[derive(Clone, Debug)]
pub struct Attempt {
    pub after: Project,
    pub edits: Vec<Edit>,
    pub ignored: Vec<String>,
    pub scribbles: bool,
    pub no_runner: bool,
}

impl Attempt {
    pub fn new(before: &Project, moves: &[Move]) -> Self {
        let (edits, ignored) = (Vec::new(), Vec::new());
        let mut attempt = Self { after: before.clone(), edits, ignored, scribbles: false, no_runner: false };
        for it in moves {
            attempt.make(*it);
        }
        attempt.name_files(before);
        attempt
    }

    fn make(&mut self, it: Move) {
        match it {
            Move::Ignored => self.ignored.push("target/x".to_owned()),
            Move::Scribble => self.scribbles = true,
            Move::NoRunner => self.no_runner = true,
            Move::Reach(nth) => self.upsert(FORBIDDEN[usize::from(nth) % FORBIDDEN.len()]),
            inside => change(&mut self.after, inside),
        }
    }

    fn upsert(&mut self, path: &str) {
        self.edits.push(Edit { path: path.to_owned(), action: Action::Upsert { content: String::new() } });
    }

    fn name_files(&mut self, before: &Project) {
        let change = before.change_to(&self.after);
        if !change.production.is_empty() {
            self.upsert("src/lib.rs");
        }
        if !change.steering.is_empty() {
            self.upsert("Cargo.toml");
        }
        if !change.tests.is_empty() || !change.support.is_empty() || !change.unreadable.is_empty() {
            self.upsert(&path(0));
        }
        if !change.documents.is_empty() {
            self.upsert("README.md");
        }
    }
}

fn change(project: &mut Project, it: Move) {
    match it {
        Move::Write(feature, code) => drop(project.production.insert(feature, code)),
        Move::Unwrite(feature) => drop(project.production.remove(&feature)),
        Move::Disarm => project.disarmed = true,
        Move::Break => project.broken = true,
        Move::Lint => project.lint = true,
        Move::Mend => (project.disarmed, project.broken, project.lint) = (false, false, false),
        Move::AddTest(file, name, ask) => {
            project.tests.entry((file, name)).or_insert_with(|| Test::of(&[ask]));
        }
        Move::Grow(nth, ask) => on_test(project, nth, |test| test.asks.push(ask)),
        Move::Drop(nth) => on_test(project, nth, |test| test.asks.truncate(test.asks.len().saturating_sub(1))),
        Move::Swap(nth, ask) => on_test(project, nth, |test| test.asks = vec![ask]),
        Move::Skip(nth) => on_test(project, nth, |test| test.skipped = true),
        Move::Unskip(nth) => on_test(project, nth, |test| test.skipped = false),
        Move::Panic(nth) => on_test(project, nth, |test| test.panics = !test.panics),
        Move::Remove(nth) => drop(nth_key(project, nth).and_then(|key| project.tests.remove(&key))),
        Move::Rename(nth, file, name) => {
            if let Some(key) = nth_key(project, nth)
                && !project.tests.contains_key(&(file, name))
                && let Some(test) = project.tests.remove(&key)
            {
                project.tests.insert((file, name), test);
            }
        }
        Move::ChangeHelper => project.helper = project.helper.wrapping_add(1),
        Move::AddHelper => project.helpers = project.helpers.saturating_add(1),
        Move::Shadow => project.shadow = true,
        Move::Steer => project.steering = project.steering.wrapping_add(1),
        Move::Depend => project.dependencies = project.dependencies.wrapping_add(1),
        Move::Document => project.documents = project.documents.wrapping_add(1),
        Move::Garble(file) => project.garbled = Some(file),
        Move::Reach(_) | Move::Ignored | Move::Scribble | Move::NoRunner => {}
    }
}

fn on_test(project: &mut Project, nth: u8, change: impl FnOnce(&mut Test)) {
    if let Some(key) = nth_key(project, nth) {
        project.tests.entry(key).and_modify(change);
    }
}

pub fn nth_key(project: &Project, nth: u8) -> Option<(u8, u8)> {
    let nth = usize::from(nth).checked_rem(project.tests.len())?;
    project.tests.keys().nth(nth).copied()
}
