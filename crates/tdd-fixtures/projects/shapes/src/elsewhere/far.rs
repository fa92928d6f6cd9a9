mod near;

#[test]
fn same_name() {}
