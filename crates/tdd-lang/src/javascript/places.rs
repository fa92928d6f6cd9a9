//! Decides whether a path is where a command looks for tests.

/// Whether a path is one of these places, is inside one, or matches one that is a pattern.
pub(super) fn is_within(places: &[String], path: &str) -> bool {
    places.iter().any(|place| {
        let is_below = path.strip_prefix(place.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        is_below
            || place == "."
            || place.contains(['*', '?', '{']) && alternatives(place).iter().any(|it| fits(it, path))
    })
}

/// The patterns that a pattern with `{a,b}` expands to.
fn alternatives(pattern: &str) -> Vec<String> {
    let parts = pattern.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    let Some((before, (choices, after))) = parts else { return vec![pattern.to_owned()] };
    choices.split(',').flat_map(|choice| alternatives(&format!("{before}{choice}{after}"))).collect()
}

fn fits(pattern: &str, path: &str) -> bool {
    if let Some(rest) = pattern.strip_prefix("**/") {
        let deeper = path.match_indices('/').map(|(at, _)| &path[at + 1..]);
        return std::iter::once(path).chain(deeper).any(|path| fits(rest, path));
    }
    if pattern == "**" {
        return true;
    }
    match (pattern.chars().next(), path.chars().next()) {
        (None, None) => true,
        (Some('*'), _) => {
            let end = path.find('/').unwrap_or(path.len());
            let mut ends = path[..end].char_indices().map(|(at, _)| at).chain([end]);
            ends.any(|at| fits(&pattern[1..], &path[at..]))
        }
        (Some('?'), Some(c)) if c != '/' => fits(&pattern[1..], &path[c.len_utf8()..]),
        (Some(wanted), Some(c)) if wanted == c => fits(&pattern[c.len_utf8()..], &path[c.len_utf8()..]),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_files_folders_or_patterns() {
        let within = |place: &str, path: &str| is_within(&[place.to_owned()], path);
        assert!(within("test", "test/a.js") && within("test/a.js", "test/a.js") && within(".", "x.js"));
        assert!(within("test/**/*.test.js", "test/x/y/a.test.js") && within("**/*.{js,ts}", "a.ts"));
        assert!(!within("test", "tests/a.js") && !within("*.js", "x/a.js") && !within("test/*.js", "test/x/a.js"));
    }
}
