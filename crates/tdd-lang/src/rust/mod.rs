//! Rust: cargo projects, their tests and what cargo prints about them.

pub mod argv;
mod assertion;
mod attribute;
#[cfg(test)]
mod captured;
mod comment;
pub mod compile;
pub mod diagnose;
pub mod doctest;
#[cfg(test)]
mod fixture;
pub mod ids;
pub mod items;
pub mod libtest;
mod manifest;
pub mod modules;
pub mod nextest;
pub mod places;
mod production;
pub mod project;
pub mod scaffold;
pub mod suite;
mod syntax;
pub mod test_command;
mod walk;
mod word;

/// Whether a file is Rust source.
pub fn owns(path: &str) -> bool {
    path.strip_suffix(".rs").is_some_and(|name| !name.is_empty() && !name.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rust_source_is_known_by_its_ending() {
        assert!(owns("src/lib.rs"));
        for path in ["Cargo.toml", "a.rs.txt", ".rs", "src/.rs", "rs"] {
            assert!(!owns(path), "{path}");
        }
    }
}
