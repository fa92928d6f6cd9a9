//! The significant words of a requirement or a test's name, in a form that can be compared.

use std::collections::BTreeSet;

/// The significant words of a text, and whether it negates something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Significant {
    pub words: BTreeSet<String>,
    pub negates: bool,
}

/// Words without a meaning of their own, in English and German.
const STOP: &str = "a an the and or of to in on by at as is are was be been it its that this these those there with for from \
                    which who whose what how do does did has have had if when then than so too also each every any all just \
                    itself just you your we i can may will would should must shall such like many other after before into \
                    up out but only same test tests testing case der die das den dem des ein eine einer eines einem einen \
                    und oder ist sind wird werden im von mit auf aus als auch es sich bei wenn dann nur wie so zu zum zur";

/// Words that negate.
const NEGATIONS: &str =
    "not no none never without neither cannot nothing isnt doesnt dont nicht kein keine keiner keinen ohne nie";

/// Number words, each standing for its place in the list.
const NUMBERS: [[&str; 2]; 11] = [
    ["zero", "null"],
    ["one", "eins"],
    ["two", "zwei"],
    ["three", "drei"],
    ["four", "vier"],
    ["five", "fünf"],
    ["six", "sechs"],
    ["seven", "sieben"],
    ["eight", "acht"],
    ["nine", "neun"],
    ["ten", "zehn"],
];

/// Endings that do not matter, the longest first.
const ENDINGS: [&str; 7] = ["ing", "ed", "es", "en", "s", "e", "d"];

impl Significant {
    /// The significant words of a text: snake case and camel case are split.
    pub fn of(text: &str) -> Self {
        let mut found = Self::default();
        for word in split(text) {
            if NEGATIONS.split(' ').any(|no| no == word) {
                found.negates = true;
            } else if !STOP.split_whitespace().any(|stop| stop == word) {
                found.words.insert(stem(&word));
            }
        }
        found
    }

    /// How many of these words the other text has.
    pub fn shared(&self, other: &Self) -> usize {
        self.words.intersection(&other.words).count()
    }
}

/// Lowercase words; `FizzBuzz` and `fizz_buzz` are two.
fn split(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().filter(|c| *c != '\'' && *c != '’').collect();
    let mut words = vec![String::new()];
    for (at, c) in chars.iter().enumerate() {
        let before = at.checked_sub(1).map_or(' ', |before| chars[before]);
        let is_last_of_capitals = before.is_uppercase() && chars.get(at + 1).is_some_and(|next| next.is_lowercase());
        let begins = c.is_uppercase() && (before.is_lowercase() || is_last_of_capitals);
        if !c.is_alphanumeric() || begins {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn stem(word: &str) -> String {
    if let Some(number) = NUMBERS.iter().position(|names| names.contains(&word)) {
        return number.to_string();
    }
    let shorter = ENDINGS.iter().filter_map(|ending| word.strip_suffix(ending)).find(|stem| stem.len() >= 3);
    shorter.unwrap_or(word).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_compared_without_their_endings_and_numbers_as_digits() {
        let requirement = Significant::of("A line break separates numbers, and an empty text is 0: FizzBuzz.");
        let test = Significant::of("test_emptyText_is_zero_lineBreaks_separate_a_number_fizz_buzz");
        assert_eq!(requirement, test);
        assert!(Significant::of("a year that four doesn't divide").negates);
    }
}
