//! All items of a repository, and which items refer to which, by name.
//!
//! Names are not types. A name that may mean several items means all of them, so that the question "does a test reach
//! this?" never gets a wrong no.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use tdd_core::change::Sort;
use tdd_core::signs::Place;

use crate::language::{Project, Sources};
use crate::rust::change::example;
use crate::rust::change::file::File;
use crate::rust::change::piece::Piece;
use crate::rust::modules::ParsedFiles;
use crate::rust::owns;
use crate::rust::sort::{Layout, Sorter};

/// Names with which a test starts the project's own programs.
const STARTS_PROGRAM: [&str; 3] = ["cargo_bin", "cargo_bin_cmd", "main"];

/// All Rust code of a repository.
pub(super) struct Code {
    pub files: Vec<File>,
    pub nodes: Vec<Node>,
    by_name: BTreeMap<String, Vec<usize>>,
    types: BTreeSet<String>,
    /// The items that each item refers to.
    links: Vec<Vec<usize>>,
    /// Runner configuration; these files are not searched for signs.
    steering: BTreeSet<String>,
    /// Production code without a name: file index and line.
    pub nameless: Vec<(usize, usize)>,
}

pub(super) struct Node {
    /// The index of its file.
    pub file: usize,
    pub tokens: Range<usize>,
    pub for_tests: bool,
    /// Its name without its owner; empty for an `impl`.
    pub name: String,
    /// The type or trait that contains it.
    owner: Option<String>,
    pub of_trait: bool,
    pub label: String,
    pub line: usize,
    words: Vec<Word>,
    /// Names that a macro call here may define.
    macro_defined_names: Vec<String>,
}

/// A name in use.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Word {
    pub name: String,
    /// The type before it: `Stack` in `Stack::new`.
    of: Option<String>,
}

impl Code {
    /// Reads all Rust files.
    pub fn of(project: &Project, sources: &dyn Sources) -> Self {
        let sorter = Sorter::new(Layout::of(project, &mut ParsedFiles::new(sources)), sources);
        let mut code = Self {
            files: Vec::new(),
            nodes: Vec::new(),
            by_name: BTreeMap::new(),
            types: BTreeSet::new(),
            links: Vec::new(),
            steering: BTreeSet::new(),
            nameless: Vec::new(),
        };
        for path in sources.ending(".rs").into_iter().filter(|path| owns(path)) {
            let sort = sorter.sort(path);
            if sort == Sort::Steering {
                code.steering.insert(path.clone());
            }
            if let Some(source) = sources.read(path).filter(|_| sort != Sort::Document) {
                code.add(File::new(path, source, sort == Sort::Test));
            }
        }
        code.links = code.nodes.iter().map(|node| code.named(&node.words, node.owner.as_deref())).collect();
        code
    }

    fn add(&mut self, file: File) {
        let at = self.files.len();
        for piece in &file.pieces {
            let Some(node) = Node::of(&file, at, piece) else {
                let is_code = !piece.for_tests && matches!(piece.label.as_str(), "code" | "extern block");
                self.nameless.extend(is_code.then_some((at, piece.line)));
                continue;
            };
            let number = self.nodes.len();
            let mut keys = vec![node.name.clone()];
            keys.extend(node.macro_defined_names.iter().cloned());
            if let Some(owner) = &node.owner {
                keys.push(format!("{owner}::{}", node.name));
                if node.of_trait || node.name.is_empty() {
                    keys.push(owner.clone());
                }
            } else {
                self.types.insert(node.name.clone());
            }
            for key in keys.into_iter().filter(|key| !key.is_empty()) {
                self.by_name.entry(key).or_default().push(number);
            }
            self.nodes.push(node);
        }
        self.files.push(file);
    }

    /// Whether this file is runner configuration.
    pub fn is_runner_configuration(&self, path: &str) -> bool {
        self.steering.contains(path)
    }

    /// An item's location.
    pub fn place(&self, node: usize) -> Place {
        let node = &self.nodes[node];
        Place::new(&self.files[node.file].path, node.line)
    }

    /// The items that a name may mean.
    pub fn meanings(&self, word: &Word, owner: Option<&str>) -> &[usize] {
        let found = |key: &str| self.by_name.get(key).map_or(&[][..], Vec::as_slice);
        let of = word.of.as_deref().map(|of| if of == "Self" { owner.unwrap_or(of) } else { of });
        match of {
            Some(of) if self.types.contains(of) => found(&format!("{of}::{}", word.name)),
            Some(_) | None => found(&word.name),
        }
    }

    /// The items that these words may mean.
    fn named(&self, words: &[Word], owner: Option<&str>) -> Vec<usize> {
        let found: BTreeSet<usize> = words.iter().flat_map(|word| self.meanings(word, owner)).copied().collect();
        found.into_iter().collect()
    }

    /// All items reachable from these words through items that `passes` accepts.
    pub fn reach(&self, words: &[Word], passes: impl Fn(&Node) -> bool) -> BTreeSet<usize> {
        let mut reached = vec![false; self.nodes.len()];
        let mut waiting = self.named(words, None);
        while let Some(node) = waiting.pop() {
            if !reached[node] && passes(&self.nodes[node]) {
                reached[node] = true;
                waiting.extend(self.links[node].iter().filter(|next| !reached[**next]));
            }
        }
        (0..reached.len()).filter(|node| reached[*node]).collect()
    }

    /// Items that no other item, test or example names.
    pub fn unreferenced(&self) -> BTreeSet<Place> {
        let mut named: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for (number, node) in self.nodes.iter().enumerate().filter(|(_, node)| !node.label.starts_with("use ")) {
            for word in &node.words {
                named.entry(&word.name).or_default().insert(number);
            }
        }
        let elsewhere: BTreeSet<String> = self.files.iter().flat_map(words_of_tests_and_examples).collect();
        let is_idle = |(number, node): &(usize, &Node)| {
            let counts = |by: &usize| by != number && self.nodes[*by].owner.as_deref() != Some(&node.name);
            let others = named.get(node.name.as_str()).is_some_and(|by| by.iter().any(counts));
            node.can_be_idle() && !others && !elsewhere.contains(&node.name)
        };
        self.nodes.iter().enumerate().filter(is_idle).map(|(number, _)| self.place(number)).collect()
    }

    /// The names in the examples of a file's documentation.
    pub fn example_words(&self, file: usize) -> Vec<String> {
        examples(&self.files[file]).iter().flat_map(|text| words_of_text(text)).collect()
    }
}

impl Node {
    fn of(file: &File, at: usize, piece: &Piece) -> Option<Self> {
        let (kind, rest) = piece.label.split_once(" `")?;
        let written = rest.trim_end_matches('`');
        let is_alias = kind == "use" && written.contains(" as ");
        if matches!(kind, "mod" | "attribute" | "extern crate" | "an example of fn") && !is_alias {
            return None;
        }
        if piece.label.starts_with("an example") || kind == "use" && !is_alias {
            return None;
        }
        let last = written.rsplit("::").next().unwrap_or(written);
        let name = match kind {
            "impl" | "call of macro" => String::new(),
            "use" => piece.name.clone(),
            _ => last.to_owned(),
        };
        let is_call = kind == "call of macro";
        let owner = ((name != piece.name || kind == "impl") && !is_call).then(|| piece.name.clone());
        let tokens = file.inside(&piece.span);
        let macro_defined_names = if is_call { macro_defined_names(file, tokens.clone()) } else { Vec::new() };
        let mut words = words(file, tokens.clone());
        // A method implies its type, and a trait's method the trait.
        words.extend(owner.clone().map(Word::plain));
        let (label, line) = (piece.label.clone(), piece.line);
        Some(Self {
            file: at,
            tokens,
            for_tests: piece.for_tests,
            name,
            owner,
            of_trait: piece.of_trait,
            label,
            line,
            words,
            macro_defined_names,
        })
    }

    /// The names by which the item can be used.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.name).chain(&self.macro_defined_names).filter(|name| !name.is_empty()).map(String::as_str)
    }

    pub fn owner(&self) -> Option<&str> {
        self.owner.as_deref()
    }

    /// Whether the item can have members.
    pub fn is_type(&self) -> bool {
        ["struct ", "enum ", "union ", "trait ", "type ", "use "].iter().any(|start| self.label.starts_with(start))
    }

    /// Whether the item is dead code if nobody names it. Nobody names `main` or exported items, and a trait's methods
    /// are called through the trait.
    fn can_be_idle(&self) -> bool {
        const NAMED: [&str; 8] = ["fn ", "struct ", "enum ", "union ", "trait ", "type ", "const ", "static "];
        const EXPORTED: [&str; 4] = ["no_mangle", "export_name", "panic_handler", "global_allocator"];
        let is_exported = || self.words.iter().any(|word| EXPORTED.contains(&word.name.as_str()));
        NAMED.iter().any(|start| self.label.starts_with(start))
            && !self.for_tests
            && !self.of_trait
            && !matches!(self.name.as_str(), "main" | "_")
            && !is_exported()
    }
}

impl Word {
    /// A name without a type before it.
    pub fn plain(name: String) -> Self {
        Self { name, of: None }
    }
}

/// The names in these tokens. A token that starts the project's own program adds `main`.
pub(super) fn words(file: &File, tokens: Range<usize>) -> Vec<Word> {
    let mut found = BTreeSet::new();
    for at in tokens {
        let text = file.text(at);
        if is_program(file, at) {
            found.insert(Word::plain("main".to_owned()));
        }
        let is_definition = at > 0 && file.text(at - 1) == "fn";
        if is_name(file, at) && !is_definition {
            let before = |back: usize| at.checked_sub(back).map_or("", |at| file.text(at));
            let is_type = |text: &str| text.starts_with(|c: char| c.is_uppercase());
            let of = (before(1) == "::" && is_type(before(2))).then(|| before(2).to_owned());
            found.insert(Word { name: text.trim_start_matches("r#").to_owned(), of });
        }
    }
    found.into_iter().collect()
}

/// Whether a token starts one of the project's own programs.
pub(super) fn is_program(file: &File, at: usize) -> bool {
    let text = file.text(at);
    let says = || text.contains("CARGO_BIN_EXE_") || text == "\"cargo\"" || text.contains("target/");
    file.kind(at) == "string_literal" && says() || STARTS_PROGRAM.contains(&text)
}

/// The names that a macro call may define: `thread_local! { static COUNT: u8 = 0; }`.
fn macro_defined_names(file: &File, tokens: Range<usize>) -> Vec<String> {
    let is_given = |at: &usize| {
        let (before, after) = (at.checked_sub(1).map_or("", |at| file.text(at)), file.text(at + 1));
        let is_behind = matches!(before, ":" | "::" | "<" | ">" | "=" | "&" | "." | "->");
        is_name(file, *at) && !is_behind && !matches!(after, "::" | "<" | "(" | "." | "!")
    };
    tokens.filter(is_given).map(|at| file.text(at).to_owned()).collect()
}

pub(super) fn is_name(file: &File, at: usize) -> bool {
    file.kind(at).ends_with("identifier")
}

fn words_of_tests_and_examples(file: &File) -> Vec<String> {
    let tests = file.tests.iter().flat_map(|test| words(file, file.inside(&test.span))).map(|word| word.name);
    let examples = examples(file);
    tests.chain(examples.iter().flat_map(|text| words_of_text(text))).collect()
}

/// The examples in a file's documentation.
fn examples(file: &File) -> Vec<String> {
    let is_doc = |line: &str| line.trim_start().starts_with("///") || line.trim_start().starts_with("//!");
    let docs: Vec<&str> = file.source().lines().map(|line| if is_doc(line) { line } else { "" }).collect();
    let parts = docs.split(|line| line.is_empty()).filter(|part| !part.is_empty());
    parts.flat_map(|part| example::examples(part.iter().flat_map(|line| example::lines(line)))).collect()
}

fn words_of_text(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    parts.filter(|part| part.starts_with(|c: char| c.is_alphabetic() || c == '_')).map(str::to_owned).collect()
}
