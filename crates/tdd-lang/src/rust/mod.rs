//! Rust: cargo projects, their tests and what cargo prints about them.

mod assertion;
mod attribute;
mod comment;
pub mod items;
mod syntax;
mod word;
