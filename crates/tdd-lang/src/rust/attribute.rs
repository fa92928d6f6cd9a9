//! Reads attributes: which make a function a test, keep a test from running, or limit an item to test builds.

/// One attribute; `#[cfg_attr(when, …)]` is expanded into the attributes inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Attribute {
    /// `tokio::test`
    path: String,
    /// What follows the path: `(…)` or `= …`.
    rest: Vec<String>,
    /// The condition of the `cfg_attr` around it.
    when: Option<String>,
    /// The whole attribute as written, on one line.
    pub text: String,
}

/// Whether a condition holds, as far as can be known without building.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Truth {
    Yes,
    No,
    Unknown,
}

/// Limit for nested conditions; deeper ones are not evaluated.
const MAX_NESTING: usize = 32;

/// Attributes that make a function a test, besides those whose name ends in `test`.
const TESTS: [&str; 3] = ["test_case", "test_matrix", "quickcheck"];

impl Attribute {
    /// Reads the tokens between the brackets of `#[…]`.
    pub fn read(tokens: &[&str]) -> Vec<Self> {
        let text = format!("#[{}]", spell(tokens));
        let mut found = Vec::new();
        let mut waiting = vec![(tokens, None::<String>, MAX_NESTING)];
        while let Some((tokens, when, depth)) = waiting.pop() {
            let length = tokens.iter().take_while(|token| !matches!(**token, "(" | "=" | "[" | "{")).count();
            let (path, rest) = tokens.split_at(length);
            if path == ["cfg_attr"] && depth > 0 {
                let parts = arguments(rest);
                let condition = parts.first().map(|condition| spell(condition));
                waiting.extend(parts.into_iter().skip(1).map(|part| (part, condition.clone(), depth - 1)));
            } else {
                let rest = rest.iter().map(|token| (*token).to_owned()).collect();
                found.push(Self { path: path.concat(), rest, when, text: text.clone() });
            }
        }
        found
    }

    /// Whether it makes a function a test.
    pub fn is_test(&self) -> bool {
        let name = self.name();
        name.ends_with("test") || TESTS.contains(&name)
    }

    /// Whether it keeps the test from running by default.
    pub fn is_ignore(&self) -> bool {
        self.path == "ignore"
    }

    /// Whether the test must panic.
    pub fn is_should_panic(&self) -> bool {
        self.path == "should_panic"
    }

    /// Whether it contains an expected value: `#[test_case(2 => 4)]`.
    pub fn expects(&self) -> bool {
        self.name() == "test_case" && self.rest.iter().any(|token| token == "=>")
    }

    /// Whether it is a case without an expected value: `#[case(2, 4)]`, `#[test_case(2, 4)]`.
    pub fn is_case(&self) -> bool {
        let by_rstest = self.path == "case" || self.path.starts_with("case::");
        !self.rest.is_empty() && (by_rstest || self.name() == "test_case" && !self.expects())
    }

    /// The `expected` text of `should_panic`.
    pub fn expected(&self) -> Option<String> {
        let rest = self.tokens();
        let of_argument = |part: &[&str]| (part.first() == Some(&"expected")).then(|| literal(part.get(2)?))?;
        literal_value(&rest).or_else(|| arguments(&rest).into_iter().find_map(of_argument))
    }

    /// The file named by `#[path = "…"]`.
    pub fn file(&self) -> Option<String> {
        if self.path == "path" { literal_value(&self.tokens()) } else { None }
    }

    /// Whether it is inside a `cfg_attr`.
    pub fn is_conditional(&self) -> bool {
        self.when.is_some()
    }

    /// The condition of a `cfg`, or of the `cfg_attr` around a test attribute.
    pub fn condition(&self) -> Option<String> {
        if self.path == "cfg" {
            let parts = self.tokens();
            return arguments(&parts).first().map(|condition| spell(condition));
        }
        if self.is_test() { self.when.clone() } else { None }
    }

    /// Whether the condition of this `cfg` holds in a build with or without tests.
    pub fn holds(&self, in_tests: bool) -> Truth {
        if self.path != "cfg" {
            return Truth::Unknown;
        }
        let tokens = self.tokens();
        let condition = arguments(&tokens).into_iter().next().unwrap_or_default();
        holds(condition, in_tests, MAX_NESTING)
    }

    /// Whether it contains documentation that may have an example.
    pub fn documents_an_example(&self) -> bool {
        let tells = |token: &String| token.contains("```") || token.contains("~~~") || token == "include_str";
        self.path == "doc" && self.rest.iter().any(tells)
    }

    fn name(&self) -> &str {
        self.path.rsplit("::").next().unwrap_or_default()
    }

    fn tokens(&self) -> Vec<&str> {
        self.rest.iter().map(String::as_str).collect()
    }
}

/// The text of a string literal; `None` if the token is not a string.
pub(super) fn literal(token: &&str) -> Option<String> {
    if let Some(raw) = token.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        return Some(raw.get(hashes + 1..raw.len().checked_sub(hashes + 1)?)?.to_owned());
    }
    Some(unescape(token.strip_prefix('"')?.strip_suffix('"')?))
}

fn unescape(text: &str) -> String {
    let mut plain = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            plain.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => plain.push('\n'),
            Some('r') => plain.push('\r'),
            Some('t') => plain.push('\t'),
            Some('0') => plain.push('\0'),
            Some('x') => plain.extend(from_hex(&chars.by_ref().take(2).collect::<String>())),
            Some('u') => plain.extend(from_hex(&chars.by_ref().take_while(|c| *c != '}').collect::<String>())),
            Some('\n' | '\r') => chars = chars.as_str().trim_start().chars(),
            Some(other) => plain.push(other),
            None => {}
        }
    }
    plain
}

fn from_hex(digits: &str) -> Option<char> {
    u32::from_str_radix(digits.trim_start_matches('{'), 16).ok().and_then(char::from_u32)
}

fn literal_value(rest: &[&str]) -> Option<String> {
    match rest {
        ["=", token] => literal(token),
        _ => None,
    }
}

/// The arguments in `(a, b(c, d), e)`, without empty ones; none if there are no parentheses.
fn arguments<'t>(rest: &'t [&'t str]) -> Vec<&'t [&'t str]> {
    let ["(", inner @ .., ")"] = rest else { return Vec::new() };
    let mut depth = 0_usize;
    let is_end = |token: &&str| {
        match *token {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && *token == ","
    };
    inner.split(is_end).filter(|part| !part.is_empty()).collect()
}

fn holds(condition: &[&str], in_tests: bool, depth: usize) -> Truth {
    let [name, rest @ ..] = condition else { return Truth::Unknown };
    if rest.is_empty() {
        return match *name {
            "test" => truth(in_tests),
            "true" => Truth::Yes,
            "false" => Truth::No,
            _ => Truth::Unknown,
        };
    }
    if depth == 0 || rest.first() != Some(&"(") {
        return Truth::Unknown;
    }
    let parts: Vec<Truth> = arguments(rest).into_iter().map(|part| holds(part, in_tests, depth - 1)).collect();
    match *name {
        "all" => all(&parts, Truth::No, Truth::Yes),
        "any" => all(&parts, Truth::Yes, Truth::No),
        "not" => parts.first().map_or(Truth::Unknown, |part| opposite(*part)),
        _ => Truth::Unknown,
    }
}

fn truth(fact: bool) -> Truth {
    if fact { Truth::Yes } else { Truth::No }
}

fn opposite(truth: Truth) -> Truth {
    match truth {
        Truth::Yes => Truth::No,
        Truth::No => Truth::Yes,
        Truth::Unknown => Truth::Unknown,
    }
}

/// `decisive` if any part is; else unknown if any part is unknown; else `otherwise`.
fn all(parts: &[Truth], decisive: Truth, otherwise: Truth) -> Truth {
    if parts.contains(&decisive) {
        decisive
    } else if parts.contains(&Truth::Unknown) {
        Truth::Unknown
    } else {
        otherwise
    }
}

/// Joins tokens with the usual spacing.
fn spell(tokens: &[&str]) -> String {
    let mut text = String::new();
    for token in tokens {
        match *token {
            "," => text.push_str(", "),
            "=" | "=>" => text.extend([" ", *token, " "]),
            _ => text.push_str(token),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &str) -> Vec<Attribute> {
        let tree = super::super::syntax::Tree::parse(source).unwrap();
        let tokens: Vec<&str> = tree.tokens(0..tree.len()).map(|node| tree.text(node)).collect();
        Attribute::read(&tokens[2..tokens.len() - 1])
    }

    fn one(source: &str) -> Attribute {
        read(source).pop().unwrap()
    }

    #[test]
    fn whatever_ends_in_test_makes_a_test() {
        for source in [
            "#[test]",
            "#[::core::prelude::v1::test]",
            "#[tokio::test(flavor = \"multi_thread\")]",
            "#[async_std::test]",
            "#[test_log::test]",
            "#[wasm_bindgen_test]",
            "#[rstest]",
            "#[rstest::rstest]",
            "#[test_case(1, 2; \"name\")]",
            "#[quickcheck]",
            "#[proptest]",
            "#[cfg_attr(not(miri), test)]",
        ] {
            assert!(one(source).is_test(), "{source}");
        }
        for source in
            ["#[cfg(test)]", "#[tests]", "#[inline]", "#[case(1)]", "#[doc = \"#[test]\"]", "#[cfg_attr(test, inline)]"]
        {
            assert!(!one(source).is_test(), "{source}");
        }
    }

    #[test]
    fn a_condition_is_weighed_with_and_without_tests() {
        use Truth::{No, Unknown, Yes};
        for (source, with, without) in [
            ("#[cfg(test)]", Yes, No),
            ("#[cfg(all(test, unix))]", Unknown, No),
            ("#[cfg(any(test, feature = \"x\"))]", Yes, Unknown),
            ("#[cfg(not(test))]", No, Yes),
            ("#[cfg(any())]", No, No),
            ("#[cfg(all())]", Yes, Yes),
            ("#[cfg(false)]", No, No),
            ("#[cfg(true)]", Yes, Yes),
            ("#[cfg(not(all(test, not(any()))))]", No, Yes),
            ("#[cfg(unix)]", Unknown, Unknown),
            ("#[cfg(feature = \"test\")]", Unknown, Unknown),
            ("#[cfg(target(os = \"linux\"))]", Unknown, Unknown),
            ("#[cfg()]", Unknown, Unknown),
            ("#[inline]", Unknown, Unknown),
        ] {
            let attribute = one(source);
            assert_eq!((attribute.holds(true), attribute.holds(false)), (with, without), "{source}");
        }
    }

    #[test]
    fn a_condition_nested_without_end_stays_unknown() {
        let source = format!("#[cfg({}test{})]", "not(".repeat(500), ")".repeat(500));
        assert_eq!(one(&source).holds(true), Truth::Unknown);
    }

    #[test]
    fn a_conditional_attribute_is_read_with_its_condition() {
        let read = read("#[cfg_attr(windows, ignore, cfg_attr(unix, path = \"a.rs\"))]");
        let seen: Vec<_> = read.iter().map(|a| (a.path.as_str(), a.when.as_deref(), a.file())).collect();
        assert_eq!(seen, [("path", Some("unix"), Some("a.rs".to_owned())), ("ignore", Some("windows"), None)]);
        assert_eq!(one("#[cfg_attr(not(miri), test)]").condition().as_deref(), Some("not(miri)"));
    }

    #[test]
    fn the_expected_panic_is_read_in_both_spellings() {
        for (source, expected) in [
            ("#[should_panic]", None),
            ("#[should_panic(expected = \"by \\\"zero\\\"\\n\")]", Some("by \"zero\"\n")),
            ("#[should_panic = r#\"raw \"\\n\"#]", Some("raw \"\\n")),
            ("#[should_panic(expected = \"\\u{e9}\\x41\")]", Some("éA")),
        ] {
            assert_eq!(one(source).expected().as_deref(), expected, "{source}");
        }
    }

    #[test]
    fn an_attribute_is_shown_on_one_line() {
        assert_eq!(one("#[ignore=\n\"too  slow\"]").text, "#[ignore = \"too  slow\"]");
        assert_eq!(one("#[cfg(all(test,feature=\"x\"))]").condition().unwrap(), "all(test, feature = \"x\")");
    }
}
