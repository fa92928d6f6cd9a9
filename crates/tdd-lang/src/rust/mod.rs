//! Rust: cargo projects, their tests and what cargo prints about them.
