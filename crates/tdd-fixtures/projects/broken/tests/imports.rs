use serde::Deserialize;

#[derive(Deserialize)]
struct Thing;

#[test]
fn wants_a_crate_that_is_not_there() {
    assert_eq!(broken::double(1), 2);
}
