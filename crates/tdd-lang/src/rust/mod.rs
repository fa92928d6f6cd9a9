//! Rust: cargo projects, their tests and what cargo prints about them.

mod assertion;
mod attribute;
mod comment;
#[cfg(test)]
mod fixture;
pub mod ids;
pub mod items;
pub mod modules;
mod syntax;
mod word;
