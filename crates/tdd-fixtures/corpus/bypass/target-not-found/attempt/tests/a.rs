use kata::double;

#[test]
fn other() {
    assert_eq!(double(2), 4);
}
