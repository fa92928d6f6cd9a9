mod common;

#[test]
fn same_name() {}
