//! The patterns by which pytest finds tests: its defaults, or those that the project configures.

use toml::{Table, Value};

use crate::item::TestItem;
use crate::language::{Project, Sources, join};

/// Files that may configure pytest, in order of precedence, each with the section for pytest.
const CONFIGURING: [(&str, &str); 7] = [
    ("pytest.toml", "pytest"),
    (".pytest.toml", "pytest"),
    ("pytest.ini", "pytest"),
    (".pytest.ini", "pytest"),
    ("pyproject.toml", "tool.pytest"),
    ("tox.ini", "pytest"),
    ("setup.cfg", "tool:pytest"),
];

/// Words in the names of folders that hold only tests, if `testpaths` lists the folder.
const TELLING: [&str; 7] = ["test", "spec", "check", "unit", "integration", "functional", "acceptance"];

/// Patterns for the names of tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Names {
    root: String,
    files: Vec<String>,
    classes: Vec<String>,
    functions: Vec<String>,
    folders: Vec<String>,
}

impl Default for Names {
    fn default() -> Self {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Self {
            root: String::new(),
            files: owned(&["test_*.py", "*_test.py", "tests.py"]),
            classes: owned(&["Test"]),
            functions: owned(&["test"]),
            folders: Vec::new(),
        }
    }
}

/// Whether a project configures or requires pytest.
pub(super) fn names_pytest(project: &Project, sources: &dyn Sources) -> bool {
    let says = |name: &str| sources.read(&join(&project.root, name)).is_some_and(|text| text.contains("pytest"));
    CONFIGURING.iter().any(|(name, _)| says(name)) || ["requirements.txt", "requirements-dev.txt"].into_iter().any(says)
}

impl Names {
    /// The patterns of a project.
    pub fn of(project: &Project, sources: &dyn Sources) -> Self {
        let mut names = Self { root: project.root.clone(), ..Self::default() };
        let read = |(name, section): &(&str, &str)| options(&sources.read(&join(&project.root, name))?, name, section);
        let Some(configured) = CONFIGURING.iter().find_map(read) else { return names };
        let value = |key: &str| configured.iter().find(|(name, _)| name == key).map(|(_, words)| words.clone());
        // A file with a default name is for tests even if other patterns are configured.
        names.files.extend(value("python_files").unwrap_or_default());
        names.classes = value("python_classes").unwrap_or(names.classes);
        names.functions = value("python_functions").unwrap_or(names.functions);
        let is_telling = |path: &String| {
            let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path).to_lowercase();
            TELLING.iter().any(|part| last.contains(part))
        };
        names.folders = value("testpaths").unwrap_or_default().into_iter().filter(is_telling).collect();
        names
    }

    /// Patterns by which this test and similar ones count as tests.
    pub fn like(path: &str, test: &TestItem) -> Self {
        let own = test.name.rsplit("::").next().unwrap_or(&test.name);
        let mut names = Self::default();
        names.files.push(path.to_owned());
        if !own.starts_with("test") {
            names.functions.push(own.split_inclusive('_').next().unwrap_or(own).to_owned());
        }
        names.classes.extend(test.name.split("::").filter(|part| *part != own).map(str::to_owned));
        names
    }

    /// Whether pytest looks for tests in this file, or the file is in a test folder.
    pub fn is_test_file(&self, path: &str) -> bool {
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        let matches = |pattern: &String| {
            let of_path = || is_like(pattern, path) || is_like(&format!("*/{pattern}"), path);
            if pattern.contains('/') { of_path() } else { is_like(pattern, name) }
        };
        super::owns(path) && (self.files.iter().any(matches) || self.is_test_folder(folders))
    }

    /// Whether one of these folders is for tests.
    pub fn is_test_folder(&self, folders: &str) -> bool {
        let usual = ["tests", "test", "testdata", "fixtures", "__snapshots__"];
        let is_below = |folder: &String| {
            let folder = join(&self.root, folder.trim_start_matches("./").trim_end_matches('/'));
            folders.strip_prefix(&folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        folders.split('/').any(|folder| usual.contains(&folder)) || self.folders.iter().any(is_below)
    }

    /// Whether pytest treats a function with this name as a test.
    pub fn is_function(&self, name: &str) -> bool {
        self.functions.iter().any(|pattern| begins_like(pattern, name))
    }

    /// Whether pytest looks for tests in a class with this name.
    pub fn is_class(&self, name: &str) -> bool {
        self.classes.iter().any(|pattern| begins_like(pattern, name))
    }
}

/// The pytest options in a file, each value split into words; `None` if the file does not configure pytest.
fn options(text: &str, name: &str, section: &str) -> Option<Vec<(String, Vec<String>)>> {
    if name.rsplit_once('.').is_some_and(|(_, ending)| ending == "toml") {
        let table = text.parse::<Table>().ok()?;
        let found = section.split('.').try_fold(&table, |table, key| table.get(key)?.as_table())?;
        let found = found.get("ini_options").and_then(Value::as_table).unwrap_or(found);
        return Some(found.iter().map(|(key, value)| (key.clone(), words(value))).collect());
    }
    let head = format!("[{section}]");
    let mut lines = text.lines().skip_while(|line| line.trim() != head);
    lines.next().or_else(|| (section == "pytest" && name.ends_with("pytest.ini")).then_some(""))?;
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for line in lines.take_while(|line| !line.starts_with('[')) {
        let plain = line.split(" #").next().unwrap_or(line);
        let more = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        match (line.starts_with([' ', '\t']), plain.split_once('='), found.last_mut()) {
            _ if line.trim_start().starts_with(['#', ';']) => {}
            (true, _, Some((_, known))) => known.extend(more(plain)),
            (false, Some((key, value)), _) => found.push((key.trim().to_owned(), more(value))),
            _ => {}
        }
    }
    Some(found)
}

fn words(value: &Value) -> Vec<String> {
    match value {
        Value::Array(list) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Value::String(text) => text.split_whitespace().map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// Whether a name matches a pattern; a pattern without wildcards is a prefix.
fn begins_like(pattern: &str, name: &str) -> bool {
    if pattern.contains(['*', '?', '[']) { is_like(pattern, name) } else { name.starts_with(pattern) }
}

/// Whether a text matches a pattern, in which `*` is any text, `?` one character, and `[…]` one of a set.
fn is_like(pattern: &str, text: &str) -> bool {
    let (mut left, mut over) = (pattern.chars(), text.chars());
    let Some(wanted) = left.next() else { return text.is_empty() };
    if wanted == '*' {
        let rest = left.as_str();
        return text.char_indices().any(|(at, _)| is_like(rest, &text[at..])) || is_like(rest, "");
    }
    let Some(found) = over.next() else { return false };
    let fits = match wanted {
        '?' => true,
        '[' => match left.as_str().split_once(']') {
            Some((set, rest)) => {
                left = rest.chars();
                is_among(set, found)
            }
            None => found == '[',
        },
        wanted => wanted == found,
    };
    fits && is_like(left.as_str(), over.as_str())
}

/// Whether a character is one of a set: `abc`, `a-z`, `!abc`.
fn is_among(set: &str, found: char) -> bool {
    let (set, wanted) = set.strip_prefix('!').map_or((set, true), |rest| (rest, false));
    let members: Vec<char> = set.chars().collect();
    let in_range = members.windows(3).any(|three| three[1] == '-' && (three[0]..=three[2]).contains(&found));
    (members.contains(&found) || in_range) == wanted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;

    fn of(files: &[(&str, &str)]) -> Names {
        Names::of(&Project { root: String::new(), description: String::new() }, &memory(files))
    }

    #[test]
    fn a_file_is_known_by_its_name_or_its_folder() {
        let names = Names::default();
        for path in ["test_a.py", "src/a_test.py", "tests/helpers.py", "pkg/tests/x/y.py", "app/tests.py"] {
            assert!(names.is_test_file(path), "{path}");
        }
        for path in ["a.py", "testing.py", "contest.py", "tests/data.json", "src/latest.py"] {
            assert!(!names.is_test_file(path), "{path}");
        }
    }

    #[test]
    fn other_names_are_read_wherever_pytest_reads_them() {
        let ini = "python_files = check_*.py\n    spec_?.py # more\npython_classes = *Spec\npython_functions = check it_\ntestpaths = specs src\n";
        for (name, text) in [
            ("pytest.ini", format!("[pytest]\n{ini}")),
            ("tox.ini", format!("[tox]\nx = 1\n[pytest]\n; no\n{ini}\n[other]\npython_functions = no\n")),
            ("setup.cfg", format!("[tool:pytest]\n{ini}")),
            (
                "pyproject.toml",
                "[tool.pytest.ini_options]\npython_files = [\"check_*.py\", \"spec_?.py\"]\npython_classes = \"*Spec\"\npython_functions = [\"check\", \"it_\"]\ntestpaths = [\"specs\", \"src\"]\n".to_owned(),
            ),
        ] {
            let names = of(&[(name, &text)]);
            for path in ["check_a.py", "src/spec_b.py", "specs/helpers.py", "specs/deep/x.py", "test_a.py"] {
                assert!(names.is_test_file(path), "{name}: {path}");
            }
            assert!(!names.is_test_file("src/shop.py") && !names.is_test_file("src/specs.py"), "{name}");
            assert!(names.is_function("check_adds") && names.is_function("it_adds") && !names.is_function("test_a"));
            assert!(names.is_class("CalcSpec") && !names.is_class("TestCalc"), "{name}");
        }
    }

    #[test]
    fn patterns_are_those_of_a_shell() {
        for (pattern, text, expected) in [
            ("test_*.py", "test_.py", true),
            ("test_*.py", "test_a.pyc", false),
            ("*_[ab]?", "x_a1", true),
            ("*_[!a-c]", "x_b", false),
            ("*_[!a-c]", "x_d", true),
            ("a*b*c", "aXbYbc", true),
            ("", "a", false),
        ] {
            assert_eq!(is_like(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn a_file_that_says_nothing_to_pytest_is_passed_over() {
        let names =
            of(&[("pyproject.toml", "[project]\nname = \"x\"\n"), ("tox.ini", "[pytest]\npython_functions = x\n")]);
        assert!(names.is_function("x") && !names.is_function("test"));
        assert!(of(&[("setup.cfg", "[metadata]\nname = x\n")]).is_function("test"));
    }
}
