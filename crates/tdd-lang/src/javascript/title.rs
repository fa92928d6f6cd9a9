//! Reads a test's title as its runner would print it, and matches printed titles to tests.

use super::syntax::Tree;

/// Separates the titles of groups and tests.
pub(super) const JOINT: &str = " > ";

/// A title as it is printed; parts known only at run time stay as written, in `${…}`.
pub(super) fn title(tree: &Tree<'_>, node: usize) -> String {
    let text = tree.text(node);
    match tree.kind(node) {
        "string" => unescaped(super::call::unquoted(text)),
        "template_string" => {
            let pieces = tree.children(node).map(|child| match tree.kind(child) {
                "template_substitution" => squeezed(tree.text(child)),
                "`" => String::new(),
                _ => unescaped(tree.text(child)),
            });
            pieces.collect()
        }
        "function_expression" | "arrow_function" | "class" => {
            tree.child(node, "name").map_or("<anonymous>", |name| tree.text(name)).to_owned()
        }
        _ => format!("${{{}}}", squeezed(text)),
    }
}

/// A JavaScript pattern that a printed title must match completely.
pub(super) fn pattern(title: &str, has_table: bool) -> String {
    let mut made = String::new();
    for piece in pieces(title, has_table) {
        match piece {
            Some(text) => made += &escaped(text),
            None => made += "[\\s\\S]*",
        }
    }
    made
}

/// How many characters of a printed title this title covers; `None` if it does not match.
pub(super) fn matches(title: &str, has_table: bool, printed: &str) -> Option<usize> {
    if title == printed {
        return Some(usize::MAX);
    }
    let pieces = pieces(title, has_table);
    if !pieces.contains(&None) {
        return None;
    }
    let texts: Vec<&str> = pieces.iter().flatten().copied().collect();
    let mut rest = printed;
    if let Some(Some(first)) = pieces.first() {
        rest = rest.strip_prefix(first)?;
    }
    if let Some(Some(last)) = pieces.last() {
        rest = rest.strip_suffix(last)?;
    }
    for (at, piece) in pieces.iter().enumerate() {
        if let Some(text) = piece
            && at > 0
            && at + 1 < pieces.len()
        {
            rest = &rest[rest.find(text)? + text.len()..];
        }
    }
    Some(texts.iter().map(|text| text.len()).sum())
}

/// The pieces of a title: known text, and `None` for each unknown part.
fn pieces(title: &str, has_table: bool) -> Vec<Option<&str>> {
    let (mut found, mut known, mut rest) = (Vec::new(), 0, title);
    let mut at = 0;
    while let Some(c) = rest.chars().next() {
        let open = match c {
            '$' if rest.starts_with("${") => Some(closing(rest)),
            '$' if has_table => {
                let named = rest[1..].find(|c: char| !(c.is_alphanumeric() || "_.#".contains(c)));
                Some(named.map_or(rest.len(), |end| end + 1)).filter(|length| *length > 1)
            }
            '%' if has_table => rest.chars().nth(1).map(|next| 1 + next.len_utf8()),
            _ => None,
        };
        let length = open.unwrap_or(c.len_utf8());
        if open.is_some() {
            if known < at {
                found.push(Some(&title[known..at]));
            }
            if found.last() != Some(&None) {
                found.push(None);
            }
            known = at + length;
        }
        at += length;
        rest = &title[at..];
    }
    if known < title.len() {
        found.push(Some(&title[known..]));
    }
    found
}

/// The length of the `${…}` at the start of a text.
fn closing(text: &str) -> usize {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return at + 1,
            '}' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

fn escaped(text: &str) -> String {
    let special = |c: char| "\\^$.|?*+()[]{}/-".contains(c);
    text.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The value of a JavaScript string.
fn unescaped(text: &str) -> String {
    let mut made = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            made.push(c);
            continue;
        }
        match rest.next() {
            Some('n') => made.push('\n'),
            Some('t') => made.push('\t'),
            Some('r') => made.push('\r'),
            Some('\n') | None => {}
            Some(start @ ('u' | 'x')) => made.extend(by_number(start, &mut rest)),
            Some(other) => made.push(other),
        }
    }
    made
}

fn by_number(start: char, rest: &mut std::str::Chars<'_>) -> Option<char> {
    let text = rest.as_str();
    let (digits, length) = match text.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
        Some((digits, _)) if start == 'u' => (digits, digits.len() + 2),
        _ => {
            let length = if start == 'u' { 4 } else { 2 };
            (text.get(..length)?, length)
        }
    };
    let found = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
    *rest = text.get(length..)?.chars();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(source: &str) -> String {
        let tree = Tree::parse("a.js", source).unwrap();
        title(&tree, 2)
    }

    #[test]
    fn a_title_reads_as_it_is_printed() {
        assert_eq!(of("'it\\'s \\u0041\\x42\\u{43}'"), "it's ABC");
        assert_eq!(of("`plain`"), "plain");
        assert_eq!(of("`adds ${ a } and\\t${f({b: 1})}`"), "adds ${ a } and\t${f({b: 1})}");
        assert_eq!(of("name"), "${name}");
    }

    #[test]
    fn a_printed_title_is_found_again() {
        assert_eq!(matches("adds", false, "adds"), Some(usize::MAX));
        assert_eq!(matches("adds ${a} and ${f({b: 1})}", false, "adds 1 and 2"), Some(10));
        assert_eq!(matches("adds ${a} and ${b}", false, "adds 1 or 2"), None);
        assert_eq!(matches("adds %i to $b.c!", true, "adds 1 to x!"), Some(10));
        assert_eq!(matches("adds %i", false, "adds 1"), None);
        assert_eq!(matches("${name}", false, "whatever"), Some(0));
        assert_eq!(matches("a${b}a", false, "a"), None);
    }

    #[test]
    fn a_pattern_takes_no_character_for_its_own() {
        assert_eq!(pattern("a.b (c) ${d}", false), "a\\.b \\(c\\) [\\s\\S]*");
        assert_eq!(pattern("50 %", false), "50 %");
    }
}
