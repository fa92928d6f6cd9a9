//! Matches folders and files against glob patterns.

/// Whether a folder matches a glob: `*` and `?` match within one path component, `**` matches any number of components.
pub(crate) fn matches(pattern: &str, folder: &str) -> bool {
    let pattern: Vec<&str> = pattern.trim_end_matches('/').split('/').filter(|part| *part != ".").collect();
    let folder: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    matches_each(&pattern, &folder, |part| *part == "**", |part, name| matches_name(part, name))
}

fn matches_name(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    matches_each(&pattern, &name, |one| *one == '*', |one, other| *one == '?' || one == other)
}

/// Whether the pattern matches all of the text, in time proportional to the product of their lengths.
fn matches_each<T>(pattern: &[T], text: &[T], is_any: impl Fn(&T) -> bool, fits: impl Fn(&T, &T) -> bool) -> bool {
    let mut reached: Vec<bool> = (0..=text.len()).map(|end| end == 0).collect();
    for part in pattern {
        let first = reached.iter().position(|reached| *reached).unwrap_or(reached.len());
        let step = |end: usize| end > 0 && reached[end - 1] && fits(part, &text[end - 1]);
        reached = (0..=text.len()).map(|end| if is_any(part) { end >= first } else { step(end) }).collect();
    }
    reached[text.len()]
}
