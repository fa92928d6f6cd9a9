//! Resolves a name in a file to the items that it may mean: through the file's own items, its imports and re-exports.
//!
//! Where imports do not decide, a name resolves to every candidate: the question is "does a test reach this item?", and
//! it must not be answered no where the truth is yes.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::Code;

/// Maximum number of re-exports that a name is followed through.
const MAX_HOPS: usize = 12;

/// Where an imported name comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// One of these files of the project, or a package in one of these folders.
    Files(Vec<String>),
    /// Outside of the project.
    Foreign,
    /// A module that starts programs or loads modules by name.
    Starter,
    /// Somewhere in the project, in an unknown file.
    Unknown,
}

/// What an imported name refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Import {
    pub from: Origin,
    /// The name in that module; `None` for the module itself.
    pub name: Option<String>,
}

/// What the names of a file refer to.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileNames {
    /// Namespace of files that see each other's names without an import: the file itself, or its package.
    pub namespace: String,
    pub imports: BTreeMap<String, Vec<Import>>,
    /// Modules from which all names are imported.
    pub wildcard_imports: Vec<Origin>,
    /// Exported names that differ from the local name: exported name to local name.
    pub exports: BTreeMap<String, String>,
    /// Texts by which a test can start this file as a program: its path, its module name.
    pub programs: Vec<String>,
}

/// What a use of a name leads to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Link {
    Item(usize),
    /// All members with this name.
    Members(String),
    /// A program that the code starts.
    Program,
    /// Members whose names may occur as texts in the test.
    Computed,
}

/// Resolves names.
pub(crate) struct Lookup<'c> {
    pub code: &'c Code,
    /// Items that are not members, by namespace and name.
    tops: BTreeMap<&'c str, BTreeMap<&'c str, Vec<usize>>>,
    /// The files of each namespace.
    namespaces: BTreeMap<&'c str, Vec<usize>>,
    by_path: BTreeMap<&'c str, usize>,
    /// Helpers and fixtures by name.
    support: BTreeMap<&'c str, Vec<usize>>,
    /// Namespaces that some file imports as a whole, so that any of their names may follow a dot.
    whole: BTreeSet<&'c str>,
}

impl<'c> Lookup<'c> {
    /// Indexes all files.
    pub fn of(code: &'c Code) -> Self {
        let mut lookup = Self {
            code,
            tops: BTreeMap::new(),
            namespaces: BTreeMap::new(),
            by_path: BTreeMap::new(),
            support: BTreeMap::new(),
            whole: BTreeSet::new(),
        };
        for (number, file) in code.files.iter().enumerate() {
            lookup.namespaces.entry(&file.names.namespace).or_default().push(number);
            lookup.by_path.insert(&file.path, number);
        }
        for (number, item) in code.items.iter().enumerate() {
            for name in item.role.names.iter().filter(|name| !name.is_empty()) {
                if item.role.owner.is_none() {
                    let namespace = code.files[item.file].names.namespace.as_str();
                    lookup.tops.entry(namespace).or_default().entry(name).or_default().push(number);
                }
                if item.for_tests {
                    lookup.support.entry(name).or_default().push(number);
                }
            }
        }
        for import in code.files.iter().flat_map(|file| file.names.imports.values().flatten()) {
            if let (Origin::Files(files), None) = (&import.from, &import.name) {
                let namespaces: Vec<&str> = files.iter().map(|file| lookup.namespace(file)).collect();
                lookup.whole.extend(namespaces);
            }
        }
        lookup
    }

    /// The namespace of a file; a name that is not a file is a namespace itself.
    fn namespace(&self, file: &'c str) -> &'c str {
        self.by_path.get(file).map_or(file, |number| &self.code.files[*number].names.namespace)
    }

    /// The items with this name in a namespace, without members.
    pub fn top(&self, namespace: &str, name: &str) -> &[usize] {
        self.tops.get(namespace).and_then(|names| names.get(name)).map_or(&[], Vec::as_slice)
    }

    /// The files that are loaded together with a file.
    pub fn loads(&self, file: usize) -> Vec<usize> {
        let names = &self.code.files[file].names;
        let origins = names.imports.values().flatten().map(|import| &import.from).chain(&names.wildcard_imports);
        let files = origins.filter_map(|origin| match origin {
            Origin::Files(files) => Some(files.iter().flat_map(|file| self.files(file))),
            Origin::Foreign | Origin::Starter | Origin::Unknown => None,
        });
        files.flatten().collect()
    }

    /// The file with this path, or the files of the package with this name.
    fn files(&self, name: &'c str) -> Vec<usize> {
        match self.by_path.get(name) {
            Some(file) => vec![*file],
            None => self.namespaces.get(name).cloned().unwrap_or_default(),
        }
    }

    /// What a plain name in a file may refer to.
    pub fn name(&self, file: usize, name: &str) -> Vec<Link> {
        let names = &self.code.files[file].names;
        let mut links: Vec<Link> = self.plain(file, name).into_iter().map(Link::Item).collect();
        let imports = names.imports.get(name).into_iter().flatten();
        links.extend(imports.filter(|import| import.from == Origin::Starter).map(|_| Link::Program));
        links
    }

    /// The items that a plain name in a file may refer to.
    fn plain(&self, file: usize, name: &str) -> Vec<usize> {
        let names = &self.code.files[file].names;
        let own = self.top(&names.namespace, name);
        if !own.is_empty() {
            return own.to_vec();
        }
        if let Some(imports) = names.imports.get(name) {
            return imports.iter().flat_map(|import| self.imported(import, MAX_HOPS)).collect();
        }
        let mut found: Vec<usize> =
            names.wildcard_imports.iter().flat_map(|origin| self.exported(origin, name, MAX_HOPS)).collect();
        // Fixtures are used by name, without an import.
        found.extend(self.support.get(name).into_iter().flatten());
        found
    }

    fn imported(&self, import: &Import, hops: usize) -> Vec<usize> {
        self.exported(&import.from, import.name.as_deref().unwrap_or("default"), hops)
    }

    /// The items that a module exports under a name.
    fn exported(&self, from: &Origin, name: &str, hops: usize) -> Vec<usize> {
        match from {
            Origin::Foreign | Origin::Starter => Vec::new(),
            Origin::Unknown => self.anywhere(name),
            Origin::Files(files) => {
                let found: BTreeSet<usize> = files.iter().flat_map(|file| self.given(file, name, hops)).collect();
                found.into_iter().collect()
            }
        }
    }

    fn given(&self, file: &str, name: &str, hops: usize) -> Vec<usize> {
        let Some(hops) = hops.checked_sub(1) else { return self.anywhere(name) };
        let Some(number) = self.by_path.get(file) else { return self.top(file, name).to_vec() };
        let names = &self.code.files[*number].names;
        let local = names.exports.get(name).map_or(name, String::as_str);
        let own = self.top(&names.namespace, local);
        if !own.is_empty() {
            return own.to_vec();
        }
        let imports = names.imports.get(local).into_iter().flatten();
        let handed: Vec<usize> = imports.flat_map(|import| self.imported(import, hops)).collect();
        let all = names.wildcard_imports.iter().flat_map(|origin| self.exported(origin, name, hops));
        handed.into_iter().chain(all).collect()
    }

    /// All items with this name that are not members.
    fn anywhere(&self, name: &str) -> Vec<usize> {
        self.namespaces.keys().flat_map(|namespace| self.top(namespace, name)).copied().collect()
    }

    /// The module that an import refers to, also through re-exports: `export * as calc from './calc'`.
    fn module(&self, import: &'c Import, hops: usize) -> Option<&'c Origin> {
        let hops = hops.checked_sub(1)?;
        let Some(name) = import.name.as_deref().filter(|name| *name != "default") else { return Some(&import.from) };
        let Origin::Files(files) = &import.from else { return None };
        files.iter().filter_map(|file| self.by_path.get(file.as_str())).find_map(|file| {
            let names = &self.code.files[*file].names;
            let local = names.exports.get(name).map_or(name, String::as_str);
            names.imports.get(local)?.iter().find_map(|import| self.module(import, hops))
        })
    }

    /// What a name after a dot may refer to; `of` is the name before the dot.
    pub fn member(&self, file: usize, of: Option<&str>, name: &str) -> Vec<Link> {
        let names = &self.code.files[file].names;
        let imports: Vec<&Import> = of.and_then(|of| names.imports.get(of)).into_iter().flatten().collect();
        let modules: Vec<&Origin> = imports.iter().filter_map(|import| self.module(import, MAX_HOPS)).collect();
        let mut links: Vec<Link> =
            modules.iter().flat_map(|origin| self.exported(origin, name, MAX_HOPS)).map(Link::Item).collect();
        if modules.contains(&&Origin::Starter) {
            links.push(Link::Program);
        }
        let is_foreign = !imports.is_empty() && imports.iter().all(|import| import.from == Origin::Foreign);
        if links.is_empty() && !is_foreign {
            links.push(Link::Members(name.to_owned()));
        }
        if imports.is_empty() {
            links.extend(self.whole.iter().flat_map(|namespace| self.top(namespace, name)).copied().map(Link::Item));
        }
        links
    }
}
