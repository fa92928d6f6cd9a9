use kata::double;

#[test]
fn doubles() {
    let expected = std::fs::read_to_string("tests/snapshots/double.snap").unwrap();
    assert_eq!(format!("{}\n", double(2)), expected);
}
