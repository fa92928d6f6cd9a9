//! The strength of tests: whether they notice that a production function answers with another value.
//!
//! `tdd-lang` instruments the functions, `tdd-exec` runs the tests with one answer altered at a time, and the results
//! arrive here as a [`Strength`].

use std::collections::{BTreeMap, BTreeSet};

use crate::law::RuleResult;
use crate::proof;
use crate::report::Cause;
use crate::rule::{Refusal, Rule};
use crate::test_id::TestId;

/// A production function, or a constant, whose value can be altered.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Function {
    /// Its file.
    pub path: String,
    /// Its name, with the type around it: `Money.add`.
    pub name: String,
    /// Its line, from 1.
    pub line: usize,
    /// Whether it is a constant: every test that loads the file reaches it, whether the value matters to it or not.
    pub is_constant: bool,
}

/// One way to alter a value, whatever its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Alteration {
    /// A number plus 1, the opposite truth value, a longer text, one element more, every field altered.
    More,
    /// A number plus 2, another text of the same length, the first element or field altered.
    Other,
    /// The negative number, a shorter text, one element less, the last field altered.
    Less,
    /// The function does nothing: for a test that drops the function's value and looks at its effect.
    Nothing,
}

impl Alteration {
    /// Every alteration, in the order in which they are tried.
    pub const ALL: [Self; 4] = [Self::More, Self::Other, Self::Less, Self::Nothing];

    /// The word by which instrumented code knows it.
    pub fn word(self) -> &'static str {
        match self {
            Self::More => "more",
            Self::Other => "other",
            Self::Less => "less",
            Self::Nothing => "nothing",
        }
    }

    /// What the altered function returns, for messages.
    pub fn what(self) -> &'static str {
        match self {
            Self::More => "a greater or longer value",
            Self::Other => "another value of the same size",
            Self::Less => "a negative or shorter value",
            Self::Nothing => "nothing",
        }
    }
}

/// What a test made of the altered answers of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Noticed {
    /// The test failed with this alteration.
    Killed(Alteration),
    /// The function answered the test with each of these alterations, and the test still passed.
    Survived(BTreeSet<Alteration>),
    /// The test does not call the function.
    NotReached,
    /// The function gives the test no value that can be altered, or the test crashed or hung on each.
    NotAltered,
}

/// What the tests made of altered answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strength {
    /// For each function and each test what the test noticed. Functions that were not tried are absent.
    pub noticed: BTreeMap<Function, BTreeMap<TestId, Noticed>>,
    /// How long it took to find out.
    pub ms: u64,
    /// Whether the change may define what its values are equal to.
    pub overrides_comparison: bool,
    /// Whether a test that names one of these functions runs none of them.
    pub is_bypassed: bool,
}

/// The result of the probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// Nothing could be altered, for this reason: no evidence.
    Unmade(String),
    /// The tests were run with altered answers.
    Made(Strength),
}

/// An alteration of a function that a test noticed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kill {
    /// The test.
    pub test: TestId,
    /// The function's file.
    pub path: String,
    /// The function's name.
    pub name: String,
    /// The alteration.
    pub alteration: Alteration,
}

impl Strength {
    /// What one test noticed, function by function.
    pub fn of<'s>(&'s self, test: &'s TestId) -> impl Iterator<Item = (&'s Function, &'s Noticed)> {
        self.noticed.iter().filter_map(move |(function, tests)| Some((function, tests.get(test)?)))
    }

    /// Every altered value that a test noticed.
    pub fn kills(&self) -> BTreeSet<Kill> {
        let mut kills = BTreeSet::new();
        for (function, tests) in &self.noticed {
            for (test, noticed) in tests {
                if let Noticed::Killed(alteration) = noticed
                    && *alteration != Alteration::Nothing
                {
                    let (path, name) = (function.path.clone(), function.name.clone());
                    kills.insert(Kill { test: test.clone(), path, name, alteration: *alteration });
                }
            }
        }
        kills
    }

    /// Whether a test passed while this alteration was made to an answer that it received.
    fn survived(&self, kill: &Kill) -> bool {
        let is_same = |function: &Function| function.path == kill.path && function.name == kill.name;
        let mut noticed = self.noticed.iter().filter(|(function, _)| is_same(function));
        noticed.any(|(_, tests)| {
            matches!(tests.get(&kill.test), Some(Noticed::Survived(tried)) if tried.contains(&kill.alteration))
        })
    }
}

/// Whether the target depends on a value that the altered functions return. Without a value to alter there is no
/// evidence either way, and the target holds as far as this probe can tell.
pub fn depends_on_answers(target: &TestId, probe: &Probe) -> RuleResult {
    let Probe::Made(strength) = probe else { return Ok(()) };
    if strength.is_bypassed {
        let names: Vec<String> = strength.of(target).map(|(function, _)| format!("`{}`", function.name)).collect();
        return Err(bypassed(&names.join(", ")).about(target));
    }
    let mut ignored = Vec::new();
    for (function, noticed) in strength.of(target) {
        match noticed {
            Noticed::Killed(_) => return Ok(()),
            Noticed::Survived(_) if !function.is_constant => ignored.push(format!("`{}`", function.name)),
            Noticed::Survived(_) | Noticed::NotReached | Noticed::NotAltered => {}
        }
    }
    match ignored.join(", ") {
        none if none.is_empty() => Ok(()),
        functions if strength.overrides_comparison => Err(rigged(&functions).about(target)),
        functions => Err(vacuous(&functions).about(target)),
    }
}

/// What tests made of altered answers before a change and after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answers {
    /// The alterations that they noticed before.
    pub before: BTreeSet<Kill>,
    /// What they make of the same alterations now.
    pub now: Probe,
}

impl Answers {
    /// The tests that noticed altered answers before, no longer call any of these functions, and notice nothing now.
    pub fn idle(&self) -> impl Iterator<Item = &TestId> {
        let tests: BTreeSet<&TestId> = self.before.iter().map(|kill| &kill.test).collect();
        tests.into_iter().filter(|test| {
            let Probe::Made(now) = &self.now else { return false };
            let kills = self.before.iter().filter(|kill| kill.test == **test);
            let is_left = |kill: &Kill| {
                now.of(test).any(|(function, noticed)| {
                    let is_it = function.path == kill.path && function.name == kill.name;
                    is_it && *noticed == Noticed::NotReached
                })
            };
            let notices = now.of(test).any(|(_, noticed)| matches!(noticed, Noticed::Killed(_)));
            !notices && kills.into_iter().all(is_left)
        })
    }
}

/// Whether every test still notices what it noticed before the change.
pub fn as_strong_as(answers: &Answers) -> RuleResult {
    let Probe::Made(now) = &answers.now else { return Ok(()) };
    if let Some(kill) = answers.before.iter().find(|kill| now.survived(kill)) {
        return Err(proof::named(weakened(kill), &kill.test));
    }
    match answers.idle().next() {
        None => Ok(()),
        Some(test) => Err(proof::named(idle(), test)),
    }
}

fn vacuous(functions: &str) -> Refusal {
    let reason = format!("the test passes whatever value production returns: {functions}");
    let next = "change the test: at least one assertion must depend on what the changed code returns";
    Rule::CounterProof.refuse(reason, next).because(Cause::VacuousTest)
}

fn bypassed(functions: &str) -> Refusal {
    let reason = format!(
        "the test runs nothing of the code that was missing before ({functions}): it puts something else in its place, or \
         calls it in a way that the code does not allow"
    );
    let next = "change the test: it must run the new code and compare what it does";
    Rule::CounterProof.refuse(reason, next).because(Cause::VacuousTest)
}

fn rigged(functions: &str) -> Refusal {
    let reason = format!(
        "disarmed: the test passes whatever value production returns ({functions}), and the change overrides how values \
         are compared"
    );
    let next = "remove what makes values equal that are not, and implement the behaviour";
    Rule::CounterProof.refuse(reason, next).because(Cause::Disarmed)
}

fn weakened(kill: &Kill) -> Refusal {
    let (name, what) = (&kill.name, kill.alteration.what());
    let reason = format!(
        "weakened: before the change the test failed if `{name}` returned {what}, and after the change it still passes"
    );
    let next = format!("undo what keeps the test from seeing the value of `{name}`");
    Rule::CounterProof.refuse(reason, next).because(Cause::Weakened)
}

fn idle() -> Refusal {
    let reason = "weakened: before the change the test noticed wrong values of production, and after it the test notices \
                  none and no longer calls these functions";
    Rule::CounterProof.refuse(reason, "let the test still reach what it checked").because(Cause::Weakened)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target() -> TestId {
        TestId::native("tests/a.rs", "adds")
    }

    fn function(name: &str) -> Function {
        Function { path: "src/lib.rs".to_owned(), name: name.to_owned(), line: 1, is_constant: false }
    }

    fn made(noticed: impl IntoIterator<Item = (Function, Noticed)>) -> Probe {
        let each = noticed.into_iter().map(|(function, noticed)| (function, BTreeMap::from([(target(), noticed)])));
        Probe::Made(Strength { noticed: each.collect(), ..Strength::default() })
    }

    fn survived() -> Noticed {
        Noticed::Survived(BTreeSet::from([Alteration::More]))
    }

    fn check(ruling: RuleResult, cause: Option<Cause>, reason: &str) {
        let said = ruling.err();
        assert_eq!(said.as_ref().and_then(|refusal| refusal.cause), cause);
        assert!(said.as_ref().map_or("holds", |refusal| refusal.reason.as_str()).contains(reason), "{said:?}");
        assert!(said.is_none_or(|refusal| refusal.test == Some(target())));
    }

    #[test]
    fn a_test_that_notices_one_altered_answer_holds() {
        let killed = (function("add"), Noticed::Killed(Alteration::Other));
        check(depends_on_answers(&target(), &made([killed, (function("log"), survived())])), None, "holds");
    }

    #[test]
    fn a_test_that_ignores_every_altered_answer_is_vacuous() {
        let probe = made([(function("add"), survived()), (function("log"), Noticed::NotReached)]);
        check(
            depends_on_answers(&target(), &probe),
            Some(Cause::VacuousTest),
            "whatever value production returns: `add`",
        );
    }

    #[test]
    fn a_test_that_ignores_values_where_comparison_is_overridden_is_disarmed() {
        let Probe::Made(strength) = made([(function("add"), survived())]) else { return };
        let probe = Probe::Made(Strength { overrides_comparison: true, ..strength });
        check(
            depends_on_answers(&target(), &probe),
            Some(Cause::Disarmed),
            "whatever value production returns (`add`)",
        );
    }

    #[test]
    fn a_test_that_runs_nothing_of_the_new_code_is_vacuous() {
        let Probe::Made(strength) = made([(function("add"), Noticed::NotReached)]) else { return };
        let probe = Probe::Made(Strength { is_bypassed: true, ..strength });
        check(depends_on_answers(&target(), &probe), Some(Cause::VacuousTest), "runs nothing of the code");
    }

    #[test]
    fn without_an_altered_answer_there_is_no_evidence() {
        let constant = Function { is_constant: true, ..function("LIMIT") };
        let probe = made([
            (constant, survived()),
            (function("open"), Noticed::NotAltered),
            (function("log"), Noticed::NotReached),
        ]);
        check(depends_on_answers(&target(), &probe), None, "holds");
        check(depends_on_answers(&target(), &Probe::Unmade("it does not build".to_owned())), None, "holds");
    }

    #[test]
    fn a_test_that_no_longer_notices_an_alteration_is_weakened() {
        let Probe::Made(base) = made([(function("add"), Noticed::Killed(Alteration::More))]) else { return };
        let now = |noticed| as_strong_as(&Answers { before: base.kills(), now: made([(function("add"), noticed)]) });
        check(now(survived()), Some(Cause::Weakened), "if `add` returned a greater or longer value");
        check(now(Noticed::Killed(Alteration::More)), None, "holds");
        check(now(Noticed::NotReached), Some(Cause::Weakened), "no longer calls these functions");
        let moved =
            made([(function("add"), Noticed::NotReached), (function("sum"), Noticed::Killed(Alteration::More))]);
        check(as_strong_as(&Answers { before: base.kills(), now: moved }), None, "holds");
        check(now(Noticed::Survived(BTreeSet::from([Alteration::Less]))), None, "holds");
    }
}
