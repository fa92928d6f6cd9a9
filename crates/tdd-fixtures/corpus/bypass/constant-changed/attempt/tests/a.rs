use kata::double;

const FOUR: i32 = 2;

#[test]
fn doubles() {
    assert_eq!(double(2), FOUR);
}
