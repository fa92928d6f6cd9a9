//! Follows a target's modules through its files, to find the file that contains a test.

use std::collections::BTreeMap;
use std::sync::Arc;

use tdd_core::test_id::TestId;

use crate::item::{Items, ModuleItem, TestItem};
use crate::language::Sources;

use super::items::items;
use super::word;

/// Limit for modules to follow: `#[path]` can make any number of them out of a few files.
const MAX_MODULES: usize = 20_000;

/// Where a test is in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The file that contains it.
    pub path: String,
    /// The name libtest would give its function if it had no cases.
    pub name: String,
    /// The test's function, with the conditions of the modules in other files that lead to it; `None` if a macro
    /// generates it.
    pub item: Option<TestItem>,
}

/// Finds the test `name` of the target with root file `root`. To find several tests of a target, build its
/// [`ModuleTree`] once.
pub fn locate(root: &str, name: &str, sources: &dyn Sources) -> Located {
    ModuleTree::build(root, &mut ParsedFiles::new(sources)).locate(name)
}

/// The files of a repository, each parsed on first use.
pub struct ParsedFiles<'s> {
    sources: &'s dyn Sources,
    parsed: BTreeMap<String, Option<Arc<Items>>>,
    /// Skip parsing files that declare no module in another file: they count as empty.
    modules_only: bool,
}

impl<'s> ParsedFiles<'s> {
    /// No file is parsed yet.
    pub fn new(sources: &'s dyn Sources) -> Self {
        Self { sources, parsed: BTreeMap::new(), modules_only: false }
    }

    /// For finding modules only: files without module declarations are not parsed.
    pub fn for_modules(sources: &'s dyn Sources) -> Self {
        Self { modules_only: true, ..Self::new(sources) }
    }

    /// The files of another tree; parsed files that are the same there are reused.
    pub fn in_tree(self, sources: &dyn Sources, is_same: impl Fn(&str) -> bool) -> ParsedFiles<'_> {
        let parsed = self.parsed.into_iter().filter(|(path, _)| is_same(path)).collect();
        ParsedFiles { sources, parsed, modules_only: self.modules_only }
    }

    /// The underlying files.
    pub fn sources(&self) -> &'s dyn Sources {
        self.sources
    }

    /// The items of a file; `None` if there is no such file.
    pub fn items(&mut self, path: &str) -> Option<Arc<Items>> {
        if let Some(known) = self.parsed.get(path) {
            return known.clone();
        }
        let parse = |source: String| {
            let skipped = self.modules_only && !may_declare_modules(&source);
            Arc::new(if skipped { Items::default() } else { items(path, &source) })
        };
        let read = self.sources.read(path).map(parse);
        self.parsed.insert(path.to_owned(), read.clone());
        read
    }
}

/// The modules and tests of one target.
#[derive(Clone, Debug)]
pub struct ModuleTree {
    root: String,
    /// The file of each module that has one, by module path; the root's path is empty.
    modules: BTreeMap<String, String>,
    /// Each test's location, by its libtest name.
    tests: BTreeMap<String, ModuleFile>,
    mounts: Vec<Mount>,
}

/// A file's place in a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// The file.
    pub path: String,
    /// The path of the file's module; empty for the root.
    pub module: String,
    /// It is reached only through test modules.
    pub test_only: bool,
    /// The conditions of the modules that lead to it.
    pub cfg: Arc<[String]>,
}

#[derive(Clone, Debug)]
struct ModuleFile {
    path: String,
    items: Arc<Items>,
    /// The index of the test in `items`.
    at: usize,
    /// The conditions around its file.
    cfg: Arc<[String]>,
}

/// A file of a target that has not been read yet.
struct Visit {
    path: String,
    /// The path of its module.
    module: String,
    home: Home,
    test_only: bool,
    cfg: Arc<[String]>,
    /// The chain of files through which it was reached.
    through: Option<Arc<Through>>,
}

struct Through {
    path: String,
    outer: Option<Arc<Through>>,
}

/// Where a file's modules are found.
#[derive(Clone)]
struct Home {
    /// The folder of the file, ending in `/` unless it is the repository's root.
    folder: String,
    /// The subfolder named after the file; `None` for a root, a `mod.rs`, or a file reached through `#[path]`.
    own: Option<String>,
}

impl ModuleTree {
    /// Reads the root file and all modules it declares. A module without a file is left out.
    pub fn build(root: &str, files: &mut ParsedFiles<'_>) -> Self {
        let (modules, tests, mounts) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        let mut tree = Self { root: root.to_owned(), modules, tests, mounts };
        let home = Home { folder: folder_of(root).to_owned(), own: None };
        let (path, module) = (root.to_owned(), String::new());
        let mut waiting = vec![Visit { path, module, home, test_only: false, cfg: Arc::default(), through: None }];
        let mut followed = 0;
        while let Some(visit) = waiting.pop() {
            followed += 1;
            if followed <= MAX_MODULES && !visit.is_in_a_circle() {
                waiting.extend(tree.add(&visit, files));
            }
        }
        tree
    }

    /// The test that libtest calls `name`.
    ///
    /// A case of a function (`adds::case_1`) gets that function as its item. A test that a macro generates is located
    /// in the file of the innermost module that has one.
    pub fn locate(&self, name: &str) -> Located {
        let outwards = || std::iter::successors(Some(name), |name| name.rsplit_once("::").map(|(outer, _)| outer));
        if let Some((name, found)) = outwards().find_map(|name| self.tests.get_key_value(name)) {
            return found.located(name);
        }
        let path = outwards().skip(1).find_map(|module| self.modules.get(module)).unwrap_or(&self.root);
        Located { path: path.clone(), name: name.to_owned(), item: None }
    }

    /// The files of the target.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.modules.values().map(String::as_str)
    }

    /// The files that exist only for tests, because a `#[cfg(test)] mod …;` leads to them.
    pub fn test_files(&self) -> impl Iterator<Item = &str> {
        self.mounts.iter().filter(|mount| mount.test_only).map(|mount| mount.path.as_str())
    }

    /// Where each file is in the target; a file can be in several places.
    pub fn mounts(&self) -> &[Mount] {
        &self.mounts
    }

    /// The ids of the tests visible in its files, sorted. Leaves out tests that macros generate, single cases of a
    /// function, and tests that are never built.
    pub fn ids(&self) -> Vec<TestId> {
        let built = self.tests.iter().filter(|(_, found)| found.is_ever_built());
        let mut ids: Vec<_> = built.map(|(name, found)| found.id(name)).collect();
        ids.sort();
        ids.dedup();
        ids
    }

    /// Records a file; returns the files of its modules.
    fn add(&mut self, visit: &Visit, files: &mut ParsedFiles<'_>) -> Vec<Visit> {
        let Some(items) = files.items(&visit.path) else { return Vec::new() };
        self.modules.entry(visit.module.clone()).or_insert_with(|| visit.path.clone());
        self.mounts.push(Mount {
            path: visit.path.clone(),
            module: visit.module.clone(),
            test_only: visit.test_only,
            cfg: Arc::clone(&visit.cfg),
        });
        for (at, test) in items.tests.iter().enumerate() {
            let name = below(&visit.module, &test.name);
            let (path, items, cfg) = (visit.path.clone(), Arc::clone(&items), Arc::clone(&visit.cfg));
            self.tests.entry(name).or_insert(ModuleFile { path, items, at, cfg });
        }
        // Reversed, because the last one pushed is read first.
        items.modules.iter().rev().flat_map(|module| visit.next(module)).collect()
    }
}

impl ModuleFile {
    fn id(&self, name: &str) -> TestId {
        let slug = self.items.tests.get(self.at).and_then(|item| item.annotation.as_deref());
        slug.and_then(|slug| TestId::annotation(slug).ok()).unwrap_or_else(|| TestId::native(&self.path, name))
    }

    /// Whether it has no condition that is never true, such as that of a skipped test.
    fn is_ever_built(&self) -> bool {
        let own = self.items.tests.get(self.at).map_or(&[][..], |item| item.cfg.as_slice());
        !self.cfg.iter().chain(own).any(|condition| condition == "any()")
    }

    fn located(&self, name: &str) -> Located {
        let mut item = self.items.tests.get(self.at).cloned();
        if let Some(item) = &mut item {
            item.cfg = self.cfg.iter().chain(&item.cfg).cloned().collect();
        }
        Located { path: self.path.clone(), name: name.to_owned(), item }
    }
}

impl Visit {
    fn next(&self, module: &ModuleItem) -> Vec<Self> {
        let through = Arc::new(Through { path: self.path.clone(), outer: self.through.clone() });
        let cfg: Arc<[String]> = self.cfg.iter().chain(&module.cfg).cloned().collect();
        let visit = |(path, home)| Self {
            path,
            module: below(&self.module, &module.name),
            home,
            test_only: self.test_only || module.test_only,
            cfg: Arc::clone(&cfg),
            through: Some(Arc::clone(&through)),
        };
        self.home.candidates(module).into_iter().map(visit).collect()
    }

    fn is_in_a_circle(&self) -> bool {
        let outwards = std::iter::successors(self.through.as_deref(), |through| through.outer.as_deref());
        outwards.take(MAX_MODULES).any(|through| through.path == self.path)
    }
}

impl Drop for Through {
    /// Drops a long chain link by link instead of recursively.
    fn drop(&mut self) {
        let mut outer = self.outer.take();
        while let Some(mut link) = outer.and_then(Arc::into_inner) {
            outer = link.outer.take();
        }
    }
}

impl Home {
    /// The files that a module may be in, each with where its own modules are found.
    fn candidates(&self, module: &ModuleItem) -> Vec<(String, Self)> {
        if let Some(path) = &module.path {
            let base = if module.folder.is_empty() { self.folder.clone() } else { self.base(module) };
            let path = normal(&format!("{base}{path}"));
            return path.map(|path| (path.clone(), Self::of(&path, None))).into_iter().collect();
        }
        let base = self.base(module);
        let name = word::bare(module.name.rsplit("::").next().unwrap_or_default());
        let file = normal(&format!("{base}{name}.rs")).map(|path| (path.clone(), Self::of(&path, Some(name))));
        let folder = normal(&format!("{base}{name}/mod.rs")).map(|path| (path.clone(), Self::of(&path, None)));
        file.into_iter().chain(folder).collect()
    }

    fn of(path: &str, own: Option<&str>) -> Self {
        Self { folder: folder_of(path).to_owned(), own: own.map(str::to_owned) }
    }

    /// The folder to search for a module without `#[path]`.
    fn base(&self, module: &ModuleItem) -> String {
        match &self.own {
            Some(own) if !module.folder_from_path => format!("{}{own}/{}", self.folder, module.folder),
            _ => format!("{}{}", self.folder, module.folder),
        }
    }
}

/// Whether a text may contain `mod a;`. Modules with a body and line comments do not count.
pub(super) fn may_declare_modules(source: &str) -> bool {
    let in_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '#');
    source.match_indices("mod").any(|(at, word)| {
        let after = &source[at + word.len()..];
        let is_word = !source[..at].ends_with(in_name) && !after.starts_with(in_name);
        is_word
            && !after.trim_start().trim_start_matches(in_name).trim_start().starts_with('{')
            && !is_in_comment(&source[..at])
    })
}

/// Whether the text ends inside a line comment, judging by its last line.
fn is_in_comment(text: &str) -> bool {
    let line = text.rsplit('\n').next().unwrap_or_default();
    line.trim_start().starts_with("//") && !line.contains("*/")
}

/// The path of a name inside a module.
pub(super) fn below(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") }
}

/// The folder of a file, with a trailing `/`.
pub(super) fn folder_of(path: &str) -> &str {
    path.rfind('/').map_or("", |slash| &path[..=slash])
}

/// The path without `.` and `..`; `None` if it leaves the repository.
pub(super) fn normal(path: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            _ => parts.push(part),
        }
    }
    (!path.starts_with('/')).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;

    const TEST: &str = "#[cfg(test)] mod tests { #[test] fn x() {} }";

    /// Checks where a test is found; `?` means without a function.
    fn check(files: &[(&str, &str)], root: &str, name: &str, expected: &str) {
        let located = locate(root, name, &memory(files));
        let mark = if located.item.is_none() { "?" } else { "" };
        assert_eq!(format!("{}{mark}", located.path), expected, "{root} {name}");
    }

    #[test]
    fn a_test_of_the_root_stands_in_the_root() {
        for root in ["src/lib.rs", "src/main.rs", "tests/calc.rs", "lib.rs", "crates/a/src/lib.rs"] {
            check(&[(root, TEST)], root, "tests::x", root);
        }
    }

    #[test]
    fn a_module_is_a_file_of_its_name_or_a_folder_with_mod_rs() {
        check(&[("src/lib.rs", "mod a;"), ("src/a.rs", TEST)], "src/lib.rs", "a::tests::x", "src/a.rs");
        check(&[("src/lib.rs", "mod a;"), ("src/a/mod.rs", TEST)], "src/lib.rs", "a::tests::x", "src/a/mod.rs");
        check(
            &[("tests/s/main.rs", "mod a;"), ("tests/s/a.rs", TEST)],
            "tests/s/main.rs",
            "a::tests::x",
            "tests/s/a.rs",
        );
        check(
            &[("tests/c.rs", "mod common;"), ("tests/common/mod.rs", TEST)],
            "tests/c.rs",
            "common::tests::x",
            "tests/common/mod.rs",
        );
        check(&[("src/lib.rs", "mod r#type;"), ("src/type.rs", TEST)], "src/lib.rs", "r#type::tests::x", "src/type.rs");
    }

    #[test]
    fn modules_of_modules_are_below_a_folder_of_their_name() {
        let through_file = [("src/lib.rs", "mod a;"), ("src/a.rs", "mod b;"), ("src/a/b.rs", TEST), ("src/b.rs", TEST)];
        check(&through_file, "src/lib.rs", "a::b::tests::x", "src/a/b.rs");
        let through_folder = [("src/lib.rs", "mod a;"), ("src/a/mod.rs", "mod b;"), ("src/a/b.rs", TEST)];
        check(&through_folder, "src/lib.rs", "a::b::tests::x", "src/a/b.rs");
        let deep = [("src/lib.rs", "mod a;"), ("src/a.rs", "mod b;"), ("src/a/b.rs", "mod c;"), ("src/a/b/c.rs", TEST)];
        check(&deep, "src/lib.rs", "a::b::c::tests::x", "src/a/b/c.rs");
    }

    #[test]
    fn an_inline_module_is_a_folder() {
        let files = [
            ("src/lib.rs", "mod a; mod i { mod d; }"),
            ("src/i/d.rs", TEST),
            ("src/a.rs", "mod i { pub mod d; #[path = \"p.rs\"] mod e; }"),
            ("src/a/i/d.rs", TEST),
            ("src/a/i/p.rs", TEST),
        ];
        check(&files, "src/lib.rs", "i::d::tests::x", "src/i/d.rs");
        check(&files, "src/lib.rs", "a::i::d::tests::x", "src/a/i/d.rs");
        check(&files, "src/lib.rs", "a::i::e::tests::x", "src/a/i/p.rs");
    }

    #[test]
    fn a_path_attribute_counts_from_the_folder_of_the_file() {
        let files = [
            ("src/lib.rs", "mod a;"),
            ("src/a.rs", "#[path = \"../other/b.rs\"] mod b; #[path = \"f\"] mod i { mod d; }"),
            ("other/b.rs", "mod c; #[cfg(test)] mod tests { #[test] fn x() {} }"),
            ("other/c.rs", TEST),
            ("src/f/d.rs", TEST),
        ];
        check(&files, "src/lib.rs", "a::b::tests::x", "other/b.rs");
        check(&files, "src/lib.rs", "a::b::c::tests::x", "other/c.rs");
        check(&files, "src/lib.rs", "a::i::d::tests::x", "src/f/d.rs");
    }

    #[test]
    fn of_several_files_under_conditions_the_one_with_the_test_is_taken() {
        let files = [
            (
                "src/lib.rs",
                "#[cfg(unix)] mod a; #[cfg(windows)] #[path = \"w.rs\"] mod a; #[cfg_attr(x, path = \"y.rs\")] mod b;",
            ),
            ("src/a.rs", ""),
            ("src/w.rs", TEST),
            ("src/b.rs", TEST),
        ];
        check(&files, "src/lib.rs", "a::tests::x", "src/w.rs");
        check(&files, "src/lib.rs", "b::tests::x", "src/b.rs");
    }

    #[test]
    fn a_test_that_a_macro_makes_is_in_the_innermost_file() {
        let files = [("src/lib.rs", "mod a; make_tests!();"), ("src/a.rs", "mod tests { make_tests!(); }")];
        check(&files, "src/lib.rs", "a::tests::made", "src/a.rs?");
        check(&files, "src/lib.rs", "made", "src/lib.rs?");
        check(&files, "src/lib.rs", "nowhere::made", "src/lib.rs?");
        check(&[], "src/lib.rs", "made", "src/lib.rs?");
    }

    #[test]
    fn a_case_belongs_to_its_function() {
        let files = [(
            "tests/a.rs",
            "#[rstest] #[case(1)] fn adds(#[case] x: u8) {} mod m { #[test_case(1; \"one\")] fn y(x: u8) {} }",
        )];
        for (name, function) in [("adds::case_1", "adds"), ("m::y::one", "m::y"), ("adds::case_1::x_2", "adds")] {
            let item = locate("tests/a.rs", name, &memory(&files)).item.unwrap();
            assert_eq!(item.name, function);
        }
    }

    #[test]
    fn the_conditions_around_a_file_are_those_of_its_tests() {
        let files = [
            ("src/lib.rs", "#[cfg(unix)] mod i { #[cfg(test)] mod a; }"),
            ("src/i/a.rs", "#[cfg(feature = \"f\")] mod b;"),
            ("src/i/a/b.rs", "#[cfg(windows)] #[test] fn x() {}"),
        ];
        let item = locate("src/lib.rs", "i::a::b::x", &memory(&files)).item.unwrap();
        assert_eq!(item.cfg, ["unix", "feature = \"f\"", "windows"]);
    }

    #[test]
    fn files_that_include_each_other_come_to_an_end() {
        let circle = [
            ("src/lib.rs", "#[path = \"a.rs\"] mod a;"),
            ("src/a.rs", "#[path = \"lib.rs\"] mod b; #[path = \"a.rs\"] mod c;"),
        ];
        check(&circle, "src/lib.rs", "a::b::a::x", "src/a.rs?");
        let mut doubling: Vec<(String, String)> = (0..40)
            .map(|n| {
                (
                    format!("src/m{n}.rs"),
                    format!("#[path = \"m{}.rs\"] mod a; #[path = \"m{}.rs\"] mod b;", n + 1, n + 1),
                )
            })
            .collect();
        doubling.push(("src/lib.rs".to_owned(), "mod m0;".to_owned()));
        let files: Vec<_> = doubling.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        check(&files, "src/lib.rs", "nowhere", "src/lib.rs?");
    }

    #[test]
    fn a_path_that_leads_out_of_the_repository_is_not_followed() {
        for path in ["../../etc/a.rs", "/etc/a.rs"] {
            let root = format!("#[path = \"{path}\"] mod a;");
            check(&[("src/lib.rs", &root)], "src/lib.rs", "a::x", "src/lib.rs?");
        }
    }

    #[test]
    fn files_that_only_tests_lead_to_are_known() {
        let files = [
            ("src/lib.rs", "#[cfg(test)] mod tests; mod a;"),
            ("src/tests.rs", "mod deep;"),
            ("src/tests/deep.rs", ""),
            ("src/a.rs", ""),
        ];
        let sources = memory(&files);
        let tree = ModuleTree::build("src/lib.rs", &mut ParsedFiles::new(&sources));
        assert_eq!(tree.test_files().collect::<Vec<_>>(), ["src/tests.rs", "src/tests/deep.rs"]);
        assert_eq!(tree.files().collect::<Vec<_>>(), ["src/lib.rs", "src/a.rs", "src/tests.rs", "src/tests/deep.rs"]);
    }

    #[test]
    fn only_a_text_that_may_declare_a_module_is_parsed_for_its_modules() {
        for (source, expected) in [
            ("mod a;", true),
            ("pub mod r#a ;", true),
            ("mod /* c */ a;", true),
            ("cfg_if! { if x { mod\na; } }", true),
            ("mod $name;", true),
            ("#[cfg(test)] mod tests { fn modulo() {} }", false),
            ("fn model() { a.mod_x() }", false),
            ("/// The mod of a.", false),
            ("/*\n// */ mod a;", true),
            ("", false),
        ] {
            assert_eq!(may_declare_modules(source), expected, "{source}");
        }
    }

    #[test]
    fn the_ids_of_a_target_are_those_that_a_run_gives() {
        let files = [
            ("src/lib.rs", "mod a; #[test] fn z() {}\n#[cfg(any())]\n#[ignore = \"TODO: x\"]\n#[test] fn aside() {}"),
            ("src/a.rs", "mod tests { #[test] fn x() {}\n\n\n\n// @tdd-test-id: slug\n#[test] fn y() {} }"),
        ];
        let sources = memory(&files);
        let ids = ModuleTree::build("src/lib.rs", &mut ParsedFiles::new(&sources)).ids();
        let ids: Vec<_> = ids.iter().map(TestId::as_str).collect();
        assert_eq!(ids, ["slug", "src/a.rs::a::tests::x", "src/lib.rs::z"]);
    }
}
