//! Resolves the strategy that a program points at, or says why the program cannot run.

use super::definition::Strategy;

/// The files that the test-driven strategy needs in the program's folder.
pub const TEST_DRIVEN: [&str; 4] = [
    "strategy/test-driven.md",
    "strategy/prompts/write-test.md",
    "strategy/prompts/make-green.md",
    "strategy/prompts/refactor.md",
];

/// The strategy that the section points at: the name of a playbook `strategy/<name>.md`.
pub fn pointed_at(section: Option<&[&str]>) -> Option<String> {
    let text = section?.join("\n");
    let by_path = text.match_indices("strategy/").find_map(|(at, found)| {
        let rest = &text[at + found.len()..];
        let name = rest.split_once(".md")?.0;
        is_plain(name).then(|| name.to_owned())
    });
    by_path.or_else(|| by_name(&text))
}

/// The name in `the **Test-Driven** strategy`.
fn by_name(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let pair = words.windows(2).find(|pair| {
        pair[1].to_lowercase().starts_with("strategy") && pair[0].starts_with("**") && pair[0].ends_with("**")
    })?;
    let name = pair[0].trim_matches('*').to_lowercase();
    is_plain(&name).then_some(name)
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

/// The strategy of a program that points at this name and has these files. An unknown or incomplete strategy is an
/// error.
pub fn resolve(pointed: Option<&str>, files: &[String]) -> Result<Strategy, String> {
    let playbooks = files.iter().filter_map(|file| file.strip_prefix("strategy/")?.strip_suffix(".md"));
    let mut playbooks = playbooks.filter(|name| !name.contains('/'));
    let Some(name) = pointed.or_else(|| playbooks.next()) else { return Ok(Strategy::Default) };
    if name != "test-driven" {
        return Err(format!("it points at the strategy `{name}`, which is not known here; known: test-driven"));
    }
    match TEST_DRIVEN.iter().find(|needed| !files.iter().any(|file| file == *needed)) {
        None => Ok(Strategy::TestDriven),
        Some(missing) => Err(format!("it points at the strategy `{name}`, and `{missing}` is missing")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointed(text: &str) -> Option<String> {
        pointed_at(Some(&text.lines().collect::<Vec<_>>()))
    }

    fn all() -> Vec<String> {
        TEST_DRIVEN.iter().map(|file| (*file).to_owned()).collect()
    }

    #[test]
    fn a_pointer_is_a_path_or_a_name_in_bold() {
        let text = "This program uses the **Test-Driven** strategy.\nRead `strategy/test-driven.md` first.";
        assert_eq!(pointed(text).as_deref(), Some("test-driven"));
        assert_eq!(pointed("It uses the **OpenEvolve** strategy.").as_deref(), Some("openevolve"));
        assert_eq!(pointed("Try small things first."), None);
        assert_eq!(pointed_at(None), None);
    }

    #[test]
    fn what_is_pointed_at_and_missing_or_unknown_stops_the_program() {
        assert_eq!(resolve(None, &[]), Ok(Strategy::Default));
        assert_eq!(resolve(Some("test-driven"), &all()), Ok(Strategy::TestDriven));
        assert_eq!(resolve(None, &all()), Ok(Strategy::TestDriven));
        let missing = resolve(Some("test-driven"), &all()[..2]).unwrap_err();
        assert_eq!(missing, "it points at the strategy `test-driven`, and `strategy/prompts/make-green.md` is missing");
        assert!(resolve(Some("openevolve"), &[]).unwrap_err().contains("not known here"));
        assert!(resolve(None, &["strategy/alphaevolve.md".to_owned()]).is_err());
    }
}
