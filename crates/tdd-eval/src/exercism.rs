//! Reads an exercise in the layout of Exercism's tracks.

use std::path::Path;

use serde::Deserialize;
use tdd_exec::text::{self, TextError};

use crate::folder::{self, Files, MAX_FILE};

/// The file that makes a folder an exercise of Exercism.
pub const CONFIG: &str = ".meta/config.json";

/// The parts of the instructions, in reading order.
const INSTRUCTIONS: [&str; 4] =
    [".docs/introduction.md", ".docs/introduction.append.md", ".docs/instructions.md", ".docs/instructions.append.md"];

#[derive(Deserialize)]
struct Config {
    files: Named,
}

/// The files that the config names. An exemplar is what concept exercises call their example.
#[derive(Deserialize)]
struct Named {
    solution: Vec<String>,
    test: Vec<String>,
    #[serde(default)]
    example: Vec<String>,
    #[serde(default)]
    exemplar: Vec<String>,
    #[serde(default)]
    editor: Vec<String>,
}

/// The instructions, the stub and the hidden tests.
pub fn read(exercise: &Path) -> Result<(String, Files, Files), String> {
    let unusable = |error: TextError| format!("cannot be used: {error}");
    let config = text::read(&exercise.join(CONFIG), MAX_FILE).map_err(unusable)?;
    let config: Config = serde_json::from_str(&config).map_err(|error| format!("has an odd `{CONFIG}`: {error}"))?;
    let mut instructions = Vec::new();
    for part in INSTRUCTIONS {
        match text::read(&exercise.join(part), MAX_FILE) {
            Ok(text) => instructions.push(text.trim().to_owned()),
            Err(TextError::Missing(_)) => {}
            Err(error) => return Err(unusable(error)),
        }
    }
    if instructions.is_empty() {
        return Err("has no instructions in `.docs/`".to_owned());
    }
    let mut files = folder::read(exercise)?;
    files.retain(|path, _| !is_about_exercise(path));
    let named = config.files;
    if let Some(missing) = named.solution.iter().chain(&named.test).find(|path| !files.contains_key(*path)) {
        return Err(format!("lacks `{missing}`, which `{CONFIG}` names"));
    }
    for path in named.example.iter().chain(&named.exemplar) {
        files.remove(path);
    }
    // A read-only file of the editor may hold the cases of the tests.
    let is_test = |path: &String| named.test.contains(path) || (named.editor.contains(path) && path.contains("test"));
    let (mut hidden, stub): (Files, Files) = files.into_iter().partition(|(path, _)| is_test(path));
    for (path, text) in &mut hidden {
        *text = without_skips(path, text);
    }
    Ok((instructions.join("\n\n") + "\n", stub, hidden))
}

/// Whether a file is about the exercise, for its authors and students. Articles and approaches show solutions.
fn is_about_exercise(path: &str) -> bool {
    let folders = [".meta/", ".docs/", ".approaches/", ".articles/"];
    folders.iter().any(|folder| path.starts_with(folder)) || folder::ending(path) == "md"
}

/// Exercism's tests are skipped except for the first, so that students enable them one by one.
fn without_skips(path: &str, text: &str) -> String {
    let lines = text.split_inclusive('\n');
    match folder::ending(path) {
        "rs" => rust_tests(text),
        "py" => lines.filter(|line| !line.trim_start().starts_with("@unittest.skip(")).collect(),
        "js" | "ts" | "jsx" | "tsx" => lines.map(run_in_javascript).collect::<Vec<_>>().concat(),
        _ => text.to_owned(),
    }
}

fn run_in_javascript(line: &str) -> String {
    let bare = line.trim_start();
    let indent = &line[..line.len() - bare.len()];
    let is_skipped = ["xtest(", "xit(", "xdescribe("].iter().any(|skip| bare.starts_with(skip));
    format!("{indent}{}", if is_skipped { &bare[1..] } else { bare })
}

/// Rust tests without `#[ignore]`, and without items of a feature, which nobody enables. The tests are formatted: an item
/// ends with a `}` below its beginning.
fn rust_tests(text: &str) -> String {
    let mut kept = String::new();
    let mut attributes = Vec::new();
    let mut lines = text.split_inclusive('\n');
    while let Some(line) = lines.next() {
        if line.trim_start().starts_with("#[") {
            attributes.push(line);
            continue;
        }
        let of_feature = attributes.iter().any(|attribute| attribute.trim_start().starts_with("#[cfg(feature"));
        if of_feature {
            attributes.clear();
            let end = format!("{}}}", &line[..line.len() - line.trim_start().len()]);
            if line.trim_end().ends_with('{') {
                let _rest = lines.by_ref().find(|line| line.trim_end() == end);
            }
            continue;
        }
        kept.extend(attributes.drain(..).filter(|attribute| attribute.trim() != "#[ignore]"));
        kept += line;
    }
    kept.extend(attributes);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exercise::Exercise;

    fn exercise(files: &[(&str, &str)]) -> Result<Exercise, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("leap");
        std::fs::create_dir(&path).unwrap();
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        folder::write(&path, &files).unwrap();
        Exercise::read(&path)
    }

    const PYTHON: [(&str, &str); 5] = [
        (CONFIG, r#"{"files": {"solution": ["leap.py"], "test": ["leap_test.py"], "example": [".meta/example.py"]}}"#),
        (".meta/example.py", "def leap_year(year):\n    return True\n"),
        (".docs/instructions.md", "# Instructions\n\nTell leap years.\n"),
        ("leap.py", "def leap_year(year):\n    pass\n"),
        ("leap_test.py", "from leap import leap_year\n\ndef test_it():\n    assert leap_year(4)\n"),
    ];

    #[test]
    fn an_exercise_in_python_is_read_without_its_example() {
        let found = exercise(&PYTHON).unwrap();
        assert_eq!((found.language, found.instructions.as_str()), ("python", "# Instructions\n\nTell leap years.\n"));
        assert_eq!(found.stub.keys().collect::<Vec<_>>(), ["leap.py"]);
        assert_eq!(found.hidden.keys().collect::<Vec<_>>(), ["leap_test.py"]);
        assert_eq!(found.solution_files(), ["leap.py"]);
    }

    #[test]
    fn articles_and_approaches_are_left_out_because_they_show_solutions() {
        let articles = [
            (".articles/performance/code/Benchmark.py", "def leap_year(year):\n    return year % 4 == 0\n"),
            (".approaches/modulo/snippet.txt", "def leap_year(year):\n    return year % 4 == 0\n"),
        ];
        let found = exercise(&[&PYTHON[..], &articles[..]].concat()).unwrap();
        assert_eq!(found.stub.keys().collect::<Vec<_>>(), ["leap.py"]);
    }

    #[test]
    fn an_exercise_in_rust_keeps_its_manifest_and_runs_all_of_its_tests() {
        let config = r#"{"files": {"solution": ["src/lib.rs", "Cargo.toml"], "test": ["tests/leap.rs"]}}"#;
        let manifest = "[package]\nname = \"leap\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
        let tests = "#[test]\nfn a() {}\n\n#[test]\n#[ignore]\nfn b() {}\n";
        let found = exercise(&[
            (CONFIG, config),
            (".docs/introduction.md", "Years.\n"),
            (".docs/instructions.md", "Leap.\n"),
            (".docs/instructions.append.md", "In Rust.\n"),
            ("Cargo.toml", manifest),
            ("src/lib.rs", "pub fn is_leap_year(year: u64) -> bool {\n    todo!()\n}\n"),
            ("tests/leap.rs", tests),
        ])
        .unwrap();
        assert_eq!(found.instructions, "Years.\n\nLeap.\n\nIn Rust.\n");
        assert!(found.has_manifest());
        assert_eq!(found.solution_files(), ["src/lib.rs"]);
        assert_eq!(found.hidden["tests/leap.rs"], "#[test]\nfn a() {}\n\n#[test]\nfn b() {}\n");
    }

    #[test]
    fn what_is_missing_is_named() {
        let without = |path: &str| {
            let files: Vec<_> = PYTHON.into_iter().filter(|(name, _)| *name != path).collect();
            exercise(&files).unwrap_err()
        };
        assert_eq!(without("leap.py"), "lacks `leap.py`, which `.meta/config.json` names");
        assert_eq!(without(".docs/instructions.md"), "has no instructions in `.docs/`");
        let odd = exercise(&[(CONFIG, "{}")]).unwrap_err();
        assert!(odd.starts_with("has an odd `.meta/config.json`"), "{odd}");
    }

    #[test]
    fn tests_of_a_rust_feature_are_left_out() {
        let text = "#[cfg(feature = \"io\")]\nuse std::io;\nuse a::f;\n\n#[test]\n#[ignore]\n#[cfg(feature = \"io\")]\n\
                    fn x() {\n    if f() {\n    }\n}\n\nmod m {\n    #[cfg(feature = \"io\")]\n    mod io {\n        fn y() {\n        \
                    }\n    }\n\n    #[test]\n    #[ignore]\n    fn z() {}\n}\n";
        assert_eq!(without_skips("a.rs", text), "use a::f;\n\n\nmod m {\n\n    #[test]\n    fn z() {}\n}\n");
    }

    #[test]
    fn skipped_tests_of_javascript_and_python_are_run() {
        let python = "    @unittest.skip(\"extra-credit\")\n    def test_a(self):\n";
        assert_eq!(without_skips("a_test.py", python), "    def test_a(self):\n");
        let text = "describe('x', () => {\n  test('a', f);\n  xtest('b', f);\n});\n";
        assert_eq!(without_skips("x.spec.js", text), text.replace("xtest", "test"));
        assert_eq!(without_skips("x_test.py", "#[ignore]\n"), "#[ignore]\n");
    }
}
