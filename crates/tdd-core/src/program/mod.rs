//! Programs: work that runs by itself in iterations, with its state and pages.

pub mod decision;
pub mod definition;
pub mod evaluation;
pub mod facts;
pub mod fence;
pub mod harness;
pub mod import;
pub mod iteration;
pub mod metric;
pub mod page;
pub mod schedule;
pub mod sections;
pub mod state;
pub mod strategy;

/// The branch that holds the state of programs.
pub const MEMORY: &str = "memory/autoloop";
/// The folder of all programs.
pub const FOLDER: &str = ".autoloop";

/// Whether a path is in the folder of programs, which models may neither edit nor see.
pub fn is_ours(path: &str) -> bool {
    // A cheap check first, because this is called for thousands of paths.
    let may_be = path.get(..FOLDER.len()).is_some_and(|start| start.eq_ignore_ascii_case(FOLDER));
    let first = path.split('/').next().unwrap_or_default();
    may_be && first.trim_end_matches(['.', ' ']).eq_ignore_ascii_case(FOLDER)
}

/// Whether a text is a valid name of a program: short and plain, because it names a folder.
pub fn is_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    !text.is_empty() && text.len() <= 80 && text.chars().all(plain) && !text.starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_plain_and_leads_nowhere_else() {
        for name in ["port", "tsb-perf_2", "A"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "-x", "a/b", "..", "a b", "é", &"x".repeat(81)] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn the_folder_of_programs_is_known_however_it_is_written() {
        assert!(is_ours(".autoloop/programs/x/program.md") && is_ours(".AutoLoop/x") && is_ours(".autoloop./x"));
        assert!(!is_ours("src/.autoloop/x") && !is_ours(".autoloops/x"));
    }
}
