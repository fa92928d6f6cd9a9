//! The result of merging an answer into a file, or why that is impossible.

/// A file with an answer merged into it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// The whole file.
    pub text: String,
    /// The items that are new in the file.
    pub added: Vec<String>,
    /// The items whose tokens differ between answer and file.
    pub replaced: Vec<String>,
    /// The items that the answer leaves out.
    pub kept: Vec<String>,
}

impl Merged {
    /// Whether the answer only adds items and leaves others out: then it was meant as an addition, not as the whole
    /// file.
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
    /// An item occurs more than once.
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
