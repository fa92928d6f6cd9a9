//! Lays out a new Python project with nothing in it yet, ready for its first test.

use std::collections::BTreeMap;

/// What a name begins with that could not stand by itself.
const PREFIX: &str = "kata";

/// No package needs a longer name than this.
const LONGEST: usize = 64;

const IGNORED: &str =
    ".venv\nvenv/\n__pycache__/\n*.pyc\n.pytest_cache/\n.ruff_cache/\n*.egg-info/\nbuild/\ndist/\n.coverage\n";

/// What a new configuration spells out. Check and format take ruff or black where they are.
pub const COMMANDS: &str = "  test_cmd: [\"pytest\"]\n";

/// The files of a new project, by path: flat, with modules in the root that `tests/` can import.
pub fn scaffold(name: &str) -> BTreeMap<String, String> {
    let manifest = format!(
        "[project]\nname = \"{name}\"\nversion = \"0.1.0\"\nrequires-python = \">=3.9\"\ndependencies = []\n\n\
         [dependency-groups]\ndev = [\"pytest>=7\"]\n\n\
         [tool.pytest.ini_options]\npythonpath = [\".\"]\ntestpaths = [\"tests\"]\n\n\
         [tool.ruff]\nline-length = 100\n\n[tool.ruff.lint]\nselect = [\"E9\", \"F\"]\n"
    );
    let files = [
        ("pyproject.toml", manifest),
        // Git keeps no empty folder.
        ("tests/.gitkeep", String::new()),
        (".gitignore", IGNORED.to_owned()),
    ];
    files.into_iter().map(|(path, text)| (path.to_owned(), text)).collect()
}

/// A legal package name made from a folder's name.
pub fn package_name(folder: &str) -> String {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let plain: String = folder.to_lowercase().chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
    let parts: Vec<&str> = plain.split('-').filter(|part| !part.is_empty()).collect();
    let name = parts.join("-");
    let stands_alone = name.starts_with(|c: char| c.is_ascii_lowercase());
    let name = if stands_alone { name } else { [PREFIX, &name].join("-") };
    let short: String = name.chars().take(LONGEST).collect();
    short.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::project::{detect, production_without_tests};
    use super::*;
    use crate::fixture::memory;

    #[test]
    fn a_new_project_is_recognised_and_has_nothing_to_test() {
        let files = scaffold("bowling");
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let sources = memory(&files);
        let project = detect(&sources).unwrap();
        assert_eq!((project.root.as_str(), production_without_tests(&sources, &project)), ("", false));
        assert!(scaffold("bowling")["pyproject.toml"].parse::<toml::Table>().is_ok());
    }

    #[test]
    fn a_folder_gives_a_legal_name() {
        for (folder, name) in
            [("Bowling Game", "bowling-game"), ("7 wonders", "kata-7-wonders"), ("_", "kata"), ("a__b", "a-b")]
        {
            assert_eq!(package_name(folder), name);
        }
    }
}
