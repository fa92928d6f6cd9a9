//! Reads the import aliases of a project's files from `tsconfig.json`.

use serde_json::Value;

use super::modules::normal;

/// An alias: prefix and suffix of the imported name, and the path it maps to, with `*` for the part between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Alias {
    start: String,
    /// The text after the star; `None` if there is no star.
    end: Option<String>,
    path: String,
}

impl Alias {
    /// The path that an imported name maps to.
    pub fn path(&self, module: &str) -> Option<String> {
        let rest = module.strip_prefix(&self.start)?;
        let between = match &self.end {
            Some(end) => rest.strip_suffix(end)?,
            None => Some(rest).filter(|rest| rest.is_empty())?,
        };
        Some(self.path.replacen('*', between, 1))
    }
}

/// The aliases in the configuration of this folder.
pub(super) fn aliases(folder: &str, text: &str) -> Vec<Alias> {
    let configuration: Value = serde_json::from_str(&plain(text)).unwrap_or_default();
    let options = &configuration["compilerOptions"];
    let base = normal(folder, options["baseUrl"].as_str().unwrap_or(".")).unwrap_or_default();
    let paths = options["paths"].as_object().into_iter().flatten();
    let mut found: Vec<Alias> = paths
        .filter_map(|(name, paths)| {
            let (start, end) = name.split_once('*').map_or((name.as_str(), None), |(start, end)| (start, Some(end)));
            let path = normal(&base, paths[0].as_str()?)?;
            Some(Alias { start: start.to_owned(), end: end.map(str::to_owned), path })
        })
        // An alias for everything would turn every package into a project file.
        .filter(|alias| !alias.start.is_empty() && alias.path != "*")
        .collect();
    found.sort_by_key(|alias| std::cmp::Reverse(alias.start.len()));
    found
}

/// JSON without comments and trailing commas, which the compiler allows.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '"' => string(rest),
            '/' if rest.starts_with("//") => {
                rest = rest.find('\n').map_or("", |end| &rest[end..]);
                continue;
            }
            '/' if rest.starts_with("/*") => {
                rest = rest.find("*/").map_or("", |end| &rest[end + 2..]);
                continue;
            }
            '}' | ']' => {
                let kept = plain.trim_end().trim_end_matches(',').len();
                plain.truncate(kept);
                1
            }
            _ => c.len_utf8(),
        };
        plain += &rest[..length];
        rest = &rest[length..];
    }
    plain
}

/// The length of the string at the start of the text.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_for_the_path_that_the_compiler_is_told() {
        let text = "{\n  // where things are\n  \"compilerOptions\": {\n    \"baseUrl\": \"./src\", /* here */\n    \"paths\": {\n      \
                    \"@app/*\": [\"app/*\"],\n      \"config\": [\"../config/index\"],\n      \"*\": [\"*\"],\n    },\n  },\n}\n";
        let aliases = aliases("web", text);
        let path = |module: &str| aliases.iter().find_map(|alias| alias.path(module));
        assert_eq!(path("@app/cart").as_deref(), Some("web/src/app/cart"));
        assert_eq!(path("config").as_deref(), Some("web/config/index"));
        assert_eq!((path("lodash"), path("configs")), (None, None));
    }

    #[test]
    fn what_is_no_configuration_has_no_aliases() {
        for text in ["", "{", "{\"compilerOptions\": 1}", "\"//"] {
            assert_eq!(aliases("", text), []);
        }
    }
}
