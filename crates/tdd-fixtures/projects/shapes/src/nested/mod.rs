//! Modules in folders.

mod inner;

#[test]
fn beside_production() {}
