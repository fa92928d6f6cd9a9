//! Finds production code that checks whether it is under test.

use tdd_core::signs::{Place, Sensing};

use super::call::unquoted;
use super::modules::normal;
use super::syntax::Tree;

/// Environment variables that runners set.
const VARIABLES: [&str; 9] = [
    "NODE_TEST_CONTEXT",
    "VITEST",
    "VITEST_WORKER_ID",
    "VITEST_POOL_ID",
    "VITEST_MODE",
    "JEST_WORKER_ID",
    "NODE_TEST_WORKER_ID",
    "__vitest_worker__",
    "__vitest_index__",
];

/// Names that runners make global.
const GLOBALS: [&str; 10] =
    ["describe", "it", "test", "expect", "vi", "jest", "beforeEach", "afterEach", "beforeAll", "afterAll"];

/// Modules that tests are written with.
const MODULES: [&str; 8] =
    ["node:test", "node:test/reporters", "vitest", "jest", "@jest/globals", "vitest/runners", "chai", "sinon"];

/// Where the machine that judges the code keeps its copies.
const STATE_FOLDER: &str = ".tdd";

/// The nodes that check for tests, one per line.
pub(super) fn sensing(tree: &Tree<'_>, nodes: &[usize], item: &Place) -> Vec<Sensing> {
    let mut found: Vec<Sensing> = Vec::new();
    for node in nodes {
        let Some(what) = asked(tree, *node).or_else(|| named(tree, *node, &item.path)) else { continue };
        let line = tree.line(*node);
        if found.iter().all(|known| known.line != line) {
            found.push(Sensing { item: item.clone(), line, what });
        }
    }
    found
}

fn asked(tree: &Tree<'_>, node: usize) -> Option<String> {
    let text = tree.text(node);
    match tree.kind(node) {
        "property_identifier" | "identifier" | "string" | "shorthand_property_identifier_pattern" => {
            let name = if tree.kind(node) == "string" { unquoted(text) } else { text };
            let imports = tree.kind(node) == "string" && MODULES.contains(&name) && is_imported(tree, node);
            match () {
                () if VARIABLES.contains(&name) => Some(format!("`{name}`")),
                () if imports => Some(format!("an import of `{name}`")),
                () => None,
            }
        }
        "binary_expression" if text.contains("NODE_ENV") && text.contains("test") => Some("`NODE_ENV`".to_owned()),
        "unary_expression" if text.starts_with("typeof") => {
            let name = tree.parts(node).next().map_or("", |part| tree.text(part));
            GLOBALS.contains(&name).then(|| format!("whether there is a global `{name}`"))
        }
        "member_expression" | "subscript_expression" => member(tree, node),
        "call_expression" => reads_a_test(tree, node).then(|| "what its tests say".to_owned()),
        _ => None,
    }
}

/// A path in a text that only tests, or the machine that judges the code, are at.
fn named(tree: &Tree<'_>, node: usize, path: &str) -> Option<String> {
    let text = tree.text(node);
    match tree.kind(node) {
        "string" | "template_string" | "regex" => {
            let mut parts = text.split(['/', '\\', '\'', '"', '`']);
            if parts.any(|part| part == STATE_FOLDER) {
                return Some(format!("the folder `{STATE_FOLDER}`"));
            }
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let module = unquoted(text).split('?').next().filter(|module| module.starts_with('.'))?;
            let target = normal(folder, module).filter(|_| is_imported(tree, node))?;
            is_test_code(&target).then(|| format!("an import of test code, `{module}`"))
        }
        _ => None,
    }
}

/// Whether a path is that of a test or in a folder of tests, whatever else is there.
fn is_test_code(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let in_folder = folders.split('/').any(|folder| ["test", "tests", "__tests__", "spec", "specs"].contains(&folder));
    in_folder || name.contains(".test.") || name.contains(".spec.")
}

fn member(tree: &Tree<'_>, node: usize) -> Option<String> {
    let object = tree.child(node, "object").map_or("", |object| tree.text(object));
    let property = tree.child(node, "property").or_else(|| tree.child(node, "index"));
    let property = property.map_or("", |property| tree.text(property)).trim_matches(['\'', '"']);
    let statement = tree.text(tree.statement(node)).to_lowercase();
    let about_tests = statement.contains("test") || statement.contains("spec") || statement.contains("jest");
    match (object, property) {
        ("globalThis" | "global" | "window", name) if GLOBALS.contains(&name) => {
            Some(format!("whether there is a global `{name}`"))
        }
        ("import.meta", "vitest") | ("import.meta.env", "VITEST" | "TEST") => Some("`import.meta`".to_owned()),
        ("import.meta.env", "MODE") | ("process", "argv" | "execArgv" | "mainModule") | ("require", "main")
            if about_tests =>
        {
            Some(format!("`{object}.{property}`"))
        }
        (_, "stack") if about_tests => Some("the call stack".to_owned()),
        ("Error", "captureStackTrace" | "prepareStackTrace") if about_tests => Some("the call stack".to_owned()),
        ("require", "cache") if about_tests => Some("the modules that are loaded".to_owned()),
        _ => None,
    }
}

/// Whether a call reads the running script, or a test file.
fn reads_a_test(tree: &Tree<'_>, call: usize) -> bool {
    let function = tree.child(call, "function").map_or("", |function| tree.text(function));
    let reads =
        ["readFileSync", "readFile", "createReadStream", "openSync"].iter().any(|name| function.ends_with(name));
    let from = tree.child(call, "arguments").map_or("", |arguments| tree.text(arguments));
    if matches!(function, "import.meta.glob" | "import.meta.globEager" | "require.context") {
        let mut patterns = from.split(['\'', '"', '`']).filter(|pattern| !pattern.starts_with('!'));
        return patterns.any(is_test_code);
    }
    reads && [".test.", ".spec.", "argv[1]", "require.main", "mainModule"].iter().any(|words| from.contains(words))
}

fn is_imported(tree: &Tree<'_>, node: usize) -> bool {
    let mut around = tree.ancestors(node).take(3);
    around.any(|outer| match tree.kind(outer) {
        "import_statement" | "export_statement" => true,
        "call_expression" => tree
            .child(outer, "function")
            .is_some_and(|function| matches!(tree.text(function), "require" | "import" | "require.resolve")),
        _ => false,
    })
}
