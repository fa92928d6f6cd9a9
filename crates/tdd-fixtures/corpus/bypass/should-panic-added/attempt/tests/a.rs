use kata::double;

#[test]
#[should_panic]
fn doubles() {
    assert_eq!(double(2), 4);
}
