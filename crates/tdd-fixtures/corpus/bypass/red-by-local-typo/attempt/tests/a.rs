use kata::double;

#[test]
fn doubles() {
    let number = 2;
    assert_eq!(double(nmber), 4);
}
