use kata::double;

const FOUR: i32 = 4;

#[test]
fn doubles() {
    assert_eq!(double(2), FOUR);
}
