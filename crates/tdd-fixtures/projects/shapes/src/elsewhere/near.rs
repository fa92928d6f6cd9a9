#[test]
fn beside_the_file_that_was_pointed_at() {}
