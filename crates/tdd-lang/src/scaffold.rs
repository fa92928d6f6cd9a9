//! Makes legal package names for new projects.

/// Prefix for names that are taken or do not begin with a letter.
pub(crate) const PREFIX: &str = "kata";

/// Maximum length of a package name.
pub(crate) const LONGEST: usize = 64;

/// A package name of dash-separated words, made from a folder's name. A name that is taken, or does not begin with a
/// letter, gets [`PREFIX`].
pub(crate) fn dashed_name(folder: &str, is_legal: impl Fn(char) -> bool, is_taken: impl Fn(&str) -> bool) -> String {
    let plain: String = folder.to_lowercase().chars().map(|c| if is_legal(c) { c } else { '-' }).collect();
    let words: Vec<&str> = plain.split('-').filter(|word| !word.is_empty()).collect();
    let name = words.join("-");
    let stands_alone = name.starts_with(|c: char| c.is_ascii_lowercase()) && !is_taken(&name);
    let name = if stands_alone { name } else { [PREFIX, &name].join("-") };
    let short: String = name.chars().take(LONGEST).collect();
    short.trim_end_matches('-').to_owned()
}

/// Whether a character is allowed in every kind of package name.
pub(crate) fn is_plain(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_gives_a_legal_name() {
        for (folder, name) in [
            ("Bowling Game", "bowling-game"),
            ("7 wonders", "kata-7-wonders"),
            ("_", "kata"),
            ("a__b", "a-b"),
            ("test", "kata-test"),
        ] {
            assert_eq!(dashed_name(folder, is_plain, |name| name == "test"), name);
        }
        assert_eq!(dashed_name("test", is_plain, |_| false), "test");
    }
}
