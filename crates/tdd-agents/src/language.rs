//! What prompts say about each language: where tests and code go, and one small example.

use serde_json::Value;
use tdd_core::cycle::Phase;

use crate::part::Part;

/// A prompt's words about one language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Notes {
    name: &'static str,
    title: &'static str,
    places: &'static str,
    test_place: &'static str,
    test: (&'static str, &'static str),
    code: (&'static str, &'static str),
    /// An example replacement that a refactorer could make.
    better: (&'static str, &'static str),
}

const RUST: Notes = Notes {
    name: "rust",
    title: "Rust",
    places: "Where things go: tests in `tests/<topic>.rs`, which begin with `use <crate>::…;` (the package's name, \
             with `_` for `-`), each with `#[test]`. Production code in `src/lib.rs` and in modules that it declares; \
             what tests use is `pub`.",
    test_place: "It goes into a file `tests/<topic>.rs`. Leave `src/` as it is.",
    test: (
        "tests/leap.rs",
        "use calendar::is_leap;\n\n#[test]\nfn a_year_that_four_divides_is_leap() {\n    assert!(is_leap(2024));\n}\n",
    ),
    code: ("src/lib.rs", "pub fn is_leap(year: u32) -> bool {\n    year % 4 == 0\n}\n"),
    better: ("let y = year % 4;\n    y == 0", "year % 4 == 0"),
};

const PYTHON: Notes = Notes {
    name: "python",
    title: "Python",
    places: "Where things go: tests in `tests/test_<topic>.py`, which begin with `from <module> import …`, each a function \
             `test_…` with plain `assert`s, run by pytest. Production code in modules beside `tests/`, importable by \
             their names, or in the package that is there. Leave `conftest.py`, `pyproject.toml` and other configuration \
             as they are; put a fixture into the file of its test.",
    test_place: "It goes into a file `tests/test_<topic>.py`. Leave all other modules as they are.",
    test: (
        "tests/test_leap.py",
        "from leap import is_leap\n\n\ndef test_a_year_that_four_divides_is_leap():\n    assert is_leap(2024) is True\n",
    ),
    code: ("leap.py", "def is_leap(year):\n    return year % 4 == 0\n"),
    better: ("y = year % 4\n    return y == 0", "return year % 4 == 0"),
};

const GO: Notes = Notes {
    name: "go",
    title: "Go",
    places: "Where things go: tests in `<topic>_test.go` beside the code that they test, in the same package (the \
             name in the other files of the folder), each a function `func Test…(t *testing.T)` that compares with \
             `if` and fails with `t.Errorf` or `t.Fatalf`; cases that differ in values only may be rows of one table. \
             Production code in files without `_test`, in packages of this module, with nothing but the standard \
             library. Leave `go.mod` as it is, and write no `TestMain`, no `init` in test files and no build \
             constraints.",
    test_place: "It goes into a file `<topic>_test.go` beside the code. Leave all files without `_test` as they are.",
    test: (
        "leap_test.go",
        "package calendar\n\nimport \"testing\"\n\nfunc TestAYearThatFourDividesIsLeap(t *testing.T) {\n\tif !IsLeap(2024) {\n\t\tt.Error(\"2024 is a leap year\")\n\t}\n}\n",
    ),
    code: (
        "leap.go",
        "package calendar\n\n// IsLeap tells whether a year is a leap year.\nfunc IsLeap(year int) bool {\n\treturn year%4 == 0\n}\n",
    ),
    better: ("y := year % 4\n\treturn y == 0", "return year%4 == 0"),
};

const JAVASCRIPT: Notes = Notes {
    name: "javascript",
    title: "JavaScript",
    places: "Where things go: tests in `test/<topic>.test.js` (or beside the code, as the tests that are there), which import \
             what they test by its path (`import { … } from '../src/<module>.js';`), and are written for the runner that \
             `package.json` names: `import { test } from 'node:test';` with `import assert from 'node:assert/strict';` for \
             `node --test`, `import { expect, test } from 'vitest';` for vitest, globals for jest. No `.only`, no `.skip`, no snapshot without its value. \
             Production code in `src/`, as ES modules if `package.json` has `\"type\": \"module\"`; what tests use is \
             exported. Leave `package.json` and all configuration as they are.",
    test_place: "It goes into a file `test/<topic>.test.js`, or beside the tests that are there. Leave `src/` as it is.",
    test: (
        "test/leap.test.js",
        "import { test } from 'node:test';\nimport assert from 'node:assert/strict';\n\nimport { isLeap } from '../src/leap.js';\n\n\
         test('a year that four divides is leap', () => {\n  assert.equal(isLeap(2024), true);\n});\n",
    ),
    code: ("src/leap.js", "export function isLeap(year) {\n  return year % 4 === 0;\n}\n"),
    better: ("const y = year % 4;\n  return y === 0;", "return year % 4 === 0;"),
};

const TYPESCRIPT: Notes = Notes {
    name: "typescript",
    title: "TypeScript",
    places: "Where things go: tests in `test/<topic>.test.ts` (or beside the code, as the tests that are there), which import \
             what they test by its path, and are written for the runner that `package.json` names: \
             `import { test } from 'node:test';` with `import assert from 'node:assert/strict';` for `node --test`, where every \
             import of a file ends in `.ts` (`import { … } from '../src/<module>.ts';`) and types are erased, so no `enum`, no \
             `namespace`, no parameter properties; `import { expect, test } from 'vitest';` for vitest; globals for jest. No \
             `.only`, no `.skip`, no `any`, no snapshot without its value. Production code in `src/`, as ES modules; what tests use is exported, and imports \
             of types say `import type`. Leave `package.json`, `tsconfig.json` and all configuration as they are.",
    test_place: "It goes into a file `test/<topic>.test.ts`, or beside the tests that are there. Leave `src/` as it is.",
    test: (
        "test/leap.test.ts",
        "import { test } from 'node:test';\nimport assert from 'node:assert/strict';\n\nimport { isLeap } from '../src/leap.ts';\n\n\
         test('a year that four divides is leap', () => {\n  assert.equal(isLeap(2024), true);\n});\n",
    ),
    code: ("src/leap.ts", "export function isLeap(year: number): boolean {\n  return year % 4 === 0;\n}\n"),
    better: ("const y = year % 4;\n  return y === 0;", "return year % 4 === 0;"),
};

const OTHER: Notes = Notes {
    name: "",
    title: "",
    places: "Where things go: look at the files that are there, and put tests beside the existing tests and production \
             code beside the existing code, named as those are.",
    test_place: "Change test files only.",
    test: ("tests/<a test file>", "<the whole text of the file>\n"),
    code: ("<a source file>", "<the whole text of the file>\n"),
    better: ("<a text that occurs there once>", "<what takes its place>"),
};

/// The language's display name.
pub fn title(language: &str) -> &str {
    let notes = notes(language);
    if notes.title.is_empty() { language } else { notes.title }
}

/// Where tests and code go.
pub fn places(language: &str) -> &'static str {
    notes(language).places
}

/// Where a new test goes, as a request to put it there.
pub fn test_place(language: &str) -> &'static str {
    notes(language).test_place
}

/// The file for the tests of a module; `None` if the language has no usual place.
pub fn test_path(language: &str, module: &str) -> Option<String> {
    let (path, _) = notes(language).test;
    path.contains("leap").then(|| path.replace("leap", module))
}

/// An example answer for a part, taken from an unrelated project.
pub fn example(language: &str, part: Part) -> String {
    let notes = notes(language);
    let upsert = |(path, content): (&str, &str)| {
        format!("{{\"path\": {}, \"action\": \"upsert\", \"content\": {}}}", quoted(path), quoted(content))
    };
    let words = |summary: &str, why: &str| format!("\"summary\": {}, \"rationale\": {}", quoted(summary), quoted(why));
    let (edit, words) = match part.phase {
        Phase::Red => (upsert(notes.test), words("pin the plain leap year", "The kata begins with it.")),
        Phase::Green => {
            let fields = words("tell leap years by four", "The test asks for no more.");
            (upsert(notes.code), format!("{fields}, \"commit_message\": \"feat: tell leap years by four\""))
        }
        Phase::Refactor => {
            let ((find, content), path) = (notes.better, quoted(notes.code.0));
            let texts = format!("\"find\": {}, \"content\": {}", quoted(find), quoted(content));
            let edit = format!("{{\"path\": {path}, \"action\": \"replace\", {texts}}}");
            (edit, words("say it in one expression", "The name said nothing."))
        }
        Phase::RethinkTest => {
            let fields = words("take a year that four divides", "2023 is none.");
            let why = "\"reason\": \"the test had 2023 as a leap year\", \"spec_source\": \"every fourth year is one\"";
            (upsert(notes.test), format!("{fields}, {why}"))
        }
    };
    format!("{{{words}, \"edits\": [{edit}]}}")
}

/// The example answer as fenced blocks.
pub fn files_example(language: &str, part: Part) -> String {
    let fields = match part.phase {
        Phase::Red => "summary: pin the plain leap year\nrationale: The kata begins with it.",
        Phase::Green => "summary: tell leap years by four\nrationale: The test asks for no more.",
        Phase::Refactor => "summary: say it in one expression\nrationale: The name said nothing.",
        Phase::RethinkTest => {
            "summary: take a year that four divides\nreason: the test had 2023 as a leap year\n\
             spec_source: every fourth year is one"
        }
    };
    code_example(language, part) + fields
}

/// The fenced block of an example answer.
pub fn code_example(language: &str, part: Part) -> String {
    let notes = notes(language);
    let (path, code) = match part.phase {
        Phase::Red | Phase::RethinkTest => notes.test,
        Phase::Green | Phase::Refactor => notes.code,
    };
    format!("{path}\n```{}\n{code}```\n", notes.name)
}

fn notes(language: &str) -> Notes {
    [RUST, PYTHON, JAVASCRIPT, TYPESCRIPT, GO].into_iter().find(|notes| notes.name == language).unwrap_or(OTHER)
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{files, reply};

    #[test]
    fn every_example_is_an_answer_that_we_would_take() {
        for language in ["rust", "python", "javascript", "typescript", "go", "cobol"] {
            for phase in Phase::ALL {
                let part = Part::of(phase);
                let plan = reply::read(&example(language, part)).unwrap();
                assert_eq!(plan.edits.len(), 1);
                assert_eq!(plan.reason.is_empty(), phase != Phase::RethinkTest);
                let answer = files::read(&files_example(language, part), Some("a")).unwrap();
                assert_eq!(answer.blocks.len(), 1);
                assert_eq!(answer.result.reason.is_empty(), phase != Phase::RethinkTest);
            }
        }
    }

    #[test]
    fn an_unknown_language_keeps_its_name() {
        let titles = ["rust", "python", "javascript", "typescript", "cobol"].map(title);
        assert_eq!(titles, ["Rust", "Python", "JavaScript", "TypeScript", "cobol"]);
    }
}
