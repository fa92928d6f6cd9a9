#[test]
fn has_no_value() {
    let value = ;
    assert_eq!(value, 1);
}
