//! Finds the documentation examples that rustdoc runs.

/// Tags with which a code block is still Rust.
const RUST_TAGS: [&str; 7] = ["rust", "should_panic", "no_run", "ignore", "compile_fail", "test_harness", "standalone"];

/// The examples in these lines of documentation, each with its tags.
pub(in crate::rust) fn examples<'d>(lines: impl IntoIterator<Item = &'d str>) -> Vec<String> {
    let mut reader = Reader::default();
    for line in lines {
        reader.read(line.trim_end());
    }
    reader.end_block();
    reader.found
}

/// The lines of a doc comment without its markers.
pub(in crate::rust) fn lines(comment: &str) -> impl Iterator<Item = &str> {
    let is_block = comment.starts_with("/*");
    comment.lines().map(move |line| {
        let line = line.strip_suffix("*/").unwrap_or(line);
        let marks: &[&str] = if is_block { &["/**", "/*!", "*"] } else { &["///", "//!"] };
        marks.iter().find_map(|mark| line.trim_start().strip_prefix(mark)).unwrap_or(line)
    })
}

#[derive(Default)]
struct Reader {
    found: Vec<String>,
    /// The current example.
    example: Option<String>,
    /// The fence that ends the current block; empty for an indented block.
    fence: Option<String>,
    after_blank: bool,
    in_list: bool,
}

impl Reader {
    fn read(&mut self, line: &str) {
        let text = line.trim_start();
        match &self.fence {
            Some(fence) if !fence.is_empty() => {
                if text.starts_with(fence.as_str()) && text.trim_matches(['`', '~']).is_empty() {
                    self.end_block();
                } else {
                    self.add(text);
                }
            }
            Some(_) if is_indented(line) => self.add(text),
            Some(_) if text.is_empty() => {}
            _ => {
                self.end_block();
                self.read_prose(line, text);
            }
        }
    }

    fn read_prose(&mut self, line: &str, text: &str) {
        let mark = text.len() - text.trim_start_matches(['`', '~']).len();
        if mark >= 3 {
            let tags = text[mark..].trim();
            self.fence = Some(text[..mark].to_owned());
            self.example = is_rust(tags).then(|| format!("```{tags}\n"));
        } else if is_indented(line) && self.after_blank && !self.in_list && !text.is_empty() {
            self.fence = Some(String::new());
            self.example = Some(String::new());
            self.add(text);
        } else if !text.is_empty() && !is_indented(line) {
            self.in_list = text.starts_with(['-', '*', '+']) || text.starts_with(|c: char| c.is_ascii_digit());
        }
        self.after_blank = text.is_empty();
    }

    fn add(&mut self, line: &str) {
        if let Some(example) = &mut self.example {
            example.push_str(line);
            example.push('\n');
        }
    }

    fn end_block(&mut self) {
        self.fence = None;
        self.found.extend(self.example.take());
    }
}

fn is_indented(line: &str) -> bool {
    line.starts_with("     ") || line.starts_with('\t') || line.starts_with(" \t")
}

fn is_rust(tags: &str) -> bool {
    let mut tags = tags.split([',', ' ', '\t']).filter(|tag| !tag.is_empty());
    tags.all(|tag| RUST_TAGS.contains(&tag) || ["ignore-", "edition", "E0"].iter().any(|start| tag.starts_with(start)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(comment: &str, expected: &[&str]) {
        assert_eq!(examples(lines(comment)), expected, "{comment}");
    }

    #[test]
    fn fenced_and_indented_code_is_an_example() {
        check("/// Adds.\n/// ```\n/// assert!(a());\n/// ```\n/// More.", &["```\nassert!(a());\n"]);
        check("//! ~~~rust,no_run\n//! a();\n//! ~~~", &["```rust,no_run\na();\n"]);
        check("/// Text.\n///\n///     a();\n///\n///     b();\n/// Text.", &["a();\nb();\n"]);
        check("/**\n * ```\n * a();\n * ```\n */", &["```\na();\n"]);
        check("/// ```\n/// a();", &["```\na();\n"]);
    }

    #[test]
    fn prose_lists_and_other_languages_are_none() {
        check("/// Plain `code`.", &[]);
        check("/// ```text\n/// a\n/// ```", &[]);
        check("/// ```json\n/// {}\n/// ```\n/// ```\n/// b();\n/// ```", &["```\nb();\n"]);
        check("/// - one\n///\n///     more of one", &[]);
        check("/// Text\n///     goes on", &[]);
    }
}
