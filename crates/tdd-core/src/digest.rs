//! Names of content: what evidence is bound to.

use serde::{Deserialize, Serialize};

/// The BLAKE3 hash of some bytes, as 32 hexadecimal digits (its first 128 bits).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(String);

impl Digest {
    /// The digest of these bytes.
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        let hex = blake3::hash(bytes.as_ref()).to_hex();
        Self(hex[..Self::LEN].to_owned())
    }

    /// The digest before the first line of a chain.
    pub fn zero() -> Self {
        Self("0".repeat(Self::LEN))
    }

    /// How many hexadecimal digits a digest has.
    pub const LEN: usize = 32;

    /// Takes a digest from the front of some bytes.
    pub(crate) fn split_hex(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (digits, rest) = bytes.split_at_checked(Self::LEN)?;
        let hex = digits.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        hex.then(|| (Self(String::from_utf8_lossy(digits).into_owned()), rest))
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The id of a git tree: names the exact content that something was run on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TreeId(pub String);

/// The id of a git commit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommitId(pub String);

impl std::fmt::Display for TreeId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::fmt::Display for CommitId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl CommitId {
    /// The first ten digits, for people.
    pub fn short(&self) -> &str {
        self.0.get(..10).unwrap_or(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_bytes_have_different_digests_of_one_length() {
        assert_ne!(Digest::of("a"), Digest::of("b"));
        assert_eq!(Digest::of("a").as_str().len(), Digest::LEN);
        assert_eq!(Digest::zero().as_str().len(), Digest::LEN);
    }
}
