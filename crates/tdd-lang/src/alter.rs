//! Instruments production code, so that one build can be run with the answer of any one function altered.
//!
//! The syntax tree says where a function returns; a text per language says how a value of that language is altered. A
//! variable with a random name tells the running code which answer to alter and how, and a second one names the file
//! in which it records what was reached and altered.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use tdd_core::change::Change;
use tdd_core::strength::{Alteration, Function};

use crate::language::{Project, Sources};
use crate::syntax::FlatTree;
use crate::twin::FreshNames;

/// Some production code of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCode {
    /// The file.
    pub path: String,
    /// Line ranges in which items begin, from 1.
    pub lines: Vec<Range<usize>>,
}

impl NewCode {
    /// The same code with one entry a file.
    pub fn joined(code: Vec<Self>) -> Vec<Self> {
        let mut files: BTreeMap<String, Vec<Range<usize>>> = BTreeMap::new();
        for Self { path, lines } in code {
            files.entry(path).or_default().extend(lines);
        }
        files.into_iter().map(|(path, lines)| Self { path, lines }).collect()
    }

    /// Everything in a file.
    pub fn whole(path: &str) -> Self {
        Self { path: path.to_owned(), lines: std::iter::once(1..usize::MAX).collect() }
    }
}

/// Words by which code defines how its values are compared, in all languages. They only decide whether a probe is run.
const COMPARISONS: [&str; 17] = [
    "__eq__",
    "__ne__",
    "__contains__",
    "__lt__",
    "__bool__",
    "__abs__",
    "__sub__",
    "PartialEq for",
    "PartialEq<",
    "PartialOrd for",
    "Termination",
    "valueOf",
    "toPrimitive",
    "asymmetricMatch",
    "Equal(",
    "equals(",
    "Proxy(",
];

/// Whether a test may put something else in the place of production, by the words of all languages. They only decide
/// whether a probe is run.
pub fn may_replace_production(test: &str) -> bool {
    ["patch", "setattr", "mock", "Mock", "spyOn", "stub", "__code__"].iter().any(|word| test.contains(word))
}

/// Whether a changed file may define what its values are equal to: then altered copies of a test prove little.
pub fn overrides_comparison(change: &Change, sources: &dyn Sources) -> bool {
    let paths: BTreeSet<&str> = change.production.iter().map(|item| item.path.as_str()).collect();
    let overrides =
        |path: &&str| sources.read(path).is_some_and(|text| COMPARISONS.iter().any(|word| text.contains(word)));
    paths.iter().any(overrides)
}

/// What to instrument.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The project.
    pub project: &'a Project,
    /// Its files.
    pub sources: &'a dyn Sources,
    /// The code whose answers are to be altered.
    pub code: &'a [NewCode],
    /// Makes the added names unpredictable.
    pub seed: u64,
    /// The folder in which the instrumented repository will be, as an absolute path.
    pub root: &'a str,
    /// The id of the first function.
    pub first: usize,
    /// Whether to instrument as little as possible, because the whole did not build.
    pub is_mild: bool,
}

/// A file of an instrumented repository that differs from the original one, or is new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlteredFile {
    /// Its text.
    pub text: String,
    /// Whether it is a program.
    pub is_executable: bool,
}

/// A repository whose functions can be made to answer with altered values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instrumented {
    /// The files that differ, and the new ones.
    pub files: BTreeMap<String, AlteredFile>,
    /// The functions; the id of each is its index, plus that of the first.
    pub functions: Vec<Function>,
    /// The variables that tell running code what to do.
    pub switches: Switches,
    /// Variables that the build needs.
    pub env: Vec<(String, String)>,
}

/// The names of the variables that tell instrumented code what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switches {
    /// Holds the id of a function and an alteration: see [`Switches::value`].
    pub switch: String,
    /// Holds the path of the file to which running code appends what it reached and altered.
    pub record: String,
    /// The name of the added module or function.
    pub(crate) helper: String,
}

impl Switches {
    fn of(seed: u64) -> Self {
        let mut names = FreshNames::new(seed);
        Self { switch: names.next("S"), record: names.next("R"), helper: names.next("t") }
    }

    /// The value of the switch for one alteration of the function with this id.
    pub fn value(id: usize, alteration: Alteration) -> String {
        format!("{id} {}", alteration.word())
    }

    /// A language's text with the random names in the place of the known ones.
    pub(crate) fn fill(&self, template: &str) -> String {
        template.replace("T_SWITCH", &self.switch).replace("T_RECORD", &self.record).replace("T_HELPER", &self.helper)
    }
}

/// What instrumented code recorded in one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The ids of the functions that were called.
    pub reached: Vec<usize>,
    /// Whether the answer that the switch names was altered.
    pub altered: bool,
}

impl Record {
    /// Reads the record of a run: a line for each function that was reached (`7`) and each alteration (`7 more`).
    pub fn read(text: &str) -> Self {
        let mut record = Self::default();
        for line in text.lines() {
            let (id, rest) = line.split_once(' ').unwrap_or((line, ""));
            record.altered |= !rest.is_empty();
            record.reached.extend(id.parse::<usize>().ok());
        }
        record.reached.sort_unstable();
        record.reached.dedup();
        record
    }
}

/// Text to insert at a byte. Of several at one byte, the outer of two starts comes first, the inner of two ends.
pub(crate) type Insertions = Vec<(usize, String)>;

/// Collects what a language instruments.
pub(crate) struct Plan<'r, 'a> {
    /// What was asked for.
    pub request: &'r Request<'a>,
    /// The random names.
    pub switches: Switches,
    functions: Vec<Function>,
    files: BTreeMap<String, AlteredFile>,
}

impl<'r, 'a> Plan<'r, 'a> {
    /// Instruments each file for which `instrument` finds something to insert.
    pub fn of(
        request: &'r Request<'a>,
        mut instrument: impl FnMut(&mut Self, &NewCode, &str) -> Option<Insertions>,
    ) -> Self {
        let mut plan = Self::new(request);
        for code in request.code {
            let Some(source) = request.sources.read(&code.path) else { continue };
            if let Some(insertions) = instrument(&mut plan, code, &source) {
                plan.insert(&code.path, &source, insertions);
            }
        }
        plan
    }

    /// Nothing yet.
    pub fn new(request: &'r Request<'a>) -> Self {
        let switches = Switches::of(request.seed);
        Self { request, switches, functions: Vec::new(), files: BTreeMap::new() }
    }

    /// Inserts text into a file.
    pub fn insert(&mut self, path: &str, source: &str, insertions: Insertions) {
        if !insertions.is_empty() {
            self.add(path, inserted(source, insertions));
        }
    }

    /// The id that the next function gets.
    pub fn next_id(&self) -> usize {
        self.request.first + self.functions.len()
    }

    /// The id of another function.
    pub fn id(&mut self, path: &str, name: String, line: usize, is_constant: bool) -> usize {
        let id = self.next_id();
        self.functions.push(Function { path: path.to_owned(), name, line, is_constant });
        id
    }

    /// Adds a file, or replaces one.
    pub fn add(&mut self, path: &str, text: String) {
        self.files.insert(path.to_owned(), AlteredFile { text, is_executable: false });
    }

    /// Adds a program.
    pub fn add_program(&mut self, path: &str, text: String) {
        self.files.insert(path.to_owned(), AlteredFile { text, is_executable: true });
    }

    /// The result; `None` if there is no function to alter.
    pub fn finish(self, env: Vec<(String, String)>) -> Option<Instrumented> {
        let Self { switches, functions, files, .. } = self;
        (!functions.is_empty()).then_some(Instrumented { files, functions, switches, env })
    }
}

/// Whether a node, or an item around it, begins on one of the lines.
pub(crate) fn is_asked(
    tree: &FlatTree<'_>,
    node: usize,
    lines: &[Range<usize>],
    is_item: impl Fn(usize) -> bool,
) -> bool {
    let begins = |node: usize| lines.iter().any(|range| range.contains(&tree.line(node)));
    begins(node) || tree.ancestors(node).any(|outer| outer > 0 && is_item(outer) && begins(outer))
}

/// A text with insertions. Those at one byte keep their order.
fn inserted(source: &str, mut insertions: Insertions) -> String {
    insertions.sort_by_key(|(at, _)| *at);
    let mut made = String::with_capacity(source.len() * 2);
    let mut from = 0;
    for (at, text) in insertions {
        made.push_str(source.get(from..at).unwrap_or_default());
        made.push_str(&text);
        from = at;
    }
    made.push_str(source.get(from..).unwrap_or_default());
    made
}

/// Instruments the code of several projects with one set of names.
pub(crate) fn together(parts: Vec<Instrumented>) -> Option<Instrumented> {
    parts.into_iter().reduce(|mut all, part| {
        all.files.extend(part.files);
        all.functions.extend(part.functions);
        all.env.extend(part.env);
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_says_what_was_reached_and_altered() {
        let read = |text| Record::read(text);
        assert_eq!(read("3\n1\n3\n"), Record { reached: vec![1, 3], altered: false });
        assert_eq!(read("1\n1 more\n"), Record { reached: vec![1], altered: true });
        assert_eq!(read(""), Record::default());
    }

    #[test]
    fn names_differ_with_the_seed() {
        assert_ne!(Switches::of(1), Switches::of(2));
        assert_eq!(Switches::value(7, Alteration::Less), "7 less");
    }
}
