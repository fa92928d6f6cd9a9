//! Reads comments: the ids they give to tests, and the examples in them.

/// The marker for a test's id.
const MARK: &str = "@tdd-test-id:";

/// The slugs in a comment, each with its line (from 0). Only a line that begins with the marker counts.
pub(super) fn annotations(comment: &str) -> impl Iterator<Item = (usize, String)> + '_ {
    comment.lines().enumerate().filter_map(|(line, text)| {
        let text = text.trim_start_matches(|c: char| c.is_whitespace() || "/*!".contains(c));
        let slug = text.strip_prefix(MARK)?.trim_end().trim_end_matches("*/");
        Some((line, slug.split_whitespace().next().unwrap_or_default().to_owned()))
    })
}

/// Whether a comment documents the item below it.
pub(super) fn is_outer_doc(comment: &str) -> bool {
    let line = comment.starts_with("///") && !comment.starts_with("////");
    let block = comment.starts_with("/**") && !comment.starts_with("/***") && comment != "/**/";
    line || block
}

/// Whether a comment is documentation with a code block: a fence, or a line indented by four.
pub(super) fn documents_an_example(comment: &str) -> bool {
    let is_doc = is_outer_doc(comment) || comment.starts_with("//!") || comment.starts_with("/*!");
    is_doc && comment.lines().any(is_code)
}

fn is_code(line: &str) -> bool {
    let marks = ["///", "//!", "/**", "/*!", "*"];
    let line = marks.iter().find_map(|mark| line.trim_start().strip_prefix(mark)).unwrap_or(line);
    let is_indented = line.starts_with("    ") || line.starts_with('\t');
    line.contains("```") || line.contains("~~~") || (is_indented && !line.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_found_in_every_style_of_comment() {
        for comment in [
            "// @tdd-test-id: adds",
            "//@tdd-test-id:adds",
            "/// @tdd-test-id: adds\n",
            "//! @tdd-test-id: adds because",
            "/* @tdd-test-id: adds */",
            "/** @tdd-test-id: adds*/",
            "// @tdd-test-id: adds\r",
        ] {
            assert_eq!(annotations(comment).collect::<Vec<_>>(), [(0, "adds".to_owned())], "{comment}");
        }
        assert_eq!(annotations("/*\n * @tdd-test-id: adds\n */").collect::<Vec<_>>(), [(1, "adds".to_owned())]);
    }

    #[test]
    fn a_mark_in_the_middle_of_a_sentence_gives_nothing() {
        assert_eq!(annotations("// write @tdd-test-id: adds").count(), 0);
    }

    #[test]
    fn examples_are_code_blocks_of_documentation() {
        for comment in [
            "/// ```",
            "//! ~~~rust",
            "///     let a = 1;",
            "/**\n * ```\n */",
            "/*!\n    let a = 1;\n*/",
            "///\tlet a = 1;",
        ] {
            assert!(documents_an_example(comment), "{comment}");
        }
        for comment in ["// ```", "//// ```", "/* ``` */", "/// plain `code`", "/**/", "/*** ``` */", "///     "] {
            assert!(!documents_an_example(comment), "{comment}");
        }
    }
}
