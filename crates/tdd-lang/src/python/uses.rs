//! The names that Python code uses, what they refer to through imports, and what is used implicitly.

use std::ops::Range;

use crate::analysis::compare::Piece;
use crate::code::{ReachedBy, Role};
use crate::language::{Project, Sources};
use crate::lookup::{FileNames, Import, Origin};
use crate::syntax::FlatTree;
use crate::uses::{Use, UseSyntax, route_of};

use super::items::{definition, name};
use super::modules::{Modules, is_starter};
use super::owns;
use super::syntax::Tree;

/// How to find the uses of names in Python.
pub(super) const USE_SYNTAX: UseSyntax = UseSyntax { used, binds, text, route };

/// Functions that look up a member by its name.
const FINDING: [&str; 5] = ["getattr", "setattr", "hasattr", "attrgetter", "methodcaller"];

/// Decorators that only wrap or annotate what they decorate.
const WRAPPING: [&str; 22] = [
    "abstractmethod",
    "asynccontextmanager",
    "cache",
    "cached_property",
    "classmethod",
    "contextmanager",
    "dataclass",
    "deleter",
    "final",
    "getter",
    "lru_cache",
    "no_type_check",
    "overload",
    "override",
    "property",
    "runtime_checkable",
    "setter",
    "singledispatch",
    "singledispatchmethod",
    "staticmethod",
    "total_ordering",
    "wraps",
];

/// Base classes that call no members of derived classes, except special methods.
const NON_CALLING_BASES: [&str; 20] = [
    "ABC",
    "Enum",
    "Exception",
    "Flag",
    "Generic",
    "IntEnum",
    "IntFlag",
    "NamedTuple",
    "Protocol",
    "StrEnum",
    "TypedDict",
    "dict",
    "float",
    "frozenset",
    "int",
    "list",
    "object",
    "set",
    "str",
    "tuple",
];

fn used(tree: &FlatTree<'_>, node: usize) -> Option<Use> {
    if tree.kind(node) == "call" {
        return found_by_name(tree, node);
    }
    let (parent, name) = (tree.parent(node), tree.text(node).to_owned());
    // A type may be written as a string.
    if tree.kind(node) == "string" && tree.kind(parent) == "type" {
        return text(tree, node).map(|name| Use::Name(name.to_owned()));
    }
    if tree.kind(node) != "identifier" {
        return None;
    }
    match (tree.kind(parent), tree.field(node)) {
        ("attribute", Some("attribute")) => {
            let of = tree.child(parent, "object").map(|of| tree.text(of));
            let is_plain = |of: &&str| of.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
            Some(Use::Member(of.filter(is_plain).map(str::to_owned), name))
        }
        ("keyword_argument" | "function_definition" | "class_definition", Some("name")) => None,
        _ => Some(Use::Name(name)),
    }
}

/// A member that is looked up by name: `getattr(self, "visit_" + kind)`.
fn found_by_name(tree: &FlatTree<'_>, call: usize) -> Option<Use> {
    let function = tree.text(tree.child(call, "function")?);
    let is_finding = FINDING.contains(&function.rsplit('.').next().unwrap_or(function));
    let is_vars = function == "globals" || function == "vars" || function == "locals";
    let list = tree.child(call, "arguments").filter(|_| is_finding || is_vars)?;
    let texts: Vec<&str> = tree.subtree(list).filter_map(|node| text(tree, node)).collect();
    Some(match texts.first() {
        Some(first)
            if tree.subtree(list).any(|node| matches!(tree.kind(node), "binary_operator" | "interpolation")) =>
        {
            Use::Prefix((*first).to_owned())
        }
        Some(first) => Use::Member(None, (*first).to_owned()),
        None => Use::Computed,
    })
}

/// The function or comprehension to which a name is local, because it is assigned there.
fn binds(tree: &FlatTree<'_>, node: usize) -> Option<usize> {
    if tree.kind(node) != "identifier" {
        return None;
    }
    let (parent, field) = (tree.parent(node), tree.field(node));
    let is_given = match tree.kind(parent) {
        "parameters"
        | "lambda_parameters"
        | "list_splat_pattern"
        | "dictionary_splat_pattern"
        | "pattern_list"
        | "tuple_pattern"
        | "as_pattern_target" => true,
        "typed_parameter" => field.is_none(),
        "default_parameter" | "typed_default_parameter" | "named_expression" => field == Some("name"),
        "assignment" | "for_statement" | "for_in_clause" => field == Some("left"),
        _ => false,
    };
    let is_fixture = matches!(tree.kind(parent), "parameters" | "typed_parameter");
    let is_scope = |outer: &usize| match tree.kind(*outer) {
        "function_definition" | "lambda" => true,
        "list_comprehension" | "dictionary_comprehension" | "set_comprehension" | "generator_expression" => {
            tree.ancestors(node).any(|around| tree.kind(around) == "for_in_clause" && tree.parent(around) == *outer)
        }
        _ => false,
    };
    let scope = tree.ancestors(node).find(is_scope).filter(|_| is_given)?;
    let is_declared = |inner: usize| {
        let outside = matches!(tree.kind(inner), "global_statement" | "nonlocal_statement");
        outside && tree.words(inner).any(|word| word == tree.text(node))
    };
    if tree.subtree(scope).any(is_declared) {
        return None;
    }
    // A parameter of a test or a fixture refers to the fixture with that name.
    let takes = is_fixture && tree.kind(scope) == "function_definition" && asks_for_fixtures(tree, scope);
    (!takes).then_some(scope)
}

fn asks_for_fixtures(tree: &FlatTree<'_>, function: usize) -> bool {
    let is_test = tree.child(function, "name").is_some_and(|name| tree.text(name).starts_with("test"));
    let statement = tree.parent(function);
    let is_fixture = tree.kind(statement) == "decorated_definition"
        && tree
            .children(statement)
            .any(|child| tree.kind(child) == "decorator" && tree.text(child).contains("fixture"));
    is_test || is_fixture
}

fn text<'a>(tree: &FlatTree<'a>, node: usize) -> Option<&'a str> {
    match tree.kind(node) {
        "string_content" => Some(tree.text(node)),
        "string" if tree.is_leaf(node) => {
            let quoted = tree.text(node).trim_start_matches(|c: char| c.is_alphabetic());
            Some(quoted.trim_matches(['"', '\'']))
        }
        _ => None,
    }
}

fn route<'a>(tree: &FlatTree<'a>, node: usize) -> Option<&'a str> {
    route_of(tree, node, ("call", "attribute"), text)
}

/// The role of an item.
pub(super) fn role(tree: &Tree<'_>, names: &FileNames, piece: &Piece, nodes: &Range<usize>) -> Role {
    let full = piece.label.split('`').nth(1).unwrap_or_default();
    let owner = full.strip_suffix(&piece.name).and_then(|outer| outer.strip_suffix('.'));
    let owner = owner.map(|outer| outer.rsplit('.').next().unwrap_or(outer).to_owned());
    let is_dunder = piece.name.starts_with("__") && piece.name.ends_with("__");
    let class = || tree.ancestors(nodes.start).find(|outer| tree.kind(*outer) == "class_definition");
    let around = || class().map(|class| name(tree, class).to_owned());
    let owner = owner.or_else(|| if piece.name.is_empty() { around() } else { None });
    let mut role = Role { names: assigned(tree, piece, nodes), owner, ..Role::plain(&piece.name) };
    role.is_idle = is_guard(tree, nodes) || is_dunder && role.owner.is_none() && !piece.label.starts_with("def ");
    let is_function = piece.label.starts_with("def ");
    if role.owner.is_some() && (!is_function || is_dunder || has_calling_base(tree, names, nodes.start)) {
        role.reached_by = ReachedBy::Owner;
    } else if is_dunder || role.is_idle {
        role.reached_by = ReachedBy::File;
    }
    register(tree, nodes, &mut role);
    role
}

/// All names that an assignment binds.
fn assigned(tree: &Tree<'_>, piece: &Piece, nodes: &Range<usize>) -> Vec<String> {
    if piece.label.starts_with("def ") || piece.label.starts_with("class ") || piece.name.is_empty() {
        return vec![piece.name.clone()];
    }
    let targets =
        nodes.clone().filter(|node| tree.kind(*node) == "assignment").filter_map(|node| tree.child(node, "left"));
    let names = targets.flat_map(|left| tree.names(left).collect::<Vec<_>>());
    names.map(str::to_owned).chain([piece.name.clone()]).collect()
}

/// Whether an item is a guard: `if __name__ == "__main__":`.
fn is_guard(tree: &Tree<'_>, nodes: &Range<usize>) -> bool {
    let condition = Some(nodes.start).filter(|node| tree.kind(*node) == "if_statement");
    condition.and_then(|node| tree.child(node, "condition")).is_some_and(|it| tree.text(it).contains("__name__"))
}

/// Whether the class around a member has a base that may call any of its members.
fn has_calling_base(tree: &Tree<'_>, names: &FileNames, member: usize) -> bool {
    let class = tree.ancestors(member).find(|outer| tree.kind(*outer) == "class_definition");
    let bases = class.and_then(|class| tree.child(class, "superclasses"));
    bases.is_some_and(|bases| tree.parts(bases).any(|base| calls_members(tree, names, base)))
}

fn calls_members(tree: &Tree<'_>, names: &FileNames, base: usize) -> bool {
    let text = tree.text(base).split('[').next().unwrap_or_default();
    let (root, last) = (text.split('.').next().unwrap_or(text), text.rsplit('.').next().unwrap_or(text));
    let is_ours = |import: &Import| matches!(import.from, Origin::Files(_) | Origin::Unknown);
    let imported = names.imports.get(root);
    // `asyncio.Protocol` calls the members that `typing.Protocol` only describes.
    let is_plain = root == last || matches!(root, "abc" | "builtins" | "enum" | "typing" | "typing_extensions");
    tree.kind(base) != "keyword_argument"
        && !(is_plain && NON_CALLING_BASES.contains(&last))
        && !last.ends_with("Error")
        && imported.is_some_and(|imports| !imports.iter().any(is_ours))
}

/// Records that a decorator may register what it decorates, so that the item is used without being named.
fn register(tree: &Tree<'_>, nodes: &Range<usize>, role: &mut Role) {
    let statement = nodes.start;
    if tree.kind(statement) != "decorated_definition" {
        return;
    }
    for decorator in tree.children(statement).filter(|child| tree.kind(*child) == "decorator") {
        let Some(expression) = tree.parts(decorator).next() else { continue };
        let function = tree.child(expression, "function").unwrap_or(expression);
        let text = tree.text(function);
        let (root, last) = (text.split('.').next().unwrap_or(text), text.rsplit('.').next().unwrap_or(text));
        let is_bare = tree.kind(expression) == "identifier";
        if WRAPPING.contains(&last) || is_bare && !registers(tree, root) {
            continue;
        }
        let inside = decorator..tree.subtree_end(decorator);
        role.route = inside.clone().find_map(|node| route(tree, node)).map(str::to_owned);
        role.reached_by = if role.owner.is_some() { ReachedBy::Owner } else { ReachedBy::File };
    }
}

/// Whether a decorator of this file registers what it decorates: `REGISTRY[name] = function`.
fn registers(tree: &Tree<'_>, wanted: &str) -> bool {
    const KEEPING: [&str; 6] = ["append", "add", "register", "setdefault", "update", "insert"];
    let here = tree.children(0).map(|top| definition(tree, top)).find(|item| name(tree, *item) == wanted);
    here.is_some_and(|function| {
        tree.subtree(function).any(|node| {
            let puts = tree.kind(node) == "subscript" && tree.field(node) == Some("left");
            puts || tree.field(node) == Some("attribute") && KEEPING.contains(&tree.text(node))
        })
    })
}

/// What the names of a file refer to.
pub(super) fn file_names(tree: &Tree<'_>, path: &str, modules: &Modules, files: &ModuleFiles) -> FileNames {
    let mut names = FileNames { namespace: path.to_owned(), programs: files.programs(path), ..FileNames::default() };
    for statement in (0..tree.len()).filter(|node| tree.kind(*node).starts_with("import_")) {
        let from = tree.child(statement, "module_name").map(|from| tree.text(from).replace(' ', ""));
        for part in tree.parts(statement).filter(|part| tree.field(*part) != Some("module_name")) {
            let plain = tree.child(part, "name").unwrap_or(part);
            let alias = tree.child(part, "alias").map(|alias| tree.text(alias));
            let (text, kind) = (tree.text(plain), tree.kind(part));
            match &from {
                Some(from) if kind == "wildcard_import" => {
                    names.wildcard_imports.push(files.origin(path, from, modules));
                }
                Some(from) => {
                    let dot = if from.ends_with('.') { "" } else { "." };
                    let below = files.origin(path, &format!("{from}{dot}{text}"), modules);
                    let import = Import { from: files.origin(path, from, modules), name: Some(text.to_owned()) };
                    let entry = names.imports.entry(alias.unwrap_or(text).to_owned()).or_default();
                    if matches!(below, Origin::Files(_)) {
                        entry.push(Import { from: below, name: None });
                    }
                    entry.push(import);
                }
                None => {
                    let import = Import { from: files.origin(path, text, modules), name: None };
                    let local = alias.unwrap_or(text);
                    names.imports.entry(local.to_owned()).or_default().push(import.clone());
                    let top = local.split('.').next().unwrap_or(local);
                    if top != local {
                        let import = Import { from: files.origin(path, top, modules), name: None };
                        names.imports.entry(top.to_owned()).or_default().push(import);
                    }
                }
            }
        }
    }
    names
}

/// The files of a project by module name.
pub(super) struct ModuleFiles {
    /// Each file with the parts of its module name; a package is named by its folder.
    files: Vec<(String, Vec<String>)>,
}

impl ModuleFiles {
    pub fn of(project: &Project, sources: &dyn Sources) -> Self {
        let ours = sources.files().iter().filter(|path| owns(path));
        let parts = |path: &String| {
            let stem = project.relative_path(path)?.trim_end_matches(".py");
            let parts = stem.split('/').filter(|part| *part != "__init__").map(str::to_owned).collect();
            Some((path.clone(), parts))
        };
        Self { files: ours.filter_map(parts).collect() }
    }

    /// Where a module comes from that a file imports.
    fn origin(&self, importer: &str, module: &str, modules: &Modules) -> Origin {
        let dots = module.chars().take_while(|c| *c == '.').count();
        let wanted: Vec<&str> = module[dots..].split('.').filter(|part| !part.is_empty()).collect();
        let found = if dots > 0 { self.beside(importer, dots, &wanted) } else { self.ending(&wanted) };
        if !found.is_empty() {
            return Origin::Files(found);
        }
        match wanted.first() {
            Some(top) if is_starter(top) => Origin::Starter,
            Some(top) if dots == 0 && !modules.has(top) => Origin::Foreign,
            _ => Origin::Unknown,
        }
    }

    fn beside(&self, importer: &str, dots: usize, wanted: &[&str]) -> Vec<String> {
        let Some((_, own)) = self.files.iter().find(|(path, _)| path == importer) else { return Vec::new() };
        let up = if importer.ends_with("__init__.py") { dots - 1 } else { dots };
        let folder = own.get(..own.len().saturating_sub(up)).unwrap_or_default();
        let full: Vec<&str> = folder.iter().map(String::as_str).chain(wanted.iter().copied()).collect();
        self.files.iter().filter(|(_, parts)| *parts == full).map(|(path, _)| path.clone()).collect()
    }

    /// The files of a module, which may be imported from any folder; those nearest to the root win.
    fn ending(&self, wanted: &[&str]) -> Vec<String> {
        let is_it =
            |parts: &[String]| parts.ends_with(&wanted.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>());
        let found: Vec<_> = self.files.iter().filter(|(_, parts)| !wanted.is_empty() && is_it(parts)).collect();
        let depth = found.iter().map(|(_, parts)| parts.len() - usize::from(parts[0] == "src")).min();
        let nearest =
            found.into_iter().filter(|(_, parts)| Some(parts.len() - usize::from(parts[0] == "src")) == depth);
        nearest.map(|(path, _)| path.clone()).collect()
    }

    /// The words by which a file is started: its name, its module.
    fn programs(&self, path: &str) -> Vec<String> {
        let parts =
            self.files.iter().find(|(known, _)| known == path).map(|(_, parts)| parts.clone()).unwrap_or_default();
        let parts = parts.strip_prefix(&["src".to_owned()]).unwrap_or(&parts).to_vec();
        let module = parts.strip_suffix(&["__main__".to_owned()]).unwrap_or(&parts).join(".");
        let file = path.rsplit('/').next().unwrap_or(path).to_owned();
        let file = Some(file).filter(|file| !file.starts_with("__"));
        file.into_iter().chain([module]).filter(|word| !word.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture;
    use crate::python::signs::with_finder;

    /// The production items that no test reaches.
    fn left(files: &[(&str, &str)]) -> Vec<String> {
        fixture::left(files, |project, sources, look| with_finder(project, sources, look))
    }

    /// Checks which items of a module its test does not reach.
    fn check(module: &str, test: &str, expected: &[&str]) {
        let test = format!("import calc\nfrom calc import *\n\ndef test_a():\n    assert {test}\n");
        assert_eq!(left(&[("calc.py", module), ("tests/test_a.py", &test)]), expected, "{module}");
    }

    #[test]
    fn what_no_test_names_is_left() {
        check("def add(): ...\ndef sub(): ...\n", "add()", &["def `sub`"]);
        check("class A:\n    def b(self): ...\n    def c(self): ...\n", "A().b()", &["def `A.c`"]);
        check("def add(): ...\nclass Other:\n    pass\nLIMIT = 1\n", "add()", &["class `Other`", "`LIMIT`"]);
        check("def add(): ...\nif __name__ == '__main__':\n    main()\ndef main(): ...\n", "add()", &["def `main`"]);
        check("from functools import cache\ndef add(): ...\n@cache\ndef sub(): ...\n", "add()", &["def `sub`"]);
    }

    #[test]
    fn what_is_used_without_a_name_comes_along() {
        check("class A:\n    kind = 1\n    def __len__(self): ...\n", "len(A())", &[]);
        check("from enum import Enum\nclass A(Enum):\n    B = 1\n    C = 2\n", "A.B", &[]);
        check("from html.parser import HTMLParser\nclass A(HTMLParser):\n    def handle_data(self): ...\n", "A()", &[]);
        check("import asyncio\nclass A(asyncio.Protocol):\n    def data_received(self): ...\n", "A()", &[]);
        check("__all__ = ['add']\ndef add(): ...\n", "add()", &[]);
        check("try:\n    import a\nexcept ImportError:\n    a = None\ndef add(): ...\n", "add()", &[]);
        check("LOW, HIGH = 1, 2\nA = B = 3\ndef add(): return LOW + B\n", "add()", &[]);
    }

    #[test]
    fn what_registers_itself_comes_along() {
        check(
            "from functools import singledispatch\n@singledispatch\ndef area(a): ...\n@area.register\ndef _(a: int): ...\n",
            "area(1)",
            &[],
        );
        check(
            "T = {}\ndef keep(f):\n    T[f.__name__] = f\n@keep\ndef up(): ...\ndef run(n): return T[n]()\n",
            "run('up')",
            &[],
        );
        check(
            "def logged(f): return f\n@logged\ndef up(): ...\ndef run(): ...\n",
            "run()",
            &["def `logged`", "def `up`"],
        );
        let routes = "app = App()\n@app.get('/hello')\ndef hello(): ...\n@app.delete('/users/<id>')\ndef wipe(): ...\n";
        check(routes, "app.call('/hello')", &["def `wipe`"]);
        check(routes, "app.call(f'/users/{1}') and app.call('/hello')", &[]);
    }

    #[test]
    fn members_are_found_by_texts() {
        let visitor = "class A:\n    def visit(self, n): return getattr(self, 'visit_' + n)()\n    def visit_a(self): ...\n    def other(self): ...\n";
        check(visitor, "A().visit('a')", &["def `A.other`"]);
        check("class A:\n    def b(self): ...\n    def c(self): ...\n", "getattr(A(), 'b')()", &["def `A.c`"]);
        check(
            "T = {'a': 'b'}\ndef run(n): return globals()[T[n]]()\ndef b(): ...\ndef c(): ...\n",
            "run('a')",
            &["def `c`"],
        );
        check("def f(a: 'Name'): ...\nName = int\n", "f(1)", &[]);
        let once = "made = None\ndef f():\n    global made\n    if made is None:\n        made = 1\n    return made\n";
        check(once, "f()", &[]);
    }

    #[test]
    fn imports_tell_items_of_one_name_apart() {
        let other = ("other.py", "def add(): ...\n");
        let files = |test| left(&[("calc.py", "def add(): ...\n"), other, ("tests/test_a.py", test)]);
        assert_eq!(files("from calc import add\ndef test_a():\n    assert add()\n"), ["def `add`"]);
        assert_eq!(files("import calc\ndef test_a():\n    assert calc.add()\n"), ["def `add`"]);
        assert_eq!(files("import calc, other\ndef test_a():\n    assert calc.add() == other.add()\n"), [""; 0]);
        let local = "from calc import sum_\ndef test_a():\n    add = sum_()\n    assert add\n";
        assert_eq!(left(&[("calc.py", "def sum_(): ...\n"), other, ("tests/test_a.py", local)]), ["def `add`"]);
    }

    #[test]
    fn packages_hand_on_what_they_import() {
        let package = [
            ("shop/__init__.py", "from .cart import Cart as Basket\nfrom . import tax\n__all__ = ['Basket']\n"),
            ("shop/cart.py", "from shop.tax import rate\nclass Cart:\n    def total(self): return rate()\n"),
            ("shop/tax.py", "def rate(): ...\ndef unused(): ...\n"),
        ];
        for test in [
            "import shop\ndef test_a():\n    assert shop.Basket().total()\n",
            "from shop import Basket\ndef test_a():\n    assert Basket().total()\n",
            "from shop import *\ndef test_a():\n    assert Basket().total()\n",
            "import shop.cart\ndef test_a():\n    assert shop.cart.Cart().total()\n",
        ] {
            let files: Vec<_> = package.into_iter().chain([("tests/test_a.py", test)]).collect();
            assert_eq!(left(&files), ["def `unused`"], "{test}");
        }
    }

    #[test]
    fn a_program_is_started_by_its_path_or_its_module() {
        let program =
            "import sys\ndef main(): print(shout())\ndef shout(): ...\nif __name__ == '__main__':\n    main()\n";
        for (command, expected) in [
            ("'cli.py'", vec![]),
            ("'-m', 'cli'", vec![]),
            ("Path(x) / 'cli.py'", vec![]),
            ("'shop'", vec![]),
            ("'other.py'", vec!["def `main`", "def `shout`", "code"]),
        ] {
            let test =
                format!("import subprocess\ndef test_a():\n    assert subprocess.run([sys.executable, {command}])\n");
            let files = [("cli.py", program), ("other.py", "def a(): ...\n"), ("tests/test_a.py", test.as_str())];
            let found: Vec<String> = left(&files).into_iter().filter(|label| !label.contains("`a`")).collect();
            assert_eq!(found, expected, "{command}");
        }
        let lazy = "import importlib\ndef test_a():\n    assert importlib.import_module('calc').add()\n";
        assert_eq!(left(&[("calc.py", "def add(): ...\n"), ("tests/test_a.py", lazy)]), [""; 0]);
    }

    #[test]
    fn what_a_conftest_sets_up_leads_on() {
        let files = |conftest, test| {
            left(&[
                ("calc.py", "class A:\n    def b(self): ...\n"),
                ("tests/conftest.py", conftest),
                ("tests/test_a.py", test),
            ])
        };
        let fixture = "import pytest\nfrom calc import A\n@pytest.fixture\ndef a(): return A()\n";
        assert_eq!(files(fixture, "def test_a(a):\n    assert a.b()\n"), [""; 0]);
        assert_eq!(files(fixture, "def test_a(c):\n    assert c.b()\n"), ["class `A`", "def `A.b`"]);
        let always = fixture.replace("fixture\n", "fixture(autouse=True)\n");
        assert_eq!(files(&always, "def test_a():\n    assert g.b()\n"), [""; 0]);
        let module = "import pytest\n@pytest.fixture\ndef calc():\n    import calc\n    return calc\n";
        assert_eq!(files(module, "def test_a(calc):\n    assert calc.A().b()\n"), [""; 0]);
    }
}
