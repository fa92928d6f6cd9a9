use kata::double;

#[test]
fn doubles() {
    let expected = std::fs::read_to_string("tests/data/double.txt").unwrap();
    assert_eq!(double(2).to_string(), expected.trim());
}
