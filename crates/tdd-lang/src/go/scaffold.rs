//! Creates an empty Go module, ready for its first test.

use std::collections::BTreeMap;

use crate::scaffold::{LONGEST, PREFIX};

/// Reserved words, and names of standard packages that tests use.
const TAKEN: [&str; 14] = [
    "break", "case", "chan", "const", "default", "func", "go", "import", "main", "map", "package", "test", "testing",
    "type",
];

/// The language version of a new module; every Go that supports our test runs has it.
const VERSION: &str = "1.22";

/// The commands of a new configuration, as YAML lines below `ci:`.
pub const COMMANDS: &str = "  test_cmd: [\"go\", \"test\", \"./...\"]\n  check_cmd: [\"go\", \"vet\", \"./...\"]\n";

/// The files of a new module, by path: one empty package in the root.
pub fn scaffold(name: &str) -> BTreeMap<String, String> {
    let files = [
        ("go.mod".to_owned(), format!("module {name}\n\ngo {VERSION}\n")),
        (format!("{name}.go"), format!("// Package {name} is what the kata asks for.\npackage {name}\n")),
        (".gitignore".to_owned(), "*.test\n*.out\n*.prof\n".to_owned()),
    ];
    files.into_iter().collect()
}

/// A legal package name made from a folder's name.
pub fn package_name(folder: &str) -> String {
    let plain: String = folder.to_lowercase().chars().filter(char::is_ascii_alphanumeric).take(LONGEST).collect();
    let stands_alone = plain.starts_with(|c: char| c.is_ascii_lowercase()) && !TAKEN.contains(&plain.as_str());
    if stands_alone { plain } else { format!("{PREFIX}{plain}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_gives_a_legal_name() {
        for (folder, name) in
            [("Bowling Game", "bowlinggame"), ("7 wonders", "kata7wonders"), ("_", "kata"), ("test", "katatest")]
        {
            assert_eq!(package_name(folder), name);
        }
    }
}
