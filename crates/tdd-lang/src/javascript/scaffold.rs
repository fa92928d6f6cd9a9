//! Lays out a new JavaScript project with nothing in it yet, ready for its first test.

use std::collections::BTreeMap;

/// What a name begins with that could not stand by itself.
const PREFIX: &str = "kata";

/// No package needs a longer name than this.
const LONGEST: usize = 64;

// Without a slash at its end, so that a link of that name is ignored as well.
const IGNORED: &str = "node_modules\ncoverage/\ndist/\n*.tsbuildinfo\n.env\n";

/// What a new configuration spells out. The package says which runner it is; check and format take what is there.
pub const COMMANDS: &str = "  test_cmd: [\"npm\", \"test\"]\n";

/// The files of a new project, by path: an ESM package that node's own runner tests, so that nothing must be
/// installed.
pub fn scaffold(name: &str) -> BTreeMap<String, String> {
    let manifest = format!(
        "{{\n  \"name\": \"{name}\",\n  \"version\": \"0.1.0\",\n  \"private\": true,\n  \"type\": \"module\",\n  \
         \"scripts\": {{\n    \"test\": \"node --test\"\n  }},\n  \"engines\": {{\n    \"node\": \">=20\"\n  }}\n}}\n"
    );
    let files = [
        ("package.json", manifest),
        // Git keeps no empty folder.
        ("test/.gitkeep", String::new()),
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
    let stands_alone = name.starts_with(|c: char| c.is_ascii_lowercase()) && name != "node" && name != "test";
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
        assert!(serde_json::from_str::<serde_json::Value>(&scaffold("bowling")["package.json"]).is_ok());
    }

    #[test]
    fn a_folder_gives_a_legal_name() {
        for (folder, name) in
            [("Bowling Game", "bowling-game"), ("7 wonders", "kata-7-wonders"), ("_", "kata"), ("test", "kata-test")]
        {
            assert_eq!(package_name(folder), name);
        }
    }
}
