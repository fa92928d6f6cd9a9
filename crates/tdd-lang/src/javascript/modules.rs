//! Decides where an import leads: production, test code, or outside the project.

use std::collections::BTreeSet;

use tdd_core::change::Sort;

use crate::language::{Project, Sources, join};

use super::alias::{Alias, aliases};
use super::call::required;
use super::sort::sort;
use super::syntax::Tree;
use super::{ENDINGS, owns};

/// Modules of node and of test libraries, which are never production.
const FOREIGN: &str = " assert assert/strict async_hooks buffer cluster console constants crypto dgram dns domain events fs \
    fs/promises http http2 https inspector net os path path/posix perf_hooks process punycode querystring readline repl \
    stream stream/promises string_decoder sys timers timers/promises tls trace_events tty url util v8 wasi zlib vitest jest \
    @jest/globals chai sinon expect fast-check msw bun:test ";

/// Modules of node through which a test can reach production without importing it.
const REACHING: [&str; 4] = ["child_process", "module", "vm", "worker_threads"];

/// Where an import leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// This file of the project, whether or not it exists.
    Inside(String),
    /// The project itself, by its own name.
    Own,
    /// A module of node or of a test library.
    Foreign,
    /// An installed package.
    Package,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Modules {
    files: Vec<String>,
    name: String,
    /// The names of the repository's other packages.
    siblings: Vec<String>,
    root: String,
    aliases: Vec<Alias>,
}

impl Modules {
    /// For this tree.
    pub fn of(project: &Project, sources: &dyn Sources) -> Self {
        let manifest = sources.read(&join(&project.root, "package.json")).unwrap_or_default();
        let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap_or_default();
        Self {
            files: sources.files().to_vec(),
            name: manifest["name"].as_str().unwrap_or_default().to_owned(),
            siblings: siblings(sources),
            root: project.root.clone(),
            aliases: aliases(&project.root, &sources.read(&join(&project.root, "tsconfig.json")).unwrap_or_default()),
        }
    }

    /// Where an import in this file leads.
    pub fn origin(&self, importer: &str, module: &str) -> Origin {
        let bare = module.strip_prefix("node:").unwrap_or(module);
        let own = |name: &str| !name.is_empty() && (module == name || module.starts_with(&format!("{name}/")));
        if module.starts_with('.') {
            let folder = importer.rsplit_once('/').map_or("", |(folder, _)| folder);
            return normal(folder, module).map_or(Origin::Package, |path| Origin::Inside(self.found(&path)));
        }
        if own(&self.name) || self.siblings.iter().any(|name| own(name)) || module.starts_with('#') {
            return Origin::Own;
        }
        if let Some(path) = self.aliases.iter().find_map(|alias| alias.path(module)) {
            return Origin::Inside(self.found(&path));
        }
        // Common bundler aliases: `@/x` and `~/x` are in `src/`.
        if let Some(below) = module.strip_prefix("@/").or_else(|| module.strip_prefix("~/")) {
            return Origin::Inside(self.found(&join(&self.root, &format!("src/{below}"))));
        }
        let is_foreign = FOREIGN.contains(&format!(" {bare} ")) || module.starts_with("node:");
        if is_foreign || REACHING.contains(&bare) { Origin::Foreign } else { Origin::Package }
    }

    /// Whether an imported value may depend on production code.
    pub fn may_be_production(&self, importer: &str, module: &str) -> bool {
        let bare = module.strip_prefix("node:").unwrap_or(module);
        let shows = module.starts_with("@testing-library/");
        match self.origin(importer, module) {
            Origin::Foreign => REACHING.contains(&bare),
            Origin::Inside(_) | Origin::Own => true,
            Origin::Package => !shows,
        }
    }

    /// The file that a path refers to: its ending may be missing, or be that of the compiled file.
    fn found(&self, path: &str) -> String {
        let there = |path: &str| self.files.binary_search_by(|known| known.as_str().cmp(path)).is_ok();
        let stem = ENDINGS.iter().find_map(|ending| path.strip_suffix(&format!(".{ending}")));
        let tries = std::iter::once(path.to_owned())
            .chain(ENDINGS.iter().map(|ending| format!("{path}.{ending}")))
            .chain(stem.into_iter().flat_map(|stem| ENDINGS.iter().map(move |ending| format!("{stem}.{ending}"))))
            .chain(ENDINGS.iter().map(|ending| format!("{path}/index.{ending}")));
        let found = tries.into_iter().find(|path| there(path));
        // A missing file counts as a source file, whatever its ending will be.
        found.unwrap_or_else(|| if stem.is_some() { path.to_owned() } else { format!("{path}.js") })
    }
}

/// Whether a module starts programs or loads other modules by name.
pub(super) fn is_starter(module: &str) -> bool {
    REACHING.contains(&module.strip_prefix("node:").unwrap_or(module))
}

/// The names of all packages in the repository.
fn siblings(sources: &dyn Sources) -> Vec<String> {
    let manifests = sources.files().iter().filter(|path| path.ends_with("/package.json"));
    let name = |path: &String| {
        let manifest: serde_json::Value = serde_json::from_str(&sources.read(path)?).ok()?;
        manifest["name"].as_str().map(str::to_owned)
    };
    manifests.filter_map(name).collect()
}

/// A relative path resolved from a folder; `None` if it leaves the repository.
pub(super) fn normal(folder: &str, module: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in module.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The names that production defines: functions, classes, members, and object properties.
pub(super) fn definitions(project: &Project, sources: &dyn Sources) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let ours = |path: &&String| owns(path) && project.relative_path(path).is_some() && sort(path) == Sort::Production;
    for path in sources.files().iter().filter(ours) {
        let Some(source) = sources.read(path) else { continue };
        let Some(tree) = Tree::parse(path, &source) else { continue };
        for node in 1..tree.len() {
            let defines = match tree.field(node) {
                Some("name" | "key") => true,
                Some("property") => {
                    let member = tree.parent(node);
                    tree.kind(member).ends_with("field_definition") || tree.field(member) == Some("left")
                }
                _ => tree.kind(node) == "shorthand_property_identifier",
            };
            if defines {
                found.insert(tree.text(node).to_owned());
            }
        }
    }
    found
}

/// The variables and parameters that a file defines, without required modules.
pub(super) fn own_names<'s>(tree: &Tree<'s>) -> BTreeSet<&'s str> {
    let mut found = BTreeSet::new();
    for node in 1..tree.len() {
        let names = match tree.kind(node) {
            "variable_declarator" => {
                let value = tree.child(node, "value");
                tree.child(node, "name").filter(|_| value.is_none_or(|value| required(tree, value).is_none()))
            }
            "formal_parameters" => Some(node),
            "arrow_function" => tree.child(node, "parameter"),
            _ => None,
        };
        found.extend(names.into_iter().flat_map(|names| tree.names(names).collect::<Vec<_>>()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;

    #[test]
    fn an_import_leads_to_production_to_tests_or_elsewhere() {
        let sources = memory(&[
            ("package.json", "{\"name\": \"shop\"}"),
            ("src/cart.ts", ""),
            ("src/price/index.js", ""),
            ("test/helper.js", ""),
            ("tsconfig.json", "{\"compilerOptions\": {\"paths\": {\"@shop/*\": [\"./src/*\"]}}}"),
            ("packages/tax/package.json", "{\"name\": \"@shop/tax\"}"),
        ]);
        let modules = Modules::of(&Project { root: String::new(), description: String::new() }, &sources);
        for (module, expected) in [
            ("../src/cart", "src/cart.ts"),
            ("../src/cart.js", "src/cart.ts"),
            ("../src/price", "src/price/index.js"),
            ("../src/not-yet", "src/not-yet.js"),
            ("./helper.js", "test/helper.js"),
            ("@/cart", "src/cart.ts"),
            ("@shop/cart", "src/cart.ts"),
        ] {
            assert_eq!(modules.origin("test/a.test.js", module), Origin::Inside(expected.to_owned()), "{module}");
        }
        assert_eq!(modules.origin("a.test.js", "shop/cart"), Origin::Own);
        assert_eq!(modules.origin("a.test.js", "@shop/tax"), Origin::Own);
        assert_eq!(modules.origin("a.test.js", "node:fs"), Origin::Foreign);
        assert_eq!(modules.origin("a.test.js", "lodash"), Origin::Package);
        assert!(modules.may_be_production("test/a.test.js", "node:child_process"));
    }
}
