//! Reads the project's cargo configuration: environment variables for its tests, and whether it sets a `runner`.

use super::places::Places;
use crate::language::Sources;

/// Variables that our commands always set; without `force`, cargo does not override them.
const ALWAYS_SET: [&str; 14] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "TMPDIR",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "LANG",
    "LC_ALL",
    "TERM",
    "NO_COLOR",
    "CARGO_TERM_COLOR",
    "RUST_BACKTRACE",
    "TZ",
];

/// The `[env]` section of the nearest configuration.
pub(crate) fn variables(places: &Places, sources: &dyn Sources) -> Vec<(String, String)> {
    let Some((folder, table)) = files(places, sources).into_iter().next() else {
        return Vec::new();
    };
    let entries = table.get("env").and_then(toml::Value::as_table).cloned().unwrap_or_default();
    let counts = |(name, value): &(String, toml::Value)| is_on(value, "force") || !ALWAYS_SET.contains(&name.as_str());
    let counting = entries.into_iter().filter(counts);
    counting.filter_map(|(name, value)| Some((name, variable(&value, places, folder)?))).collect()
}

fn is_on(value: &toml::Value, key: &str) -> bool {
    value.get(key).and_then(toml::Value::as_bool).unwrap_or_default()
}

fn variable(value: &toml::Value, places: &Places, folder: &str) -> Option<String> {
    let text = value.as_str().or_else(|| value.get("value")?.as_str())?;
    Some(if is_on(value, "relative") { places.absolute_in(folder, text) } else { text.to_owned() })
}

/// Whether a `[target.…]` section sets a `runner`.
pub(crate) fn has_runner(places: &Places, sources: &dyn Sources) -> bool {
    files(places, sources).iter().any(|(_, table)| {
        let targets = table.get("target").and_then(toml::Value::as_table);
        targets.is_some_and(|targets| targets.values().any(|target| target.get("runner").is_some()))
    })
}

/// The configurations that cargo reads in the project's folder, nearest first, each with its folder.
fn files<'p>(places: &'p Places, sources: &dyn Sources) -> Vec<(&'p str, toml::Table)> {
    let upwards = std::iter::successors(Some(places.project()), |folder| {
        (!folder.is_empty()).then(|| folder.rsplit_once('/').map_or("", |(outer, _)| outer))
    });
    let read = |folder: &'p str| {
        let text = ["config", "config.toml"].iter().find_map(|name| sources.read(&Places::configuration(folder, name)));
        text.map(|text| (folder, toml::from_str(&text).unwrap_or_default()))
    };
    upwards.filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;

    fn places() -> Places {
        Places::of("/r/a/b", "a/b").unwrap()
    }

    #[test]
    fn a_runner_is_found_in_every_folder_above_the_project() {
        let runner = "[target.'cfg(all())']\nrunner = ['true', 'x']\n";
        for path in ["a/b/.cargo/config.toml", "a/.cargo/config", ".cargo/config.toml"] {
            assert!(has_runner(&places(), &memory(&[(path, runner)])), "{path}");
        }
        assert!(!has_runner(&places(), &memory(&[("a/b/c/.cargo/config.toml", runner)])));
        assert!(!has_runner(&places(), &memory(&[(".cargo/config.toml", "[target.x]\nlinker = 'lld'\n")])));
    }

    #[test]
    fn variables_may_be_relative_to_the_folder_of_the_configuration() {
        let text = "[env]\nA = 'x'\nB = { value = 'y', relative = true }\n";
        let expected = [("A".to_owned(), "x".to_owned()), ("B".to_owned(), "/r/a/y".to_owned())];
        assert_eq!(variables(&places(), &memory(&[("a/.cargo/config.toml", text)])), expected);
    }

    #[test]
    fn what_is_set_already_is_overridden_only_by_force() {
        let text = "[env]\nHOME = '/x'\nPATH = { value = '/y', force = true }\nTZ = { value = 'z', force = false }\n";
        let expected = [("PATH".to_owned(), "/y".to_owned())];
        assert_eq!(variables(&places(), &memory(&[(".cargo/config.toml", text)])), expected);
    }
}
