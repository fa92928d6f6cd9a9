//! Every captured compile error gets the cause that a person would give it.

use std::collections::BTreeMap;

use serde_json::Value;
use tdd_core::command::Captured;

use super::*;
use crate::rust::captured::{build_messages, files};
use crate::rust::compile;

/// Files in memory.
struct Files(Vec<String>, BTreeMap<String, String>);

impl Files {
    fn new(files: impl IntoIterator<Item = (String, String)>) -> Self {
        let map: BTreeMap<String, String> = files.into_iter().collect();
        Self(map.keys().cloned().collect(), map)
    }
}

impl Sources for Files {
    fn files(&self) -> &[String] {
        &self.0
    }
    fn read(&self, path: &str) -> Option<String> {
        self.1.get(path).cloned()
    }
}

/// The relevant production code of the captured runs.
const LIB: &str = "pub fn add(a: i32, b: i32) -> i32 { a + b }
#[derive(Debug, PartialEq)] pub enum Kind { A }
pub struct Thing { pub vis: i32, hid: i32 }
pub trait Shape { fn area(&self) -> f64; }
";

/// The lines of a file that a captured run's messages quote, each at its byte offset.
fn quoted_lines(messages: &str, file: &str) -> String {
    let mut bytes = Vec::new();
    let mut stack: Vec<Value> = messages.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    while let Some(value) = stack.pop() {
        if value["file_name"] == file {
            let start = value["byte_start"].as_u64().unwrap() - (value["column_start"].as_u64().unwrap() - 1);
            let start = usize::try_from(start).unwrap();
            let text = value["text"][0]["text"].as_str().unwrap_or_default();
            bytes.resize(bytes.len().max(start + text.len()), b'\n');
            bytes[start..start + text.len()].copy_from_slice(text.as_bytes());
        }
        match value {
            Value::Array(parts) => stack.extend(parts),
            Value::Object(parts) => stack.extend(parts.into_iter().map(|(_, part)| part)),
            _ => {}
        }
    }
    String::from_utf8(bytes).unwrap()
}

fn captured_cause(name: &str) -> Option<(Cause, String)> {
    let messages = build_messages(name);
    let build = compile::read(&Captured::whole(messages.clone())).unwrap();
    let mut lib = LIB.to_owned();
    let quoted = quoted_lines(&messages, "src/lib.rs");
    if quoted.contains("fn subs()") {
        let module = "#[cfg(test)] mod tests {";
        lib = format!("{module}{}}}", &quoted[module.len()..]);
    } else if quoted.contains("broken") {
        lib = quoted;
    }
    let test = quoted_lines(&messages, "tests/t.rs");
    let sources = Files::new([("src/lib.rs".to_owned(), lib), ("tests/t.rs".to_owned(), test)]);
    let places = Places::of("/project/rs", "").unwrap();
    let found = obstacles(&build, &places, &sources);
    assert!(found.len() <= 1, "{name}: {found:?}");
    found.into_iter().next().map(|obstacle| (obstacle.cause, obstacle.subject))
}

/// The cause of every captured run that does not compile.
const CAUSES: &[(&str, Cause)] = &[
    ("borrow_error_in_test", Cause::UnrelatedCompileError),
    ("duplicate_test_name", Cause::UnrelatedCompileError),
    ("inline_missing_fn", Cause::MissingSymbol),
    ("missing_assoc_fn", Cause::MissingSymbol),
    ("missing_const", Cause::MissingSymbol),
    ("missing_crate", Cause::UnrelatedCompileError),
    ("missing_field", Cause::MissingSymbol),
    ("missing_fn_glob", Cause::MissingSymbol),
    ("missing_fn_import", Cause::MissingSymbol),
    ("missing_fn_path", Cause::MissingSymbol),
    ("missing_from", Cause::MissingSymbol),
    ("missing_fromstr", Cause::MissingSymbol),
    // `Option<Thing, i32>`: the generics belong to the standard library, not to production.
    ("missing_generic_arg", Cause::UnrelatedCompileError),
    ("missing_iter_impl", Cause::MissingSymbol),
    ("missing_literal_field", Cause::MissingSymbol),
    ("missing_macro", Cause::MissingSymbol),
    ("missing_method", Cause::MissingSymbol),
    ("missing_mod_file", Cause::UnrelatedCompileError),
    ("missing_module", Cause::MissingSymbol),
    ("missing_op_add", Cause::MissingSymbol),
    ("missing_struct_literal", Cause::MissingSymbol),
    ("missing_trait", Cause::MissingSymbol),
    // The bound is on a test helper, but the missing impl is for a production type.
    ("missing_trait_bound", Cause::MissingSymbol),
    ("missing_trait_impl_display", Cause::MissingSymbol),
    ("missing_trait_impl_eq", Cause::MissingSymbol),
    ("missing_trait_method", Cause::MissingSymbol),
    ("missing_type", Cause::MissingSymbol),
    ("missing_type_annot", Cause::MissingSymbol),
    // A variant that `Option` does not have.
    ("missing_variant", Cause::UnrelatedCompileError),
    ("missing_variant_own", Cause::MissingSymbol),
    ("missing_variant_pattern", Cause::MissingSymbol),
    // `add("1", 2)` needs another parameter type, `sub` a function: both are production's.
    ("mixed_import_and_type", Cause::MissingSymbol),
    // There is also a borrow error, but rustc stops before reporting it.
    ("mixed_method_and_borrow", Cause::MissingSymbol),
    // `sub` is not imported: whatever production has, this test will not find it.
    ("mixed_other_fn", Cause::UnrelatedCompileError),
    ("mixed_same_fn", Cause::UnrelatedCompileError),
    ("needs_ref", Cause::MissingSymbol),
    ("not_fn", Cause::MissingSymbol),
    ("overflow_lint", Cause::UnrelatedCompileError),
    ("private_field", Cause::MissingSymbol),
    ("private_fn", Cause::MissingSymbol),
    ("private_fn_import", Cause::MissingSymbol),
    ("private_item", Cause::MissingSymbol),
    ("private_method", Cause::MissingSymbol),
    // A syntax error in production: the subject is its root file.
    ("syntax_error_src", Cause::SyntaxError),
    ("syntax_error_test", Cause::SyntaxError),
    ("syntax_missing_brace", Cause::SyntaxError),
    // The test wants a production trait to require less: a changed API.
    ("trait_new_required_method", Cause::MissingSymbol),
    // Production code that does not compile is broken, not missing.
    ("type_error_src", Cause::UnrelatedCompileError),
    ("type_needed", Cause::UnrelatedCompileError),
    // A typo in a test looks like a new function; only the green reveals the mistake.
    ("typo_of_existing", Cause::MissingSymbol),
    ("uncond_index", Cause::UnrelatedCompileError),
    ("undeclared_local_in_test", Cause::UnrelatedCompileError),
    ("unknown_test_attr", Cause::UnrelatedCompileError),
    ("wrong_arity", Cause::MissingSymbol),
    ("wrong_return_type", Cause::MissingSymbol),
    ("wrong_type", Cause::MissingSymbol),
];

#[test]
fn every_captured_compile_error_has_its_cause() {
    let expected: BTreeMap<String, Cause> =
        CAUSES.iter().map(|&(name, cause)| (format!("cargo__{name}"), cause)).collect();
    let mut wrong = Vec::new();
    for name in files("cargo__") {
        let found = captured_cause(&name).map(|(cause, _)| cause);
        if found != expected.get(&name).copied() {
            wrong.push(format!("{name}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn an_obstacle_names_the_root_of_its_target() {
    assert_eq!(captured_cause("cargo__missing_method").unwrap().1, "tests/t.rs");
    assert_eq!(captured_cause("cargo__syntax_error_src").unwrap().1, "src/lib.rs");
}

/// The real messages of a unit-test module in which every function has one mistake; its name says whether production
/// lacks something (`yes_`) or the test is wrong (`no_`).
#[test]
fn every_mistake_of_a_unit_test_is_laid_at_the_right_door() {
    let source = include_str!("../../tests/runner-outputs/cargo-build__unit_errors.rs");
    let build = compile::read(&Captured::whole(build_messages("cargo-build__unit_errors"))).unwrap();
    let places = Places::of("/project/u", "").unwrap();
    let sources = Files::new([("src/lib.rs".to_owned(), source.to_owned())]);
    let doctor = Doctor {
        production: Production::of(&sources, crate_names(&build, &places)),
        places: &places,
        sources: &sources,
    };
    let mut verdicts: BTreeMap<&str, bool> = BTreeMap::new();
    for error in &build.errors {
        let line = source.lines().nth(root_span(&error.message).unwrap().line_start - 1).unwrap();
        let name = line.split_once("fn ").unwrap().1.split('(').next().unwrap();
        *verdicts.entry(name).or_insert(true) &= doctor.is_missing(error);
    }
    let wrong: Vec<_> = verdicts.iter().filter(|(name, missing)| name.starts_with("yes_") != **missing).collect();
    assert!(wrong.is_empty() && verdicts.len() > 35, "{wrong:#?} of {}", verdicts.len());
}
