//! Content hashes and git ids, which bind evidence to exact content.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The BLAKE3 hash of some bytes, as 32 hexadecimal digits (its first 128 bits).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; Digest::LEN]);

impl Digest {
    /// How many hexadecimal digits a digest has.
    pub const LEN: usize = 32;

    /// The digest of these bytes.
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let hash = blake3::hash(bytes.as_ref());
        let mut hex = [0; Self::LEN];
        for (pair, byte) in hex.chunks_exact_mut(2).zip(hash.as_bytes()) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        Self(hex)
    }

    /// All zeros: the digest before the first line of a chain.
    pub fn zero() -> Self {
        Self([b'0'; Self::LEN])
    }

    /// Takes a digest from the front of some bytes.
    pub(crate) fn split_hex(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (digits, rest) = bytes.split_first_chunk::<{ Self::LEN }>()?;
        let hex = digits.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        hex.then_some((Self(*digits), rest))
    }

    /// The hexadecimal digits.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        output.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let text = String::deserialize(input)?;
        match Self::split_hex(text.as_bytes()) {
            Some((digest, [])) => Ok(digest),
            _ => Err(serde::de::Error::custom("expected a digest of 32 hexadecimal digits")),
        }
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
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
        assert_eq!(Digest::of("a").as_str(), &blake3::hash(b"a").to_hex()[..Digest::LEN]);
        assert_eq!(Digest::zero().as_str().len(), Digest::LEN);
    }

    #[test]
    fn a_digest_survives_json_and_nothing_else_is_one() {
        let json = serde_json::to_string(&Digest::of("a")).unwrap();
        assert_eq!(serde_json::from_str::<Digest>(&json).unwrap(), Digest::of("a"));
        for bad in ["\"\"", "\"00\"", &json.replace('"', "\"0"), &json.to_uppercase()] {
            assert!(serde_json::from_str::<Digest>(bad).is_err(), "{bad}");
        }
    }
}
