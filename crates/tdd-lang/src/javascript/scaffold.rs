//! Lays out a new, empty JavaScript project, ready for its first test.

use std::collections::BTreeMap;

use crate::scaffold::{dashed_name, is_plain};

use super::JavaScript;

// No trailing slash, so that a link with that name is ignored too.
const IGNORED: &str = "node_modules\ncoverage/\ndist/\n*.tsbuildinfo\n.env\n";

/// The commands in a new configuration. The package chooses the runner; check and format use what is installed.
pub const COMMANDS: &str = "  test_cmd: [\"npm\", \"test\"]\n";

/// Compiler options that match node's type stripping, so that what passes here runs in node.
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

/// The files of a new project, by path: an ESM package that node's own runner tests, so that nothing must be installed.
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
        // Git does not track empty folders.
        ("test/.gitkeep", String::new()),
        (".gitignore", IGNORED.to_owned()),
    ];
    let types = (language == JavaScript::Typed).then(|| ("tsconfig.json", TYPES.to_owned()));
    files.into_iter().chain(types).map(|(path, text)| (path.to_owned(), text)).collect()
}

/// A valid package name, derived from a folder's name.
pub fn package_name(folder: &str) -> String {
    dashed_name(folder, is_plain, |name| matches!(name, "node" | "test"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_a_new_project_can_be_read() {
        let files = [JavaScript::Plain, JavaScript::Typed].map(|language| scaffold("bowling", language));
        for text in files.iter().flat_map(|files| files.values()).filter(|text| text.starts_with('{')) {
            assert!(serde_json::from_str::<serde_json::Value>(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn no_package_is_called_like_a_tool() {
        assert_eq!(["test", "node"].map(package_name), ["kata-test", "kata-node"]);
    }
}
