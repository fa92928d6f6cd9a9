//! Finds what a test reaches: follows the names that it uses to the items that they may mean, and on from there.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::{Code, Item, ReachedBy};
use crate::lookup::{Link, Lookup};
use crate::uses::{Use, Used};

/// What each item leads to, and how it is reached.
#[derive(Debug, Default)]
pub(crate) struct Links {
    /// Links by item, each with the segments of its route.
    of: Vec<Vec<(Link, Vec<String>)>>,
    members: BTreeMap<String, Vec<usize>>,
    owned: BTreeMap<usize, Vec<usize>>,
    owner: BTreeMap<usize, usize>,
    /// The files that each file loads.
    loads: Vec<Vec<usize>>,
    /// The items that come with each file.
    with_file: Vec<Vec<usize>>,
}

impl Links {
    /// Resolves all names of all items.
    pub fn of(code: &Code) -> Self {
        let lookup = Lookup::of(code);
        let mut links = Self { with_file: vec![Vec::new(); code.files.len()], ..Self::default() };
        for (number, item) in code.items.iter().enumerate() {
            if let Some(owner) = &item.role.owner {
                item.role.names.iter().for_each(|name| links.members.entry(name.clone()).or_default().push(number));
                if let Some(class) = lookup.top(&code.files[item.file].names.namespace, owner).first() {
                    links.owned.entry(*class).or_default().push(number);
                    links.owner.insert(number, *class);
                }
            }
            if item.role.reached_by == ReachedBy::File {
                links.with_file[item.file].push(number);
            }
        }
        links.of = code.items.iter().map(|item| links.resolved(&lookup, item.file, item, &item.found.uses)).collect();
        links.loads = (0..code.files.len()).map(|file| lookup.loads(file)).collect();
        links
    }

    /// Resolves these uses in a file.
    fn resolved(
        &self,
        lookup: &Lookup<'_>,
        file: usize,
        item: &Item,
        uses: &BTreeSet<Used>,
    ) -> Vec<(Link, Vec<String>)> {
        let mut found = BTreeSet::new();
        for used in uses {
            let mut add = |links: Vec<Link>| found.extend(links.into_iter().map(|link| (link, used.route.clone())));
            match &used.what {
                Use::Name(name) => add(lookup.name(file, name)),
                Use::Member(of, name) => add(lookup.member(file, of.as_deref(), name)),
                Use::Prefix(start) => {
                    let names = self.members.keys().filter(|name| name.starts_with(start.as_str()));
                    add(names.cloned().map(Link::Members).collect());
                }
                Use::Computed => {
                    let owner = item.role.owner.as_deref();
                    let here = || lookup.code.items.iter().enumerate().filter(|(_, other)| other.file == file);
                    let texts: BTreeSet<&String> = here().flat_map(|(_, other)| &other.found.texts).collect();
                    let spelled = here().filter(|(_, other)| other.role.names.iter().any(|name| texts.contains(name)));
                    add(spelled.map(|(number, _)| Link::Item(number)).collect());
                    let own = lookup.code.items.iter().enumerate();
                    let own = own.filter(|(_, other)| owner.is_some() && other.role.owner.as_deref() == owner);
                    add(own.filter(|(_, other)| other.file == file).map(|(number, _)| Link::Item(number)).collect());
                    add(vec![Link::Computed]);
                }
            }
        }
        found.into_iter().collect()
    }
}

/// Follows the links from a test.
pub(crate) struct Walk<'c> {
    code: &'c Code,
    links: &'c Links,
    reached: Vec<bool>,
    loaded: BTreeSet<usize>,
    named: BTreeSet<&'c str>,
    /// The literals of the test, of its helpers, and of items that start programs.
    texts: BTreeSet<&'c str>,
    /// The names in the test and its helpers.
    words: BTreeSet<&'c str>,
    open: Vec<usize>,
    /// Links whose route the test has not mentioned yet.
    waiting: Vec<(&'c Link, &'c [String])>,
    is_computed: bool,
    starts: bool,
}

impl<'c> Walk<'c> {
    pub fn new(code: &'c Code, links: &'c Links) -> Self {
        Self {
            code,
            links,
            reached: vec![false; code.items.len()],
            loaded: BTreeSet::new(),
            named: BTreeSet::new(),
            texts: BTreeSet::new(),
            words: BTreeSet::new(),
            open: Vec::new(),
            waiting: Vec::new(),
            is_computed: false,
            starts: false,
        }
    }

    /// The items that can be reached from these, themselves included.
    pub fn from(mut self, items: impl Iterator<Item = usize>) -> impl Iterator<Item = &'c Item> {
        self.open.extend(items);
        loop {
            while let Some(item) = self.open.pop() {
                self.reach(item);
            }
            self.look_again();
            if self.open.is_empty() {
                break;
            }
        }
        self.reached.into_iter().zip(&self.code.items).filter(|(is_reached, _)| *is_reached).map(|(_, item)| item)
    }

    fn reach(&mut self, number: usize) {
        if std::mem::replace(&mut self.reached[number], true) {
            return;
        }
        let item = &self.code.items[number];
        let starts = self.links.of[number].iter().any(|(link, _)| *link == Link::Program);
        if item.for_tests || starts {
            self.texts.extend(item.found.texts.iter().map(String::as_str));
        }
        if item.for_tests {
            self.words.extend(item.found.words.iter().map(String::as_str));
            self.starts |= starts;
        }
        for (link, route) in self.links.of[number].iter().filter(|_| !item.role.is_idle) {
            if route.is_empty() { self.follow(link) } else { self.waiting.push((link, route)) }
        }
        for member in self.links.owned.get(&number).into_iter().flatten() {
            let other = &self.code.items[*member];
            let is_named = other.role.names.iter().any(|name| self.named.contains(name.as_str()));
            if other.role.reached_by == ReachedBy::Owner || is_named {
                self.open.push(*member);
            }
        }
        self.load(item.file);
    }

    fn follow(&mut self, link: &'c Link) {
        match link {
            Link::Item(item) => self.open.push(*item),
            Link::Members(name) => self.name(name),
            Link::Program => {}
            Link::Computed => self.is_computed = true,
        }
    }

    /// Reaches the members with this name if their owner is reached or unknown, or if they are test code.
    fn name(&mut self, name: &'c str) {
        if !self.named.insert(name) {
            return;
        }
        for member in self.links.members.get(name).into_iter().flatten() {
            let owner = self.links.owner.get(member);
            if self.code.items[*member].for_tests || owner.is_none_or(|owner| self.reached[*owner]) {
                self.open.push(*member);
            }
        }
    }

    fn load(&mut self, file: usize) {
        let mut waiting = vec![file];
        while let Some(file) = waiting.pop() {
            if self.loaded.insert(file) {
                let is_free = |item: &&usize| self.code.items[**item].route.is_empty();
                self.open.extend(self.links.with_file[file].iter().filter(is_free));
                waiting.extend(&self.links.loads[file]);
            }
        }
    }

    /// Follows what depends on texts that the test may have mentioned meanwhile: routes, computed members, programs.
    fn look_again(&mut self) {
        for (link, route) in std::mem::take(&mut self.waiting) {
            if self.says_all(route) { self.follow(link) } else { self.waiting.push((link, route)) }
        }
        let registered = self.loaded.iter().flat_map(|file| &self.links.with_file[*file]);
        let registered: Vec<usize> =
            registered.copied().filter(|item| self.says_all(&self.code.items[*item].route)).collect();
        self.open.extend(registered.into_iter().filter(|item| !self.reached[*item]));
        if self.is_computed {
            let texts: Vec<&str> = self.texts.iter().copied().collect();
            for text in texts {
                self.name(text);
            }
        }
        self.open_programs();
    }

    fn says_all(&self, route: &[String]) -> bool {
        let says = |word: &String| {
            self.texts.iter().chain(&self.words).any(|text| text.to_lowercase().contains(word.as_str()))
        };
        route.iter().all(says)
    }

    /// Reaches the programs that the test names; all of them if it starts some and names none of ours.
    fn open_programs(&mut self) {
        let named = |file: &usize| {
            let programs = &self.code.files[*file].names.programs;
            programs.iter().any(|program| self.texts.iter().any(|text| is_named(text, program)))
        };
        let all: Vec<usize> = (0..self.code.files.len()).filter(|file| !self.code.files[*file].for_tests).collect();
        let mut started: Vec<usize> = all.iter().copied().filter(named).collect();
        if self.starts && started.is_empty() {
            started = all;
        }
        for file in started {
            let of_file = |number: &usize| {
                let item = &self.code.items[*number];
                let is_used = item.name == "main" || self.named.contains(item.name.as_str());
                item.file == file && (item.role.reached_by == ReachedBy::File || item.role.owner.is_none() && is_used)
            };
            let mut new: Vec<usize> = (0..self.code.items.len()).filter(of_file).collect();
            let guards = self.links.with_file[file].iter().filter(|item| self.code.items[**item].role.is_idle);
            new.extend(guards.flat_map(|guard| &self.links.of[*guard]).filter_map(|(link, _)| match link {
                Link::Item(item) => Some(*item),
                Link::Members(_) | Link::Program | Link::Computed => None,
            }));
            self.open.extend(new.into_iter().filter(|item| !self.reached[*item]));
        }
    }
}

/// Whether a text names a program, alone or at the end of a path.
fn is_named(text: &str, program: &str) -> bool {
    let text = text.strip_prefix("./").unwrap_or(text);
    text == program || text.strip_suffix(program).is_some_and(|before| before.ends_with('/'))
}
