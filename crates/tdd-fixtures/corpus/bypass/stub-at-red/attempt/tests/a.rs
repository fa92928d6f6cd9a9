use kata::halve;

#[test]
fn doubles() {
    assert_eq!(halve(4), 2);
}
