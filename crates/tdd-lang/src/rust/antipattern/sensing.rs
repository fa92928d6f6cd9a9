//! Finds production code that checks whether it is under test.

use std::ops::Range;

use crate::rust::attribute::{Attribute, Truth, literal};
use crate::rust::change::file::File;

use super::scan::{before, past_group};

/// Environment variables that a test run sets.
const VARIABLES: [&str; 8] = [
    "RUST_TEST_",
    "__RUST_TEST",
    "NEXTEST",
    "CARGO_BIN_EXE_",
    "CARGO_MANIFEST_",
    "CARGO_PKG_",
    "CARGO_CRATE_NAME",
    "CARGO_PRIMARY_PACKAGE",
];

/// Options of a test program, and parts of its path.
const TRACES: [&str; 7] = ["--test-threads", "--nocapture", "--exact", "--test", "deps", "test", "nextest"];

/// System files that tell a program how it was started.
const OWN_PROCESS: [&str; 4] = ["/proc/self/cmdline", "/proc/self/comm", "/proc/self/environ", "/proc/self/task"];

/// Methods and operators that decide something.
const DECIDING: [&str; 12] = [
    "==",
    "!=",
    "contains",
    "starts_with",
    "ends_with",
    "is_some",
    "is_none",
    "is_some_and",
    "is_none_or",
    "eq",
    "matches",
    "find",
];

/// Attributes of runtime items, which a program without the standard library has only outside tests.
const RUNTIME: [&str; 7] =
    ["panic_handler", "global_allocator", "alloc_error_handler", "entry", "lang", "no_mangle", "exception"];

/// The tokens in an item that check for tests, each with how it does so.
pub(super) fn sensing(file: &File, item: Range<usize>, label: &str) -> Vec<(usize, String)> {
    let scan = Scan { file, item: item.clone() };
    let mut found: Vec<(usize, String)> = item.filter_map(|at| scan.asks(at, label)).collect();
    found.dedup_by(|one, other| one.1 == other.1);
    found
}

struct Scan<'f> {
    file: &'f File,
    item: Range<usize>,
}

impl Scan<'_> {
    fn asks(&self, at: usize, label: &str) -> Option<(usize, String)> {
        let text = self.file.text(at);
        let what = match text {
            "cfg" if self.text(at + 1) == "!" => self.condition(at),
            "#" if self.text(at + 1) == "[" => self.attribute(at, label),
            "current" => self.thread_name(at),
            "caller" if self.path_of(at) == "Location" && self.has("file") && self.decides() => {
                Some("the file that it is called from".to_owned())
            }
            "var" | "var_os" if self.path_of(at) == "env" => self.variable(at),
            "args" | "args_os" if self.path_of(at) == "env" && self.names(&TRACES).is_some() => {
                Some("the program's arguments".to_owned())
            }
            "current_exe" if self.path_of(at) == "env" && self.decides() && self.names(&TRACES).is_some() => {
                Some("the program's own path".to_owned())
            }
            "capture" | "force_capture" if self.path_of(at) == "Backtrace" && self.decides() => {
                Some("the backtrace".to_owned())
            }
            _ if label.starts_with("fn ") => self.own_process(at),
            _ => None,
        };
        what.map(|what| (at, what))
    }

    /// A `cfg!(…)` that differs in a test build, or that chooses a result by the kind of build.
    fn condition(&self, at: usize) -> Option<String> {
        let past = past_group(self.file, at + 2, self.item.end);
        let tokens: Vec<&str> = (at + 2..past).map(|at| self.text(at)).collect();
        let by_build = tokens.contains(&"debug_assertions") && self.chooses_answer(past);
        (depends_on_tests(&tokens) || by_build).then(|| format!("`cfg!{}`", tokens.concat()))
    }

    /// Whether the result depends on the decision made here. Checks in debug builds do not count: they panic, assert or
    /// warn.
    fn chooses_answer(&self, past: usize) -> bool {
        let Some(open) = (past..self.item.end).find(|at| self.text(*at) == "{") else { return false };
        let mut branches = open..past_group(self.file, open, self.item.end);
        let has_else = self.text(branches.end) == "else";
        if has_else {
            branches.end = past_group(self.file, branches.end + 1, self.item.end);
        }
        let returns = branches.clone().any(|at| self.text(at) == "return");
        let checks =
            |at: usize| self.text(at) == "unsafe" || self.text(at + 1) == "!" || self.text(at).contains("assert");
        (has_else || returns) && !branches.into_iter().any(checks)
    }

    /// A `cfg` attribute that removes an item in tests or, inside a function, one that depends on tests.
    fn attribute(&self, at: usize, label: &str) -> Option<String> {
        let past = past_group(self.file, at + 1, self.item.end);
        let tokens: Vec<&str> = (at + 2..past.saturating_sub(1)).map(|at| self.text(at)).collect();
        if tokens.first() != Some(&"cfg") || !depends_on_tests(&tokens[1..]) {
            return None;
        }
        let spelled = format!("`#[{}]`", tokens.concat());
        if self.is_inside(at) {
            return label.starts_with("fn ").then_some(spelled);
        }
        let absent = holds(&tokens[1..], true) == Truth::No;
        let is_runtime = self.item.clone().take(60).any(|at| RUNTIME.contains(&self.text(at)));
        (absent && !is_runtime).then_some(spelled)
    }

    /// Whether a token is after the item's leading attributes.
    fn is_inside(&self, at: usize) -> bool {
        let mut next = self.item.start;
        while self.text(next) == "#" {
            next = past_group(self.file, next + 1, self.item.end);
        }
        at >= next
    }

    fn thread_name(&self, at: usize) -> Option<String> {
        let names = self.text(at + 1) == "(" && self.text(at + 3) == "." && self.text(at + 4) == "name";
        let by_variable = self.text(at + 1) == "(" && self.path_of(at) == "thread" && self.calls("name");
        ((names || by_variable) && self.decides()).then(|| "the name of its thread".to_owned())
    }

    fn variable(&self, at: usize) -> Option<String> {
        let argument = self.text(at + 2);
        let name = literal(&argument)?;
        VARIABLES.iter().any(|start| name.starts_with(start)).then(|| format!("the variable `{name}`"))
    }

    fn own_process(&self, at: usize) -> Option<String> {
        let text = self.text(at);
        let is_text = self.file.kind(at) == "string_literal";
        let path = OWN_PROCESS.iter().find(|path| is_text && text.contains(*path))?;
        Some(format!("`{path}`"))
    }

    /// The last part of the path before a name: `env` in `std::env::var`.
    fn path_of(&self, at: usize) -> &str {
        if before(self.file, at) == "::" { at.checked_sub(2).map_or("", |at| self.text(at)) } else { "" }
    }

    fn has(&self, word: &str) -> bool {
        self.item.clone().any(|at| self.text(at) == word)
    }

    fn calls(&self, method: &str) -> bool {
        self.item.clone().any(|at| self.text(at) == method && before(self.file, at) == "." && self.text(at + 1) == "(")
    }

    /// Whether the item compares something or searches a text.
    fn decides(&self) -> bool {
        let by_pattern = |at: usize| self.text(at) == "Some" && self.file.kind(at + 2) == "string_literal";
        self.item.clone().any(|at| DECIDING.contains(&self.text(at)) || by_pattern(at))
    }

    /// The first of the item's string literals that contains one of these traces.
    fn names(&self, traces: &[&str]) -> Option<String> {
        let texts = self.item.clone().filter(|at| self.file.kind(*at) == "string_literal");
        let mut values = texts.filter_map(|at| literal(&self.text(at)));
        values.find(|value| traces.iter().any(|trace| value.split(['/', '\\']).any(|part| part == *trace)))
    }

    fn text(&self, at: usize) -> &str {
        self.file.text(at)
    }
}

/// Whether this condition, in parentheses, has another value in a test build.
fn depends_on_tests(condition: &[&str]) -> bool {
    condition.contains(&"test") && holds(condition, true) != holds(condition, false)
}

fn holds(condition: &[&str], in_tests: bool) -> Truth {
    let tokens: Vec<&str> = ["cfg"].into_iter().chain(condition.iter().copied()).collect();
    Attribute::read(&tokens).first().map_or(Truth::Unknown, |attribute| attribute.holds(in_tests))
}
