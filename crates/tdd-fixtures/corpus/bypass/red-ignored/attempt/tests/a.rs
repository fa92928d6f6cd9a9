use kata::double;

#[test]
#[ignore]
fn doubles() {
    assert_eq!(double(2), 4);
}
