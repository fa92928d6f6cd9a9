//! Splits a command line into words as a shell would, if it needs no shell to run.

/// Characters that make a shell do more than start one program.
const OPERATORS: [char; 18] =
    [';', '&', '|', '<', '>', '`', '$', '(', ')', '{', '}', '*', '?', '[', '~', '#', '\\', '\n'];

/// The words of a line; quoted text is one word.
pub(crate) fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for c in line.chars() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, ' ' | '\t' | '\n') => words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty())),
            _ => word.push(c),
        }
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

/// The words of a line that only starts one program; `None` if it needs a shell.
pub(crate) fn plain_command(line: &str) -> Option<Vec<String>> {
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, c) if OPERATORS.contains(&c) => return None,
            (Some('"'), '$' | '`' | '\\') => return None,
            _ => {}
        }
    }
    let words = words(line);
    let sets_a_variable = words.first().is_none_or(|first| first.contains('='));
    (quote.is_none() && !sets_a_variable).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_quotes_is_one_word() {
        assert_eq!(words("a  'b c' \"d\"e\tf"), ["a", "b c", "de", "f"]);
    }

    #[test]
    fn a_command_that_needs_a_shell_is_none() {
        let plain = |line: &str| plain_command(line).map(|words| words.join(" "));
        assert_eq!(plain("pytest -k 'a and (b)' tests").as_deref(), Some("pytest -k a and (b) tests"));
        for line in ["a && b", "a; b", "cd x", "a > b", "$(a)", "a \"$B\"", "A=1 b", "a *.py", "a 'b", "", "a | b"] {
            assert_eq!(plain_command(line).is_some(), line == "cd x", "{line}");
        }
    }
}
