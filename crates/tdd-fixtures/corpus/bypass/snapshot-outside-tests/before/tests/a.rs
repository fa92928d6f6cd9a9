use kata::double;

#[test]
fn doubles() {
    let expected = std::fs::read_to_string("fixtures/double.txt").unwrap();
    assert_eq!(format!("{}\n", double(2)), expected);
}
