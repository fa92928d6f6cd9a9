use kata::double;

#[test]
fn doubles() {
    let _x: u32 = "a";
    assert_eq!(double(2), 4);
}
