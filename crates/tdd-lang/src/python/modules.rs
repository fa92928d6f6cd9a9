//! Finds out where a module comes from: production, the tests' own code, or outside of the project.

use std::collections::{BTreeMap, BTreeSet};

use tdd_core::change::Sort;

use crate::language::{Project, Sources};

use super::items::{definition, name};
use super::names::Names;
use super::owns;
use super::sort::sort;
use super::syntax::Tree;

/// Modules of the standard library and of common test packages: none of them is production.
const FOREIGN: &str = " __future__ abc argparse array ast asyncio base64 bisect builtins calendar cmath collections \
    colorsys concurrent configparser contextlib contextvars copy csv ctypes dataclasses datetime decimal difflib dis \
    doctest email enum errno faulthandler filecmp fileinput fnmatch fractions ftplib functools gc getpass gettext glob \
    graphlib gzip hashlib heapq hmac html http imaplib importlib inspect io ipaddress itertools json keyword linecache \
    locale logging lzma math mimetypes mmap multiprocessing numbers operator os pathlib pdb pickle pkgutil platform \
    plistlib pprint profile pstats queue random re reprlib resource sched secrets select selectors shelve shlex shutil \
    signal site smtplib socket socketserver sqlite3 ssl stat statistics string stringprep struct subprocess sys \
    sysconfig tarfile tempfile textwrap threading time timeit token tokenize tomllib trace traceback tracemalloc types \
    typing typing_extensions unicodedata unittest urllib uuid venv warnings wave weakref webbrowser wsgiref xml xmlrpc \
    zipfile zipimport zlib zoneinfo pytest _pytest hypothesis mock numpy pandas freezegun responses syrupy faker ";

/// Standard modules through which a test can reach production without importing it.
const REACHING: [&str; 4] = ["subprocess", "runpy", "importlib", "multiprocessing"];

/// The modules of a project.
#[derive(Clone, Debug, Default)]
pub(super) struct Modules {
    /// The sort of a module, by its outermost name.
    tops: BTreeMap<String, Sort>,
    names: Names,
}

impl Modules {
    /// The modules that these files define, whatever folder they are imported from.
    pub fn of(project: &Project, sources: &dyn Sources) -> Self {
        let names = Names::of(project, sources);
        let mut tops = BTreeMap::new();
        for path in sources.files().iter().filter(|path| owns(path)) {
            let Some(below) = project.relative_path(path) else { continue };
            let stem = below.trim_end_matches(".py");
            let parts: Vec<&str> = stem.split('/').filter(|part| *part != "__init__").collect();
            let parts = parts.strip_prefix(&["src"]).unwrap_or(&parts);
            let sort = sort(path, &names);
            let own = if sort == Sort::Test { parts.last() } else { None };
            for top in parts.first().into_iter().chain(own) {
                let known = tops.entry((*top).to_owned()).or_insert(sort);
                if sort == Sort::Production {
                    *known = sort;
                }
            }
        }
        Self { tops, names }
    }

    /// The patterns by which tests are found.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Whether an import of this module may lead to production: the module is not known to be third-party.
    pub fn may_be_production(&self, module: &str) -> bool {
        let top = module.split('.').next().unwrap_or(module);
        top.is_empty() || self.tops.contains_key(top) || REACHING.contains(&top) || !is_foreign(top)
    }

    /// Whether the project has a production module with this name.
    pub fn has(&self, module: &str) -> bool {
        let top = module.split('.').next().unwrap_or(module);
        self.tops.get(top) == Some(&Sort::Production)
    }

    /// Whether a missing module could only be production's: it is not third-party, not a test's, and not in `declared`.
    pub fn is_wanted(&self, module: &str, declared: &str) -> bool {
        let top = module.split('.').next().unwrap_or(module);
        let is_declared = declared.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_' || c == '.'));
        let plain = |name: &str| name.to_lowercase().replace(['-', '.'], "_");
        let is_declared = is_declared.map(plain).any(|word| word == plain(top));
        let is_tests = self.tops.get(top).is_some_and(|sort| *sort == Sort::Test);
        !is_foreign(top) && !is_tests && (!is_declared || self.tops.contains_key(top))
    }
}

/// Whether a module starts programs, or loads other modules by name.
pub(super) fn is_starter(top: &str) -> bool {
    REACHING.contains(&top)
}

fn is_foreign(top: &str) -> bool {
    FOREIGN.contains(&format!(" {top} "))
}

/// The names of production's functions and classes, methods included.
pub(super) fn definitions(project: &Project, sources: &dyn Sources) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let names = Names::of(project, sources);
    let ours =
        |path: &&String| owns(path) && project.relative_path(path).is_some() && sort(path, &names) == Sort::Production;
    for path in sources.files().iter().filter(ours) {
        let Some(source) = sources.read(path) else { continue };
        let Some(tree) = Tree::parse(&source) else { continue };
        let names = (0..tree.len()).map(|node| name(&tree, definition(&tree, node)));
        found.extend(names.filter(|name| !name.is_empty()).map(str::to_owned));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;

    #[test]
    fn a_module_is_productions_the_tests_or_somebody_elses() {
        let sources = memory(&[("src/shop/cart.py", ""), ("calc.py", ""), ("tests/helpers.py", "")]);
        let modules = Modules::of(&Project { root: String::new(), description: String::new() }, &sources);
        for module in ["calc", "shop.cart", "", "helpers", "not_there_yet", "subprocess"] {
            assert!(modules.may_be_production(module), "{module}");
        }
        for module in ["os.path", "pytest", "unittest.mock"] {
            assert!(!modules.may_be_production(module), "{module}");
        }
        assert!(modules.is_wanted("bowling", "dependencies = [\"requests>=2\"]"));
        assert!(modules.is_wanted("shop.order", "name = \"shop\""));
        for module in ["requests", "helpers.more", "json.nothing"] {
            assert!(!modules.is_wanted(module, "dependencies = [\"requests>=2\"]"), "{module}");
        }
    }
}
