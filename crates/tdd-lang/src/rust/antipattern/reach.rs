//! What the tests of a Rust repository reach: from the names they use to the items these may mean.
//!
//! `use` and the path before a name decide what it means. Where they do not, it means every item with that name.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use tdd_core::signs::Place;

use crate::rust::change::file::File;
use crate::uses::segments;

use super::code::{Code, is_name, is_program};
use super::scan::{before, past_group};

/// Methods that register a handler for a URL path.
const REGISTERING: [&str; 4] = ["route", "route_service", "nest", "handle"];

/// Path prefixes that do not name a module.
const RELATIVE: [&str; 3] = ["crate", "self", "super"];

/// A name in use.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Used {
    name: String,
    how: How,
    /// The words of the route that a test must mention for this use to count; empty if it always counts.
    route: Vec<String>,
}

/// How a name is used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum How {
    /// `add`.
    Plain,
    /// `.add`, or after something that is not a name.
    Member,
    /// `Stack::add`.
    OfType(String),
    /// `calc::add`.
    InModule(String),
}

/// What an item leads to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Link {
    Node(usize),
    /// All members with a name, by the name's index.
    Members(usize),
}

/// Links, with the words of the route that a test must mention for them to count.
type Links = Vec<(Link, Vec<String>)>;

/// Which items lead to which.
pub(super) struct Reach<'c> {
    code: &'c Code,
    /// The imports of each file: paths by local name.
    imports: Vec<BTreeMap<&'c str, BTreeSet<&'c str>>>,
    /// The files of each module, by the module's name.
    modules: BTreeMap<String, BTreeSet<usize>>,
    by_name: BTreeMap<&'c str, Vec<usize>>,
    /// The types and traits of the repository, by name.
    types: BTreeMap<&'c str, Vec<usize>>,
    /// The items in an `impl` or a trait, by the type's or trait's name.
    owned: BTreeMap<&'c str, Vec<usize>>,
    /// An index for each member name.
    members: BTreeMap<&'c str, usize>,
    /// The members with each name, by that index.
    called: Vec<Vec<usize>>,
    /// How each item belongs to a type.
    belongs: Vec<Belongs>,
    /// What each item always leads to, and (`routed`) what only if a test mentions the route.
    links: Vec<Vec<Link>>,
    routed: Vec<Links>,
}

/// How an item belongs to a type.
#[derive(Clone, Debug, Default)]
struct Belongs {
    /// The index of its name, if it is a member.
    name: Option<usize>,
    /// The types it may be a member of; empty if it can be reached without one.
    types: Vec<usize>,
    /// The members of a type; `true` for those that are reached with the type without being named.
    members: Vec<(usize, bool)>,
}

impl<'c> Reach<'c> {
    pub fn new(code: &'c Code) -> Self {
        let mut reach = Self {
            code,
            imports: code.files.iter().map(imports).collect(),
            modules: BTreeMap::new(),
            by_name: BTreeMap::new(),
            types: BTreeMap::new(),
            owned: BTreeMap::new(),
            members: BTreeMap::new(),
            called: Vec::new(),
            belongs: vec![Belongs::default(); code.nodes.len()],
            links: Vec::new(),
            routed: Vec::new(),
        };
        for (number, file) in code.files.iter().enumerate() {
            reach.modules.entry(module(&file.path)).or_default().insert(number);
        }
        for (number, node) in code.nodes.iter().enumerate() {
            for name in node.names() {
                reach.by_name.entry(name).or_default().push(number);
            }
            match node.owner() {
                Some(owner) => reach.owned.entry(owner).or_default().push(number),
                None if node.is_type() => reach.types.entry(&node.name).or_default().push(number),
                None => {}
            }
        }
        (0..code.nodes.len()).for_each(|number| reach.belong(number));
        for node in &code.nodes {
            let file = &code.files[node.file];
            let links = reach.resolved(node.file, &uses(file, node.tokens.clone()), node.owner());
            let (routed, always): (Vec<_>, Vec<_>) = links.into_iter().partition(|(_, route)| !route.is_empty());
            // A method implies its type, and a trait's method the trait.
            let own = node.owner().into_iter().flat_map(|owner| reach.of_type(owner)).map(Link::Node);
            let always: BTreeSet<Link> = always.into_iter().map(|(link, _)| link).chain(own).collect();
            reach.links.push(always.into_iter().collect());
            reach.routed.push(routed);
        }
        reach
    }

    /// Records which types an item is a member of. A trait's member, or one of a foreign type, is reached without its
    /// type.
    fn belong(&mut self, number: usize) {
        let node = &self.code.nodes[number];
        let Some(owner) = node.owner() else { return };
        let types = self.types.get(owner).cloned().unwrap_or_default();
        let is_trait = types.iter().any(|it| self.code.nodes[*it].label.starts_with("trait "));
        let is_asked_for = is_trait && (node.label.starts_with("type ") || node.label.starts_with("const "));
        let comes = node.of_trait || node.name.is_empty() || is_asked_for;
        for it in &types {
            self.belongs[*it].members.push((number, comes));
        }
        let new = self.members.len();
        let name = *self.members.entry(&node.name).or_insert(new);
        self.called.resize(self.members.len(), Vec::new());
        self.called[name].push(number);
        self.belongs[number].name = Some(name);
        self.belongs[number].types = if is_trait || node.for_tests { Vec::new() } else { types };
    }

    /// The production items that a test with these tokens reaches.
    pub fn of_test(&self, file: usize, tokens: Range<usize>) -> BTreeSet<Place> {
        let links = self.resolved(file, &uses(&self.code.files[file], tokens.clone()), None);
        let mut walk = Walk::new(self);
        walk.add_text(file, tokens);
        walk.run(links)
    }

    /// The production items that an example with these words reaches.
    pub fn of_example(&self, words: &[String]) -> BTreeSet<Place> {
        let named = words.iter().filter_map(|word| self.by_name.get(word.as_str())).flatten();
        let mut walk = Walk::new(self);
        walk.test_text = words.join(" ").to_lowercase();
        walk.run(named.map(|node| (Link::Node(*node), Vec::new())).collect())
    }

    fn resolved(&self, file: usize, uses: &BTreeSet<Used>, owner: Option<&str>) -> Links {
        let mut found = BTreeSet::new();
        for used in uses {
            let links: Vec<Link> = match &used.how {
                How::Member => self.members(&used.name),
                How::OfType(of) => {
                    let of = if of == "Self" { owner.unwrap_or(of) } else { of };
                    self.in_type(file, of, &used.name)
                }
                How::InModule(module) => self.in_module(file, module, &used.name),
                How::Plain => self.plain(file, &used.name),
            };
            found.extend(links.into_iter().map(|link| (link, used.route.clone())));
        }
        found.into_iter().collect()
    }

    /// The link to all members with a name.
    fn members(&self, name: &str) -> Vec<Link> {
        self.members.get(name).map(|name| Link::Members(*name)).into_iter().collect()
    }

    /// `Stack::new`: an associated item, a variant, or an item that a trait gives to the type.
    fn in_type(&self, file: usize, of: &str, name: &str) -> Vec<Link> {
        let real = self.imports[file].get(of).into_iter().flatten().map(|path| last(path));
        let names: BTreeSet<&str> = real.chain([of]).collect();
        let is_ours = names.iter().any(|name| self.types.contains_key(name));
        let owned = names.iter().filter_map(|of| self.owned.get(of)).flatten();
        let is_it = |node: &&usize| self.code.nodes[**node].name == name;
        let own: Vec<Link> = owned.filter(is_it).map(|node| Link::Node(*node)).collect();
        if own.is_empty() || !is_ours { self.members(name) } else { own }
    }

    fn in_module(&self, file: usize, module: &str, name: &str) -> Vec<Link> {
        let real = self.imports[file].get(module).into_iter().flatten().map(|path| last(path));
        let files: BTreeSet<usize> =
            real.chain([module]).filter_map(|module| self.modules.get(module)).flatten().copied().collect();
        let all = self.tops(name, |_| true);
        let there = self.tops(name, |node| files.contains(&self.code.nodes[node].file));
        // The item may be re-exported there, or be in an inline module.
        if there.is_empty() { all } else { there }
    }

    fn plain(&self, file: usize, name: &str) -> Vec<Link> {
        if let Some(paths) = self.imports[file].get(name) {
            let of_path = |path: &&str| {
                let parts: Vec<&str> = path.split(" as ").next().unwrap_or(path).split("::").collect();
                match parts[..] {
                    [.., module, own] if !RELATIVE.contains(&module) => self.in_module(file, module, own),
                    [.., own] => self.tops(own, |_| true),
                    [] => Vec::new(),
                }
            };
            let mut found: Vec<Link> = paths.iter().flat_map(of_path).collect();
            found.extend(self.tops(name, |node| self.code.nodes[node].file == file));
            return found;
        }
        let here = self.tops(name, |node| self.code.nodes[node].file == file);
        if here.is_empty() { self.tops(name, |_| true) } else { here }
    }

    /// Items with this name that are not members.
    fn tops(&self, name: &str, is_meant: impl Fn(usize) -> bool) -> Vec<Link> {
        let named = self.by_name.get(name).into_iter().flatten().copied();
        named.filter(|node| self.code.nodes[*node].owner().is_none() && is_meant(*node)).map(Link::Node).collect()
    }

    /// A type with the members that are always reached with it: its `impl`s and its trait methods.
    fn of_type(&self, owner: &str) -> Vec<usize> {
        let members = self.owned.get(owner).into_iter().flatten();
        let comes = members.filter(|node| {
            let node = &self.code.nodes[**node];
            node.of_trait || node.name.is_empty()
        });
        self.types.get(owner).into_iter().flatten().chain(comes).copied().collect()
    }
}

/// The search for everything that a test reaches.
struct Walk<'r, 'c> {
    reach: &'r Reach<'c>,
    reached: Vec<bool>,
    named: Vec<bool>,
    /// The text of the test and its helpers, in lower case; empty if there are no routes.
    test_text: String,
    waiting: Links,
    open: Vec<usize>,
}

impl<'r, 'c> Walk<'r, 'c> {
    fn new(reach: &'r Reach<'c>) -> Self {
        let (reached, named) = (vec![false; reach.code.nodes.len()], vec![false; reach.called.len()]);
        Self { reach, reached, named, test_text: String::new(), waiting: Vec::new(), open: Vec::new() }
    }

    fn add_text(&mut self, file: usize, tokens: Range<usize>) {
        if self.reach.routed.iter().all(Vec::is_empty) {
            return;
        }
        let file = &self.reach.code.files[file];
        for at in tokens {
            self.test_text.push_str(&file.text(at).to_lowercase());
            self.test_text.push(' ');
        }
    }

    fn run(mut self, links: Links) -> BTreeSet<Place> {
        self.waiting = links;
        loop {
            for (link, route) in std::mem::take(&mut self.waiting) {
                let says = |word: &String| self.test_text.contains(word.as_str());
                if route.iter().all(says) { self.follow(&link) } else { self.waiting.push((link, route)) }
            }
            if self.open.is_empty() {
                break;
            }
            while let Some(node) = self.open.pop() {
                self.visit(node);
            }
        }
        let code = self.reach.code;
        let found = (0..self.reached.len()).filter(|node| self.reached[*node] && !code.nodes[*node].for_tests);
        let found: BTreeSet<usize> = found.collect();
        let files: BTreeSet<usize> = found.iter().map(|node| code.nodes[*node].file).collect();
        // Code without a name counts as reached with any item of its file.
        let nameless = code.nameless.iter().filter(|(file, _)| files.contains(file));
        let nameless = nameless.map(|(file, line)| Place::new(&code.files[*file].path, *line));
        found.iter().map(|node| code.place(*node)).chain(nameless).collect()
    }

    fn visit(&mut self, number: usize) {
        if std::mem::replace(&mut self.reached[number], true) {
            return;
        }
        let reach = self.reach;
        let node = &reach.code.nodes[number];
        if node.for_tests {
            self.add_text(node.file, node.tokens.clone());
        }
        reach.links[number].iter().for_each(|link| self.follow(link));
        self.waiting.extend(reach.routed[number].iter().cloned());
        for (member, comes) in &reach.belongs[number].members {
            if *comes || reach.belongs[*member].name.is_some_and(|name| self.named[name]) {
                self.open.push(*member);
            }
        }
    }

    /// Follows a link. Members are reached by name once one of their types is reached.
    fn follow(&mut self, link: &Link) {
        let name = match link {
            Link::Node(node) => return self.open.push(*node),
            Link::Members(name) => *name,
        };
        if std::mem::replace(&mut self.named[name], true) {
            return;
        }
        for member in &self.reach.called[name] {
            let types = &self.reach.belongs[*member].types;
            if types.is_empty() || types.iter().any(|it| self.reached[*it]) {
                self.open.push(*member);
            }
        }
    }
}

/// The names that a file imports, each with its paths.
fn imports(file: &File) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for piece in &file.pieces {
        let path = piece.label.strip_prefix("use `").and_then(|label| label.strip_suffix('`'));
        if let Some(path) = path.filter(|path| !path.ends_with('*')) {
            found.entry(crate::rust::change::uses::name(path)).or_default().insert(path);
        }
    }
    found
}

fn last(path: &str) -> &str {
    let path = path.split(" as ").next().unwrap_or(path);
    path.rsplit("::").next().unwrap_or(path)
}

/// The module name of a file.
fn module(path: &str) -> String {
    let stem = path.trim_end_matches(".rs").trim_end_matches("/mod");
    stem.rsplit('/').next().unwrap_or(stem).to_owned()
}

/// The names used in these tokens, and how each is used.
fn uses(file: &File, tokens: Range<usize>) -> BTreeSet<Used> {
    let mut found = BTreeSet::new();
    let bound = bound(file, tokens.clone());
    let routes = routes(file, tokens.clone());
    for at in tokens.clone() {
        let route = || {
            let around = routes.iter().filter(|(nodes, _)| nodes.contains(&at));
            around.min_by_key(|(nodes, _)| nodes.len()).map(|(_, words)| words.clone()).unwrap_or_default()
        };
        if is_program(file, at) {
            found.insert(Used { name: "main".to_owned(), how: How::Plain, route: Vec::new() });
        }
        for name in spelled(file, at) {
            found.insert(Used { name, how: How::Plain, route: Vec::new() });
        }
        if !is_name(file, at) || before(file, at) == "fn" {
            continue;
        }
        let (name, after) = (file.text(at), file.text(at + 1));
        let how = match before(file, at) {
            "." => How::Member,
            "::" => of_path(file, at),
            _ => How::Plain,
        };
        // The name of a field or parameter, or a local variable.
        let is_own = after == ":" || bound.contains(name) && !matches!(after, "(" | "!" | "::");
        if how != How::Plain || !is_own {
            found.insert(Used { name: name.to_owned(), how, route: route() });
        }
    }
    found
}

/// The names inside a string literal: `"{PREFIX}-{}"`, `#[serde(default = "port")]`.
fn spelled(file: &File, at: usize) -> Vec<String> {
    let text = file.text(at);
    if !file.kind(at).ends_with("string_literal") {
        return Vec::new();
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let name = |part: &str| part.split(|c: char| !is_word(c)).next().unwrap_or_default().to_owned();
    let formatted = text.split('{').skip(1).map(name);
    let plain = text.trim_matches('"').rsplit("::").next().unwrap_or_default();
    let given = (before(file, at) == "=" && plain.chars().all(is_word)).then(|| plain.to_owned());
    formatted.chain(given).filter(|name| name.starts_with(|c: char| c.is_alphabetic() || c == '_')).collect()
}

/// How a name after `::` is used.
fn of_path(file: &File, at: usize) -> How {
    let Some(outer) = at.checked_sub(2).filter(|outer| is_name(file, *outer)) else {
        let outer = at.checked_sub(2).map_or("", |outer| file.text(outer));
        return if RELATIVE.contains(&outer) { How::Plain } else { How::Member };
    };
    let text = file.text(outer).to_owned();
    if text.starts_with(|c: char| c.is_uppercase()) { How::OfType(text) } else { How::InModule(text) }
}

/// The variables that `let`, `for` and closures bind.
fn bound(file: &File, tokens: Range<usize>) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    let head = tokens.start..tokens.clone().find(|at| file.text(*at) == "{").unwrap_or(tokens.end);
    for at in tokens.clone() {
        let end = match file.text(at) {
            "let" | "for" => (at + 1..tokens.end).find(|at| matches!(file.text(*at), "=" | "in" | ";" | "{" | ":")),
            "|" if matches!(before(file, at), "(" | "," | "=" | "move" | "{" | ";") => {
                (at + 1..tokens.end).find(|at| file.text(*at) == "|")
            }
            _ => None,
        };
        let pattern = at + 1..end.unwrap_or(at + 1);
        let is_variable = |at: &usize| is_name(file, *at) && file.text(*at).starts_with(|c: char| !c.is_uppercase());
        found.extend(pattern.filter(is_variable).map(|at| file.text(at)));
        let is_typed = is_name(file, at) && file.text(at + 1) == ":" && matches!(before(file, at), "(" | "," | "mut");
        let is_parameter = head.contains(&at) && is_typed;
        found.extend(is_parameter.then(|| file.text(at)));
    }
    found
}

/// The arguments that count only for a route: `.route("/hello", get(hello))`.
fn routes(file: &File, tokens: Range<usize>) -> Vec<(Range<usize>, Vec<String>)> {
    let mut found = Vec::new();
    for at in tokens.clone() {
        let is_call = before(file, at) == "." && REGISTERING.contains(&file.text(at)) && file.text(at + 1) == "(";
        let path = file.text(at + 2).trim_matches('"');
        if is_call && path.starts_with('/') {
            found.push((at + 3..past_group(file, at + 1, tokens.end), segments(path)));
        }
    }
    found
}
