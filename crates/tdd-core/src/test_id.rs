//! The id of a test: its file and the runner's name for it, or the slug that a person gave it.

use serde::{Deserialize, Deserializer, Serialize};

/// `<repo-relative path>::<full name>`, or the slug of a `@tdd-test-id:` annotation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct TestId(String);

/// Where a test's id comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IdSource {
    /// The file and the runner's name.
    Native,
    /// A comment `@tdd-test-id: slug` above the test.
    Annotation,
}

/// Why a string is not a test id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a test id; write `path::name` or the slug of a `@tdd-test-id:` comment")]
pub struct BadTestId(String);

impl TestId {
    /// The id of the test that its runner calls `name`, in the file `path`. Control characters are escaped, so that an
    /// id is always one line.
    pub fn native(path: &str, name: &str) -> Self {
        Self(format!("{}::{}", one_line(path), one_line(name)))
    }

    /// The id from an annotation.
    pub fn annotation(slug: &str) -> Result<Self, BadTestId> {
        if is_slug(slug) { Ok(Self(slug.to_owned())) } else { Err(BadTestId(one_line(slug))) }
    }

    /// Parses the text of a person or a model.
    pub fn parse(text: &str) -> Result<Self, BadTestId> {
        let native = text.split_once("::").is_some_and(|(path, name)| !path.is_empty() && !name.is_empty());
        if (native && !text.chars().any(char::is_control)) || is_slug(text) {
            Ok(Self(text.to_owned()))
        } else {
            Err(BadTestId(one_line(text)))
        }
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Where the id comes from.
    pub fn source(&self) -> IdSource {
        if self.0.contains("::") { IdSource::Native } else { IdSource::Annotation }
    }

    /// The file part of a native id.
    pub fn path(&self) -> Option<&str> {
        self.0.split_once("::").map(|(path, _)| path)
    }

    /// The short name: `adds` for `tests/calc.rs::adds`.
    pub fn short_name(&self) -> &str {
        let name = self.0.rsplit("::").next().unwrap_or_default();
        name.rsplit(" > ").next().unwrap_or(name)
    }

    /// Whether a person may mean this test by a name: the runner's name, or its last part.
    pub fn is_called(&self, name: &str) -> bool {
        self.short_name() == name || self.name() == Some(name) || self.0.rsplit("::").next() == Some(name)
    }

    /// The runner's name in a native id.
    pub fn name(&self) -> Option<&str> {
        self.0.split_once("::").map(|(_, name)| name)
    }
}

impl std::fmt::Display for TestId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for TestId {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let text = String::deserialize(input)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

fn is_slug(text: &str) -> bool {
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    !text.is_empty() && text.len() <= 120 && text.chars().all(allowed)
}

fn one_line(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_native_id_knows_its_file_and_its_name() {
        let id = TestId::parse("src/a.rs::a::tests::x").unwrap();
        assert_eq!((id.path(), id.name(), id.source()), (Some("src/a.rs"), Some("a::tests::x"), IdSource::Native));
    }

    #[test]
    fn a_slug_is_an_annotation() {
        let id = TestId::annotation("adds-two.numbers_1").unwrap();
        assert_eq!((id.path(), id.source()), (None, IdSource::Annotation));
    }

    #[test]
    fn what_is_neither_is_refused() {
        for text in ["", "a b", "::x", "a.rs::", "slug\n", "a.rs::x\ny"] {
            assert!(TestId::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_name_with_line_ends_stays_one_line() {
        assert_eq!(TestId::native("a.test.js", "x\ny").as_str(), "a.test.js::x\\ny");
    }

    #[test]
    fn an_id_survives_json() {
        let id = TestId::native("tests/a.rs", "it \"quotes\"");
        let json = serde_json::to_string(&id).unwrap();
        assert_eq!(serde_json::from_str::<TestId>(&json).unwrap(), id);
    }
}
