//! Lays out a new JavaScript project with nothing in it yet, ready for its first test.

use std::collections::BTreeMap;

use super::JavaScript;

/// What a name begins with that could not stand by itself.
const PREFIX: &str = "kata";

/// No package needs a longer name than this.
const LONGEST: usize = 64;

// Without a slash at its end, so that a link of that name is ignored as well.
const IGNORED: &str = "node_modules\ncoverage/\ndist/\n*.tsbuildinfo\n.env\n";

/// What a new configuration spells out. The package says which runner it is; check and format take what is there.
pub const COMMANDS: &str = "  test_cmd: [\"npm\", \"test\"]\n";

/// How types are checked: as node strips them, so that what passes here runs there.
const TYPES: &str = r#"{
  "compilerOptions": {
    "target": "esnext",
    "module": "nodenext",
    "noEmit": true,
    "strict": true,
    "noUncheckedIndexedAccess": true,
    "erasableSyntaxOnly": true,
    "verbatimModuleSyntax": true,
    "allowImportingTsExtensions": true,
    "skipLibCheck": true
  },
  "include": ["src", "test"]
}
"#;

/// The packages that check the types; node itself runs the tests.
const CHECKERS: &str = "  \"devDependencies\": {\n    \"@types/node\": \"^24\",\n    \"typescript\": \"^5.8\"\n  },\n";

/// The files of a new project, by path: an ESM package that node's own runner tests, so that nothing must be
/// installed.
pub fn scaffold(name: &str, language: JavaScript) -> BTreeMap<String, String> {
    let (packages, node) = match language {
        JavaScript::Plain => ("", "20"),
        JavaScript::Typed => (CHECKERS, "22.18"),
    };
    let manifest = format!(
        "{{\n  \"name\": \"{name}\",\n  \"version\": \"0.1.0\",\n  \"private\": true,\n  \"type\": \"module\",\n  \
         \"scripts\": {{\n    \"test\": \"node --test\"\n  }},\n{packages}  \"engines\": {{\n    \"node\": \">={node}\"\n  }}\n}}\n"
    );
    let files = [
        ("package.json", manifest),
        // Git keeps no empty folder.
        ("test/.gitkeep", String::new()),
        (".gitignore", IGNORED.to_owned()),
    ];
    let types = (language == JavaScript::Typed).then(|| ("tsconfig.json", TYPES.to_owned()));
    files.into_iter().chain(types).map(|(path, text)| (path.to_owned(), text)).collect()
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
    use crate::language::Language as _;

    #[test]
    fn a_new_project_is_recognised_and_has_nothing_to_test() {
        for language in [JavaScript::Plain, JavaScript::Typed] {
            let files = scaffold("bowling", language);
            let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
            let sources = memory(&files);
            let project = detect(&sources).unwrap();
            assert_eq!((project.root.as_str(), production_without_tests(&sources, &project)), ("", false));
            assert_eq!(crate::detect(&sources).unwrap().name(), language.name());
            for (_, text) in files.iter().filter(|(_, text)| text.starts_with('{')) {
                assert!(serde_json::from_str::<serde_json::Value>(text).is_ok(), "{text}");
            }
        }
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
