//! Creates an empty Python project, ready for its first test.

use std::collections::BTreeMap;

use crate::scaffold::{dashed_name, is_plain};

const IGNORED: &str =
    ".venv\nvenv/\n__pycache__/\n*.pyc\n.pytest_cache/\n.ruff_cache/\n*.egg-info/\nbuild/\ndist/\n.coverage\n";

/// The commands of a new configuration, as YAML lines below `ci:`. The check and format commands are found at run time.
pub const COMMANDS: &str = "  test_cmd: [\"pytest\"]\n";

/// The files of a new project, by path: modules go into the root, where `tests/` can import them.
pub fn scaffold(name: &str) -> BTreeMap<String, String> {
    let manifest = format!(
        "[project]\nname = \"{name}\"\nversion = \"0.1.0\"\nrequires-python = \">=3.9\"\ndependencies = []\n\n\
         [dependency-groups]\ndev = [\"pytest>=7\"]\n\n\
         [tool.pytest.ini_options]\npythonpath = [\".\"]\ntestpaths = [\"tests\"]\n\n\
         [tool.ruff]\nline-length = 100\n\n[tool.ruff.lint]\nselect = [\"E9\", \"F\"]\n"
    );
    let files = [
        ("pyproject.toml", manifest),
        // Git does not keep empty folders.
        ("tests/.gitkeep", String::new()),
        (".gitignore", IGNORED.to_owned()),
    ];
    files.into_iter().map(|(path, text)| (path.to_owned(), text)).collect()
}

/// A legal package name made from a folder's name.
pub fn package_name(folder: &str) -> String {
    dashed_name(folder, is_plain, |_| false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_of_a_new_project_can_be_read() {
        assert!(scaffold("bowling")["pyproject.toml"].parse::<toml::Table>().is_ok());
    }
}
