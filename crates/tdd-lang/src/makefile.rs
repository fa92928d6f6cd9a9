//! Reads a Makefile target: if its recipe is one plain command, that test runner can be called directly.

use std::collections::BTreeMap;

use crate::language::{Language, Project, Selection, Settings, Sources, join};
use crate::shell::plain_command;

/// The file names that make looks for, in its order.
const NAMES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];

/// Maximum depth of variables that refer to other variables.
const MAX_DEPTH: usize = 8;

/// The settings with `make` replaced by the runner that its target calls. If no command is configured and the project
/// configures no runner, the target `test` is used.
pub fn read_through(language: &dyn Language, project: &Project, settings: Settings, sources: &dyn Sources) -> Settings {
    let target = match settings.test_cmd.as_deref() {
        _ if settings.junit.is_some() => return settings,
        Some([make, target]) if make == "make" => target.clone(),
        Some(_) => return settings,
        None if language.has_runner(project, sources) => return settings,
        None => "test".to_owned(),
    };
    let Some(command) = find(&project.root, sources).and_then(|(_, text)| command(&text, &target)) else {
        return settings;
    };
    let through = Settings { test_cmd: Some(command), ..settings.clone() };
    let is_known = language.suite(project, &through, Selection::All).is_ok();
    if is_known { through } else { settings }
}

/// The path of the Makefile in a folder, if it has this target.
pub fn with_target(folder: &str, target: &str, sources: &dyn Sources) -> Option<String> {
    let (path, text) = find(folder, sources)?;
    let has_target = logical_lines(&text).iter().filter_map(|line| rule(line)).any(|rule| rule.names(target));
    has_target.then_some(path)
}

/// The recipes of these targets and of all that they need, as one text.
pub(crate) fn recipes(folder: &str, targets: &[&str], sources: &dyn Sources) -> String {
    let Some((_, text)) = find(folder, sources) else { return String::new() };
    let lines = logical_lines(&text);
    let mut wanted: Vec<&str> = targets.to_vec();
    let mut found: Vec<&str> = Vec::new();
    let mut at = 0;
    while let Some(target) = wanted.get(at).copied() {
        for (number, rule) in lines.iter().enumerate().filter_map(|(number, line)| Some((number, rule(line)?))) {
            if rule.names(target) {
                found.extend(rule.recipe);
                found.extend(lines[number + 1..].iter().map(String::as_str).take_while(|line| line.starts_with('\t')));
                wanted.extend(rule.needs.into_iter().filter(|need| !wanted.contains(need)).collect::<Vec<_>>());
            }
        }
        at += 1;
    }
    // A recipe may call make itself, and a variable may hold the script.
    let variables = lines.iter().map(String::as_str).filter(|line| !line.starts_with('\t') && line.contains('='));
    found.into_iter().chain(variables).collect::<Vec<_>>().join("\n")
}

fn find(folder: &str, sources: &dyn Sources) -> Option<(String, String)> {
    NAMES.iter().find_map(|name| {
        let path = join(folder, name);
        sources.read(&path).map(|text| (path, text))
    })
}

/// The only command of a target's recipe; `None` if the target needs more: other targets, a shell, make itself.
fn command(text: &str, target: &str) -> Option<Vec<String>> {
    let lines = logical_lines(text);
    let mut made = lines.iter().enumerate().filter_map(|(at, line)| Some((at, rule(line)?)));
    let mut made = made.by_ref().filter(|(_, rule)| rule.names(target));
    let (at, rule) = made.next()?;
    if made.next().is_some() || !rule.needs.is_empty() {
        return None;
    }
    let below = lines[at + 1..].iter().take_while(|line| line.starts_with('\t') || line.trim().is_empty());
    let below: Vec<&str> = below.map(|line| line.trim()).collect();
    let after = lines.get(at + 1 + below.len()).map_or("", |line| line.trim());
    if ["if", "else", "endif"].iter().any(|word| after.starts_with(word)) {
        return None;
    }
    let variables = variables(&lines);
    let is_command = |line: &&str| !line.is_empty() && !line.starts_with('#') && !line.starts_with("echo ");
    let bare = |line: &&str| line.trim_start_matches(['@', '-', '+', ' ']).to_owned();
    let recipe: Vec<String> = rule.recipe.iter().copied().chain(below).map(|line| bare(&line)).collect();
    let recipe: Vec<&str> = recipe.iter().map(String::as_str).filter(is_command).collect();
    match recipe[..] {
        [only] => plain_command(&expanded(only, &variables, MAX_DEPTH)?),
        _ => None,
    }
}

/// The lines of a Makefile; a line that ends in a backslash is joined with the next.
fn logical_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in text.lines() {
        let (part, goes_on) = line.strip_suffix('\\').map_or((line, false), |part| (part, true));
        match lines.last_mut().filter(|_| is_open) {
            Some(last) => *last = format!("{} {}", last.trim_end(), part.trim_start()),
            None => lines.push(part.to_owned()),
        }
        is_open = goes_on;
    }
    lines
}

/// The first line of a rule: its targets, its prerequisites, and the recipe after `;`.
struct Rule<'l> {
    targets: Vec<&'l str>,
    needs: Vec<&'l str>,
    recipe: Option<&'l str>,
}

impl Rule<'_> {
    fn names(&self, target: &str) -> bool {
        self.targets.contains(&target)
    }
}

fn rule(line: &str) -> Option<Rule<'_>> {
    if line.starts_with(['\t', '#', ' ']) {
        return None;
    }
    let (targets, rest) = line.split_once(':')?;
    if targets.contains('=') || rest.starts_with('=') || rest.starts_with(":=") {
        return None;
    }
    let (needs, recipe) = rest.split_once(';').map_or((rest, None), |(needs, recipe)| (needs, Some(recipe.trim())));
    let needs = needs.split('#').next().unwrap_or_default().trim_start_matches(':');
    Some(Rule { targets: targets.split_whitespace().collect(), needs: needs.split_whitespace().collect(), recipe })
}

/// The variables with their values; `None` for a variable that is set more than once.
fn variables(lines: &[String]) -> BTreeMap<&str, Option<&str>> {
    let mut found = BTreeMap::new();
    for line in lines.iter().filter(|line| !line.starts_with(['\t', '#'])) {
        let Some((name, value)) = line.split_once('=') else { continue };
        let name = name.trim_end_matches([':', '?', '+', '!']).trim();
        if name.is_empty() || name.contains(char::is_whitespace) {
            continue;
        }
        let value = value.split('#').next().unwrap_or_default().trim();
        found.entry(name).and_modify(|known| *known = None).or_insert(Some(value));
    }
    found
}

/// A line with its variables expanded; `None` if one is unknown or not plain text.
fn expanded(line: &str, variables: &BTreeMap<&str, Option<&str>>, depth: usize) -> Option<String> {
    let Some((before, rest)) = line.split_once('$') else { return Some(line.to_owned()) };
    let close = match rest.chars().next()? {
        '(' => ')',
        '{' => '}',
        _ => return None,
    };
    let (name, after) = rest.get(1..)?.split_once(close)?;
    let value = expanded(variables.get(name).copied()??, variables, depth.checked_sub(1)?)?;
    Some(format!("{before}{value}{}", expanded(after, variables, depth)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;
    use crate::javascript::JavaScript;
    use crate::python::Python;

    fn read(text: &str) -> Option<String> {
        command(text, "test").map(|words| words.join(" "))
    }

    #[test]
    fn a_target_that_is_one_plain_command_is_read() {
        for (text, expected) in [
            ("test:\n\tpytest -q\n", "pytest -q"),
            (".PHONY: test\n\ntest: ## Runs the tests\n\t@pytest\n\nlint:\n\truff\n", "pytest"),
            ("test check:\n\t-cargo test\n", "cargo test"),
            ("test: ; go test ./...\n", "go test ./..."),
            (
                "PY ?= python3\nRUN = $(PY) -m pytest # all\ntest:\n\t$(RUN) ${ARGS}\nARGS := -q\n",
                "python3 -m pytest -q",
            ),
            ("test:\n\t# the tests\n\t@echo testing\n\tpytest \\\n\t  -q\n", "pytest -q"),
        ] {
            assert_eq!(read(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn a_target_that_needs_more_than_one_command_is_not_read() {
        for text in [
            "",
            "tests:\n\tpytest\n",
            "test = 1\n",
            "test: build\n\tpytest\n",
            "test:\n\tcd a && pytest\n",
            "test:\n\tpytest\n\tmypy\n",
            "test:\n\tpytest\ntest:\n\tmypy\n",
            "test:\n\t$(PYTEST)\n",
            "A = $(A)\ntest:\n\t$(A)\n",
            "A = pytest\nA += -q\ntest:\n\t$(A)\n",
            "test:\n\t$(shell which pytest)\n",
            "test:\n\tpytest $$ARGS\n",
            "test:\nifdef CI\n\tpytest\nendif\n",
            "test:\n\t$(MAKE) unit\n",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_make_that_only_calls_a_runner_is_that_runner() {
        let project = Project { root: "web".to_owned(), description: String::new() };
        let files = |text: &'static str| {
            memory(&[("web/Makefile", text), ("web/package.json", "{}"), ("web/pyproject.toml", "[tool.pytest]\n")])
        };
        let of = |language: &dyn Language, command: Option<&str>, text: &'static str| {
            let test_cmd = command.map(|line| line.split(' ').map(str::to_owned).collect());
            let settings = Settings { test_cmd, ..Settings::default() };
            let read = read_through(language, &project, settings, &files(text));
            read.test_cmd.map(|words| words.join(" "))
        };
        let make = "test:\n\tnode --test\nunit:\n\tpytest -q\nall:\n\t./run\n";
        assert_eq!(of(&JavaScript::Plain, None, make).as_deref(), Some("node --test"));
        assert_eq!(of(&JavaScript::Plain, Some("make test"), make).as_deref(), Some("node --test"));
        assert_eq!(of(&Python, Some("make unit"), make).as_deref(), Some("pytest -q"));
        // A command that this language cannot read stays as it is.
        assert_eq!(of(&Python, Some("make test"), make).as_deref(), Some("make test"));
        assert_eq!(of(&Python, Some("make all"), make).as_deref(), Some("make all"));
        assert_eq!(of(&Python, Some("make"), make).as_deref(), Some("make"));
        assert_eq!(of(&Python, None, "test:\n\tpytest -q\n"), None, "it has its runner set up");
    }

    #[test]
    fn the_makefile_with_a_target_is_found_by_the_names_that_make_knows() {
        let sources = memory(&[("a/GNUmakefile", "test: x\n"), ("a/Makefile", "all:\n"), ("b/Makefile", "all:\n")]);
        assert_eq!(with_target("a", "test", &sources).as_deref(), Some("a/GNUmakefile"));
        assert_eq!(with_target("b", "test", &sources), None);
        assert_eq!(with_target("", "test", &sources), None);
    }
}
