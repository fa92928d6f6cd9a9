//! Checks whether a quotation is really from a text.

/// A common run of fewer words proves nothing.
const FEWEST: usize = 3;
/// Words of a quotation that are compared.
const MOST: usize = 300;

/// Whether a quotation is from a text: at least half of its words occur there in one run. Words around the run ("rule
/// 3:"), case and punctuation do not matter.
pub fn is_from(quotation: &str, text: &str) -> bool {
    let (quotation, text): (Vec<String>, Vec<String>) = (words(quotation).take(MOST).collect(), words(text).collect());
    longest_common_run(&quotation, &text) >= FEWEST.max(quotation.len().div_ceil(2))
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase)
}

fn longest_common_run(one: &[String], other: &[String]) -> usize {
    let mut longest = 0;
    // Length of the run that ends with the current word of `one` and each word of `other`.
    let mut runs = vec![0; other.len() + 1];
    for word in one {
        for at in (0..other.len()).rev() {
            runs[at + 1] = if other[at] == *word { runs[at] + 1 } else { 0 };
            longest = longest.max(runs[at + 1]);
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    const KATA: &str = "# Adder\n\n1. An empty text adds up to 0: `add(\"\")` gives `0`.\n\
                        2. Numbers are separated\n   by *commas*.\n";

    #[test]
    fn a_quotation_is_found_whatever_its_marks_and_what_is_around_it() {
        for quotation in [
            "An empty text adds up to 0",
            "add(\"\") gives 0",
            "Requirement 2: \"numbers are separated by commas\"",
            "the kata: … Numbers are separated by commas.",
        ] {
            assert!(is_from(quotation, KATA), "{quotation}");
        }
    }

    #[test]
    fn what_is_not_said_is_no_quotation() {
        for claimed in [
            "",
            "rule 1",
            "an empty",
            "the kata does not specify what to do with an empty text",
            "Numbers may be separated by anything",
        ] {
            assert!(!is_from(claimed, KATA), "{claimed}");
        }
        assert!(!is_from("An empty text adds up", ""));
        // Long inputs are no problem.
        assert!(!is_from(&"a b ".repeat(200_000), &"b c ".repeat(100_000)));
    }
}
