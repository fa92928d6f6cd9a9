//! Finds the names that JavaScript code uses, what its imports make of them, and what is used without being named.

use std::ops::Range;

use crate::analysis::compare::Piece;
use crate::code::{ReachedBy, Role};
use crate::lookup::{FileNames, Import, Origin};
use crate::syntax::FlatTree;
use crate::uses::{Use, UseSyntax, route_of};

use super::call::{required, unquoted};
use super::modules::{self, Modules, is_starter};
use super::syntax::Tree;

/// How JavaScript uses names.
pub(super) const USE_SYNTAX: UseSyntax = UseSyntax { used, binds, text, route };

/// Members that are called without being named.
pub(super) const IMPLICIT: [&str; 11] = [
    "constructor",
    "toString",
    "toJSON",
    "valueOf",
    "iterator",
    "asyncIterator",
    "toPrimitive",
    "next",
    "return",
    "throw",
    "then",
];

fn used(tree: &FlatTree<'_>, node: usize) -> Option<Use> {
    let (parent, field) = (tree.parent(node), tree.field(node));
    let name = || tree.text(node).to_owned();
    match tree.kind(node) {
        "call_expression" => computed(tree, node),
        "identifier" | "type_identifier" | "shorthand_property_identifier" => {
            let is_definition = matches!(field, Some("name"))
                && (tree.kind(parent).ends_with("declaration") || tree.kind(parent).ends_with("_expression"));
            let is_handed_on = is_handed_on(tree, node);
            (!is_definition && !is_handed_on).then(|| Use::Name(name()))
        }
        "property_identifier" | "private_property_identifier" => match (tree.kind(parent), field) {
            ("member_expression", Some("property")) => {
                let of = tree.child(parent, "object").map(|of| tree.text(of));
                let is_plain = |of: &&str| of.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
                Some(Use::Member(of.filter(is_plain).map(str::to_owned), name()))
            }
            ("pair_pattern", Some("key")) => Some(Use::Member(None, name())),
            _ => None,
        },
        "shorthand_property_identifier_pattern" => Some(Use::Member(None, name())),
        _ => None,
    }
}

/// Whether a name is only exported: `export { a }`, `module.exports = { a }`.
fn is_handed_on(tree: &FlatTree<'_>, node: usize) -> bool {
    let mut at = node;
    let mut parent = tree.parent(at);
    if tree.kind(parent) == "pair" && tree.field(at) == Some("value") {
        (at, parent) = (parent, tree.parent(parent));
    }
    if tree.kind(parent) == "object" {
        (at, parent) = (parent, tree.parent(parent));
    }
    match tree.kind(parent) {
        "assignment_expression" => {
            let left = tree.child(parent, "left").map_or("", |left| tree.text(left));
            at != parent && tree.field(at) == Some("right") && matches!(left, "module.exports" | "exports")
        }
        "export_statement" | "export_specifier" => true,
        _ => false,
    }
}

/// A call of a computed member: `` this[`on_${name}`]() ``.
fn computed(tree: &FlatTree<'_>, call: usize) -> Option<Use> {
    let function = tree.child(call, "function").filter(|function| tree.kind(*function) == "subscript_expression")?;
    let index = tree.child(function, "index")?;
    let first = tree.subtree(index).find_map(|node| text(tree, node));
    Some(match first {
        Some(first) if tree.kind(index) == "string" => Use::Member(None, first.to_owned()),
        Some(first) => Use::Prefix(first.to_owned()),
        None => Use::Computed,
    })
}

/// The function or block in which a declared name is visible.
fn binds(tree: &FlatTree<'_>, node: usize) -> Option<usize> {
    if !matches!(tree.kind(node), "identifier" | "shorthand_property_identifier_pattern") {
        return None;
    }
    let is_pattern = |outer: &usize| {
        let kind = tree.kind(*outer);
        kind.ends_with("_pattern") || kind == "required_parameter" || kind == "optional_parameter"
    };
    let is_value = |at: usize| matches!(tree.field(at), Some("value" | "right" | "key" | "type"));
    let mut at = node;
    while is_pattern(&tree.parent(at)) && !is_value(at) {
        at = tree.parent(at);
    }
    let parent = tree.parent(at);
    let is_parameter = tree.kind(parent) == "formal_parameters" && !is_value(at) || tree.field(at) == Some("parameter");
    let is_variable = tree.kind(parent) == "variable_declarator" && tree.field(at) == Some("name");
    let is_loop = tree.kind(parent) == "for_in_statement" && tree.field(at) == Some("left");
    let is_named = tree.kind(parent) == "function_declaration" && tree.field(at) == Some("name");
    let is_function = |outer: &usize| {
        let kind = tree.kind(*outer);
        kind.contains("function") || kind == "method_definition"
    };
    let is_block = |outer: &usize| tree.kind(*outer) == "statement_block" || tree.kind(*outer).starts_with("for_");
    if is_parameter {
        return tree.ancestors(node).find(is_function);
    }
    if is_loop {
        return Some(parent);
    }
    // A required module is an import, wherever it is declared.
    let is_import = is_variable
        && tree.child(parent, "value").is_some_and(|value| {
            let mut calls = tree.subtree(value).filter(|inner| tree.kind(*inner) == "call_expression");
            calls.any(|call| {
                let function = tree.child(call, "function").map_or("", |function| tree.text(function));
                matches!(function, "require" | "import")
            })
        });
    let declares = is_variable && !is_import || is_named;
    let from = if is_named { parent } else { node };
    tree.ancestors(from).find(is_block).filter(|_| declares)
}

fn text<'a>(tree: &FlatTree<'a>, node: usize) -> Option<&'a str> {
    match tree.kind(node) {
        "string" => Some(unquoted(tree.text(node))),
        "string_fragment" => Some(tree.text(node)),
        _ => None,
    }
}

fn route<'a>(tree: &FlatTree<'a>, node: usize) -> Option<&'a str> {
    route_of(tree, node, ("call_expression", "property"), text)
}

/// What we know about an item beyond its name.
pub(super) fn role(tree: &Tree<'_>, names: &FileNames, piece: &Piece, nodes: &Range<usize>) -> Role {
    let first = nodes.start;
    let full = piece.label.strip_prefix("method `").and_then(|label| label.strip_suffix('`'));
    let owner = full.and_then(|full| full.strip_suffix(&piece.name)?.strip_suffix('.'));
    let known = known_as(tree, piece, first);
    let mut role = Role::plain(known.as_deref().unwrap_or(&piece.name));
    role.names.extend(declared(tree, piece, first));
    if let Some(owner) = owner {
        role.owner = Some(owner.to_owned());
        if !is_plain_method(tree, first, &piece.name) || extends_foreign_class(tree, names, first) {
            role.reached_by = ReachedBy::Owner;
        }
    } else if let Some((owner, name)) = prototype_member(tree, first) {
        (role.owner, role.names, role.reached_by) = (Some(owner), vec![name], ReachedBy::Name);
    }
    role.is_idle = is_guard(tree, first);
    // A variable that holds a required module is an import.
    let value = tree.child(first, "value").filter(|_| tree.kind(first) == "variable_declarator");
    if value.is_some_and(|value| {
        tree.subtree(value).any(|node| loaded(tree, node).is_some() && !is_deep(tree, value, node))
    }) {
        (role.names, role.reached_by) = (Vec::new(), ReachedBy::File);
    }
    role
}

/// Whether a node is in a function inside another node.
fn is_deep(tree: &Tree<'_>, outer: usize, node: usize) -> bool {
    tree.ancestors(node).take_while(|around| *around >= outer).any(|around| tree.is_function(around))
}

/// The names that a pattern binds.
fn declared(tree: &Tree<'_>, piece: &Piece, first: usize) -> Vec<String> {
    let is_pattern = piece.name.starts_with(['{', '[']) && !piece.label.starts_with("method ");
    let declarator = is_pattern.then(|| tree.child(first, "name")).flatten();
    declarator.into_iter().flat_map(|pattern| tree.names(pattern).map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// The name under which others use an unnamed item: exported by an assignment, or by default.
fn known_as(tree: &Tree<'_>, piece: &Piece, first: usize) -> Option<String> {
    let is_default = tree.kind(first) == "export_statement" && tree.text(first).starts_with("export default");
    if piece.name.is_empty() && is_default && tree.child(first, "value").is_none_or(|it| tree.kind(it) != "identifier")
    {
        return Some("default".to_owned());
    }
    let left = assignment(tree, first).filter(|_| piece.name.is_empty()).and_then(|node| tree.child(node, "left"));
    let left = left.map(|left| tree.text(left)).unwrap_or_default();
    let is_export = left.starts_with("module.exports.") || left.starts_with("exports.");
    is_export.then(|| left.rsplit('.').next().unwrap_or(left).to_owned())
}

fn assignment(tree: &Tree<'_>, statement: usize) -> Option<usize> {
    let inner = tree.children(statement).next().filter(|_| tree.kind(statement) == "expression_statement")?;
    Some(inner).filter(|inner| tree.kind(*inner) == "assignment_expression")
}

/// The owner and name of a member such as `Stack.prototype.push = function () {}`.
fn prototype_member(tree: &Tree<'_>, first: usize) -> Option<(String, String)> {
    let assignment = assignment(tree, first)?;
    tree.child(assignment, "right").filter(|right| tree.is_function(*right))?;
    let left = tree.text(tree.child(assignment, "left")?);
    let (owner, name) = left.rsplit_once('.')?;
    let owner = owner.strip_suffix(".prototype").unwrap_or(owner);
    let is_type = |top: usize| {
        let item = tree.child(top, "declaration").unwrap_or(top);
        let is_named = tree.child(item, "name").is_some_and(|name| tree.text(name) == owner);
        is_named && matches!(tree.kind(item), "function_declaration" | "class_declaration")
    };
    tree.children(0).any(is_type).then(|| (owner.to_owned(), name.to_owned()))
}

/// Whether a member is a function that is called only by name.
fn is_plain_method(tree: &Tree<'_>, member: usize, name: &str) -> bool {
    let value = tree.child(member, "value");
    let is_method = tree.kind(member).starts_with("method") || value.is_some_and(|value| tree.is_function(value));
    let is_decorated = tree.children(member).any(|child| tree.kind(child) == "decorator")
        || member > 0
            && tree
                .children(tree.parent(member))
                .any(|child| tree.subtree_end(child) == member && tree.kind(child) == "decorator");
    is_method && !name.is_empty() && !name.starts_with('[') && !IMPLICIT.contains(&name) && !is_decorated
}

/// Whether the class around a member extends something that may call any of its members.
fn extends_foreign_class(tree: &Tree<'_>, names: &FileNames, member: usize) -> bool {
    let class =
        tree.ancestors(member).find(|outer| tree.kind(*outer).contains("class") && tree.kind(*outer) != "class_body");
    let heritage = class.and_then(|class| tree.children(class).find(|child| tree.kind(*child) == "class_heritage"));
    let Some(base) = heritage.and_then(|heritage| tree.names(heritage).next()) else { return false };
    let is_here = tree.children(0).any(|top| {
        let item = tree.child(top, "declaration").unwrap_or(top);
        tree.child(item, "name").is_some_and(|name| tree.text(name) == base)
    });
    let is_ours = |import: &Import| matches!(import.from, Origin::Files(_) | Origin::Unknown);
    let is_imported = names.imports.get(base).is_some_and(|imports| imports.iter().any(is_ours));
    !is_here && !is_imported && !base.ends_with("Error")
}

/// Whether this is an `if (require.main === module)`.
fn is_guard(tree: &Tree<'_>, first: usize) -> bool {
    let condition = tree.child(first, "condition").filter(|_| tree.kind(first) == "if_statement");
    condition.is_some_and(|it| ["require.main", "import.meta"].iter().any(|word| tree.text(it).contains(word)))
}

/// What the names in a file mean.
pub(super) fn file_names(tree: &Tree<'_>, path: &str, modules: &Modules) -> FileNames {
    let mut names = FileNames { namespace: path.to_owned(), programs: programs(path), ..FileNames::default() };
    let origin = |module: &str| match modules.origin(path, module) {
        modules::Origin::Inside(file) => Origin::Files(vec![file]),
        modules::Origin::Own => Origin::Unknown,
        modules::Origin::Foreign if is_starter(module) => Origin::Starter,
        modules::Origin::Foreign | modules::Origin::Package => Origin::Foreign,
    };
    for node in 1..tree.len() {
        match tree.kind(node) {
            "import_statement" => import(tree, node, &origin, &mut names),
            "variable_declarator" => requiring(tree, node, &origin, &mut names),
            "call_expression" => {
                if let Some(module) = loaded(tree, node) {
                    // The module is loaded, whatever the code does with it.
                    names
                        .imports
                        .entry(format!("\0{module}"))
                        .or_default()
                        .push(Import { from: origin(module), name: None });
                }
            }
            _ => {}
        }
    }
    for node in 1..tree.len() {
        match tree.kind(node) {
            "export_statement" => export(tree, node, &origin, &mut names),
            "assignment_expression" => exporting(tree, node, &mut names),
            _ => {}
        }
    }
    names
}

/// The module that a call loads.
fn loaded<'s>(tree: &Tree<'s>, call: usize) -> Option<&'s str> {
    let function = tree.text(tree.child(call, "function")?);
    let module = *tree.arguments(call).first()?;
    let loads = matches!(function, "require" | "import" | "vi.importActual" | "jest.requireActual");
    (loads && tree.kind(module) == "string").then(|| unquoted(tree.text(module)))
}

fn import(tree: &Tree<'_>, statement: usize, origin: &impl Fn(&str) -> Origin, names: &mut FileNames) {
    let Some(source) = tree.child(statement, "source") else { return };
    let from = origin(unquoted(tree.text(source)));
    let mut add = |local: &str, name: Option<&str>| {
        let import = Import { from: from.clone(), name: name.map(str::to_owned) };
        names.imports.entry(local.to_owned()).or_default().push(import);
    };
    // Even an import without names loads a file.
    add(&format!("\0{statement}"), None);
    for node in tree.subtree(statement) {
        match tree.kind(node) {
            "identifier" if tree.kind(tree.parent(node)) == "import_clause" => add(tree.text(node), Some("default")),
            "namespace_import" => tree.names(node).for_each(|local| add(local, None)),
            "import_specifier" => {
                let name = tree.child(node, "name").map_or("", |name| tree.text(name));
                add(tree.child(node, "alias").map_or(name, |alias| tree.text(alias)), Some(name));
            }
            _ => {}
        }
    }
}

fn export(tree: &Tree<'_>, statement: usize, origin: &impl Fn(&str) -> Origin, names: &mut FileNames) {
    let from = tree.child(statement, "source").map(|source| origin(unquoted(tree.text(source))));
    let default = tree.text(statement).starts_with("export default");
    if let Some(value) = tree.child(statement, "value").filter(|_| default) {
        table(tree, value, names);
    }
    if let Some(item) = tree.child(statement, "declaration").filter(|_| default)
        && let Some(own) = tree.child(item, "name")
    {
        names.exports.insert("default".to_owned(), tree.text(own).to_owned());
    }
    let mut takes_some = false;
    for node in tree.subtree(statement) {
        match tree.kind(node) {
            "export_specifier" => {
                takes_some = true;
                let name = tree.child(node, "name").map_or("", |name| tree.text(name));
                let known = tree.child(node, "alias").map_or(name, |alias| tree.text(alias));
                match &from {
                    Some(from) => {
                        let import = Import { from: from.clone(), name: Some(name.to_owned()) };
                        let local = format!("\0{known}");
                        names.imports.entry(local.clone()).or_default().push(import);
                        names.exports.insert(known.to_owned(), local);
                    }
                    None => drop(names.exports.insert(known.to_owned(), name.to_owned())),
                }
            }
            "namespace_export" => {
                takes_some = true;
                let known = tree.names(node).last().unwrap_or_default();
                let local = format!("\0{known}");
                let import = Import { from: from.clone().unwrap_or(Origin::Unknown), name: None };
                names.imports.entry(local.clone()).or_default().push(import);
                names.exports.insert(known.to_owned(), local);
            }
            _ => {}
        }
    }
    if let Some(from) = from.filter(|_| !takes_some) {
        names.wildcard_imports.push(from);
    }
}

/// Records what an object exports, name by name, or a single value exported as a whole.
fn table(tree: &Tree<'_>, value: usize, names: &mut FileNames) {
    match tree.kind(value) {
        "identifier" => drop(names.exports.insert("default".to_owned(), tree.text(value).to_owned())),
        "call_expression" => {
            // Re-exports another module.
            let local = loaded(tree, value).map(|module| format!("\0{module}")).unwrap_or_default();
            let imports = names.imports.get(&local).cloned().unwrap_or_default();
            names.wildcard_imports.extend(imports.into_iter().map(|import| import.from));
            names.exports.insert("default".to_owned(), local);
        }
        "object" => {
            for part in tree.parts(value) {
                let key = tree.child(part, "key").map(|key| tree.text(key));
                let target = tree.child(part, "value");
                let local = target.and_then(|target| match tree.kind(target) {
                    "identifier" => Some(tree.text(target).to_owned()),
                    "call_expression" => loaded(tree, target).map(|module| format!("\0{module}")),
                    _ => None,
                });
                match (key, local) {
                    (Some(key), Some(local)) => drop(names.exports.insert(key.to_owned(), local)),
                    _ if tree.kind(part) == "shorthand_property_identifier" => {
                        names.exports.insert(tree.text(part).to_owned(), tree.text(part).to_owned());
                    }
                    _ if tree.kind(part) == "spread_element" => {
                        let module = required(tree, part).map(|module| format!("\0{module}"));
                        let local = module.as_deref().or_else(|| tree.names(part).last()).unwrap_or_default();
                        let imports = names.imports.get(local).cloned().unwrap_or_default();
                        let whole = imports.into_iter().filter(|import| import.name.is_none());
                        names.wildcard_imports.extend(whole.map(|import| import.from));
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

/// Records `const { add } = require('./calc')` and `const calc = await import('./calc.js')`.
fn requiring(tree: &Tree<'_>, declarator: usize, origin: &impl Fn(&str) -> Origin, names: &mut FileNames) {
    let (Some(pattern), Some(value)) = (tree.child(declarator, "name"), tree.child(declarator, "value")) else {
        return;
    };
    let call = tree.subtree(value).filter(|inner| tree.kind(*inner) == "call_expression");
    let Some(module) = call.into_iter().find_map(|call| loaded(tree, call)) else { return };
    let from = origin(module);
    // `require('./calc').add`
    let picked = Some(value).filter(|value| tree.kind(*value) == "member_expression");
    let picked = picked.and_then(|value| tree.child(value, "property")).map(|name| tree.text(name).to_owned());
    let mut add = |local: &str, name: Option<String>| {
        names.imports.entry(local.to_owned()).or_default().push(Import { from: from.clone(), name });
    };
    if tree.kind(pattern) == "identifier" {
        return add(tree.text(pattern), picked);
    }
    for part in tree.parts(pattern) {
        let key = tree.child(part, "key").map(|key| tree.text(key));
        for local in tree.names(part) {
            add(local, Some(key.unwrap_or(local).to_owned()));
        }
    }
}

/// Records `module.exports = …`.
fn exporting(tree: &Tree<'_>, assignment: usize, names: &mut FileNames) {
    let (Some(left), Some(right)) = (tree.child(assignment, "left"), tree.child(assignment, "right")) else { return };
    let left = tree.text(left);
    if matches!(left, "module.exports" | "exports") {
        return table(tree, right, names);
    }
    let name = left.strip_prefix("module.exports.").or_else(|| left.strip_prefix("exports."));
    if let Some(name) = name.filter(|_| tree.kind(right) == "identifier") {
        names.exports.insert(name.to_owned(), tree.text(right).to_owned());
    }
}

/// The words that start a file as a program: its name with and without its ending.
fn programs(path: &str) -> Vec<String> {
    let file = path.rsplit('/').next().unwrap_or(path);
    let bare = path.rsplit_once('.').map_or(path, |(bare, _)| bare);
    let built = ["ts", "mts", "cts", "tsx"].iter().find_map(|ending| file.strip_suffix(&format!(".{ending}")));
    [file.to_owned(), bare.to_owned()].into_iter().chain(built.map(|stem| format!("{stem}.js"))).collect()
}

#[cfg(test)]
mod tests {
    use crate::fixture;
    use crate::javascript::signs::with_finder;

    /// The production items that no test reaches.
    fn left(files: &[(&str, &str)]) -> Vec<String> {
        fixture::left(files, |project, sources, look| with_finder(project, sources, look))
    }

    /// Checks the items of a module that its test does not reach.
    fn check(module: &str, import: &str, test: &str, expected: &[&str]) {
        let test = format!("{import}\ntest('a', async () => {{ assert.ok({test}); }});\n");
        assert_eq!(left(&[("calc.js", module), ("a.test.js", &test)]), expected, "{module}");
    }

    const ADD: &str = "import { add } from './calc.js';";
    const A: &str = "import { A } from './calc.js';";

    #[test]
    fn what_no_test_names_is_left() {
        check("export function add() {}\nexport function sub() {}\n", ADD, "add()", &["function `sub`"]);
        check(
            "export class A {\n  b() {}\n  c() {}\n  get d() {}\n}\n",
            A,
            "new A().b()",
            &["method `A.c`", "method `A.d`"],
        );
        check(
            "export const add = 1;\nexport class B {}\nexport const LIMIT = 1;\n",
            ADD,
            "add",
            &["class `B`", "`LIMIT`"],
        );
        check("export const add = 1;\nexport default function sub() {}\n", ADD, "add", &["function `sub`"]);
        check(
            "export function add() {}\nif (require.main === module) main();\nfunction main() {}\n",
            ADD,
            "add()",
            &["function `main`"],
        );
    }

    #[test]
    fn what_is_used_without_a_name_comes_along() {
        check(
            "export class A {\n  #a = 1;\n  static {}\n  constructor() {}\n  toString() {}\n  *[Symbol.iterator]() {}\n}\n",
            A,
            "new A()",
            &[],
        );
        check(
            "import { Transform } from 'node:stream';\nexport class A extends Transform {\n  _transform() {}\n}\n",
            A,
            "new A()",
            &[],
        );
        check("export class A extends Error {\n  b() {}\n}\n", A, "new A()", &["method `A.b`"]);
        check(
            "const { low, high: top } = limits;\nconst limits = 1;\nexport const add = () => low + top;\n",
            ADD,
            "add()",
            &[],
        );
        check(
            "export const add = () => table.a();\nconst table = { a: () => b() };\nfunction b() {}\n",
            ADD,
            "add()",
            &[],
        );
    }

    #[test]
    fn exports_hand_on_what_is_asked_for_and_no_more() {
        for (module, import) in [
            (
                "function add() {}\nfunction sub() {}\nmodule.exports = { add, sub };\n",
                "const { add } = require('./calc');",
            ),
            (
                "function plus() {}\nfunction sub() {}\nmodule.exports = { add: plus, sub };\n",
                "const { add } = require('./calc');",
            ),
            (
                "function plus() {}\nfunction sub() {}\nexport { plus as add, sub };\n",
                "import { add } from './calc.js';",
            ),
            ("function plus() {}\nfunction sub() {}\nexport default plus;\n", "import add from './calc.js';"),
            ("function plus() {}\nfunction sub() {}\nmodule.exports = plus;\n", "const add = require('./calc');"),
            ("function plus() {}\nfunction sub() {}\nexports.add = plus;\n", "const add = require('./calc').add;"),
        ] {
            check(module, import, "add()", &["function `sub`"]);
        }
        check("export function add() {}\n", "const calc = await import('./calc.js');", "calc.add()", &[]);
        check("export function add() {}\n", "", "(await import('./calc.js')).add()", &[]);
        check(
            "exports.add = () => 1;\nmodule.exports.sub = () => 1;\n",
            "const { add } = require('./calc');",
            "add()",
            &["code"],
        );
        check(
            "module.exports = { add: () => b() };\nfunction b() {}\n",
            "const { add } = require('./calc');",
            "add()",
            &[],
        );
        check(
            "export default class {\n  a() { return B; }\n}\nconst B = 1;\n",
            "import C from './calc.js';",
            "new C().a()",
            &[],
        );
        let table = "function add() {}\nfunction sub() {}\nexport default { add, sub };\n";
        check(table, "import calc from './calc.js';", "calc.add()", &["function `sub`"]);
    }

    #[test]
    fn methods_of_a_prototype_are_members() {
        let stack = "function Stack() {}\nStack.prototype.size = function () {};\nStack.of = () => 1;\nmodule.exports = Stack;\n";
        check(stack, "const Stack = require('./calc');", "new Stack().size()", &["code"]);
        check(stack, "const Stack = require('./calc');", "Stack.of().size()", &[]);
    }

    #[test]
    fn what_registers_itself_comes_along() {
        check(
            "export const bus = make();\nbus.on('a', record);\nfunction record() {}\nfunction make() {}\n",
            "import { bus } from './calc.js';",
            "bus.emit('a')",
            &[],
        );
        let app = "export const app = express();\napp.get('/hello', hello);\napp.delete('/users/:id', wipe);\nfunction hello() {}\nfunction wipe() {}\n";
        let import = "import { app } from './calc.js';";
        check(app, import, "fetch(app, '/hello')", &["code", "function `wipe`"]);
        check(app, import, "fetch(app, '/hello', `/users/${id}`)", &[]);
        let router = "export const router = express();\nrouter.route('/users').get(list);\nfunction list() {}\n";
        check(router, "import { router } from './calc.js';", "router", &["code", "function `list`"]);
    }

    #[test]
    fn members_are_found_by_computed_names() {
        let prefix = "export class A {\n  run(n) { return this[`on_${n}`](); }\n  on_a() {}\n  other() {}\n}\n";
        check(prefix, A, "new A().run('a')", &["method `A.other`"]);
        check("export class A {\n  run(n) { return this[n](); }\n  a() {}\n}\n", A, "new A().run('a')", &[]);
        let each = "export class A {\n  a() {}\n  b() {}\n}\nexport const call = (it, n) => it[n]();\n";
        check(each, "import { A, call } from './calc.js';", "call(new A(), 'a')", &["method `A.b`"]);
    }

    #[test]
    fn imports_tell_items_of_one_name_apart() {
        let other = ("other.js", "export function add() {}\n");
        let files = |test| left(&[("calc.js", "export function add() {}\n"), other, ("a.test.js", test)]);
        assert_eq!(
            files("import { add } from './calc.js';\ntest('a', () => { assert.ok(add()); });\n"),
            ["function `add`"]
        );
        assert_eq!(
            files("import * as calc from './calc.js';\ntest('a', () => { assert.ok(calc.add()); });\n"),
            ["function `add`"]
        );
        let local = "import { sum } from './calc.js';\ntest('a', () => { const add = sum(); assert.ok(add); });\n";
        assert_eq!(left(&[("calc.js", "export const sum = 1;\n"), other, ("a.test.js", local)]), ["function `add`"]);
    }

    #[test]
    fn barrels_hand_on_what_they_take() {
        let files = |index, test| {
            left(&[
                ("src/a.js", "export const add = 1;\nexport const sub = 1;\n"),
                ("src/index.js", index),
                ("a.test.js", test),
            ])
        };
        let test = "import { add } from './src';\ntest('a', () => { assert.ok(add()); });\n";
        for index in [
            "export * from './a.js';\n",
            "export { add, sub } from './a.js';\n",
            "export { sub as other, add } from './a';\n",
        ] {
            assert_eq!(files(index, test), ["`sub`"], "{index}");
        }
        let spread = "const { test } = require('node:test');\nconst all = require('./src');\ntest('a', () => { assert.ok(all.add()); });\n";
        assert_eq!(files("module.exports = { ...require('./a') };\n", spread), ["`sub`"]);
        assert_eq!(files("module.exports = require('./a');\n", spread), ["`sub`"]);
        let space = "import { calc } from './src';\ntest('a', () => { assert.ok(calc.add()); });\n";
        assert_eq!(files("export * as calc from './a.js';\n", space), ["`sub`"]);
    }

    #[test]
    fn a_program_is_started_by_its_path() {
        let program = "const main = () => shout();\nfunction shout() {}\nif (require.main === module) main();\n";
        let test = "import { execFileSync } from 'node:child_process';\ntest('a', () => { assert.ok(execFileSync('node', [path.join(x, 'src', 'cli.js')])); });\n";
        assert_eq!(left(&[("src/cli.js", program), ("a.test.js", test)]), [""; 0]);
        let worker =
            "import { Worker } from 'node:worker_threads';\nexport const run = () => new Worker('./work.js');\n";
        let test = "import { run } from './calc.js';\ntest('a', () => { assert.ok(run()); });\n";
        assert_eq!(
            left(&[("calc.js", worker), ("work.js", "post(a());\nfunction a() {}\n"), ("a.test.js", test)]),
            [""; 0]
        );
    }

    #[test]
    fn types_come_with_what_they_type() {
        let module = "interface A { b: B }\ntype B = C;\nenum C { D }\nexport type Unused = 1;\nexport function add(a: A): A { return a; }\n";
        let test = "import { add } from './calc';\ntest('a', () => { assert.ok(add()); });\n";
        assert_eq!(left(&[("calc.ts", module), ("a.test.ts", test)]), ["type `Unused`"]);
    }
}
