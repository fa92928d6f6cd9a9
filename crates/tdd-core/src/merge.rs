//! A file with an answer merged into it: what came of it, or why it cannot be done.

/// A file with an answer merged into it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// The whole file.
    pub text: String,
    /// The items that the file did not have.
    pub added: Vec<String>,
    /// The items that the answer holds with other tokens than the file.
    pub replaced: Vec<String>,
    /// The items that the answer does not mention.
    pub kept: Vec<String>,
}

impl Merged {
    /// Whether the answer only added items and left out others: it was meant as an addition, not as the whole file.
    pub fn only_adds(&self) -> bool {
        self.replaced.is_empty() && !self.added.is_empty() && !self.kept.is_empty()
    }
}

/// Why an answer cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// The file or the answer cannot be parsed.
    #[error("{which} does not parse at line {line}")]
    Broken {
        /// "the file" or "the answer".
        which: &'static str,
        /// The first line that the parser cannot read, counted from 1.
        line: usize,
    },
    /// An item stands there more than once.
    #[error("there is more than one {0}")]
    Ambiguous(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_changes_an_item_or_leaves_none_out_is_no_mere_addition() {
        let name = || vec!["fn `a`".to_owned()];
        let adds = Merged { added: name(), kept: name(), ..Merged::default() };
        assert!(adds.only_adds());
        assert!(!Merged { replaced: name(), ..adds.clone() }.only_adds());
        assert!(!Merged { kept: Vec::new(), ..adds.clone() }.only_adds());
        assert!(!Merged { added: Vec::new(), ..adds }.only_adds());
    }
}
