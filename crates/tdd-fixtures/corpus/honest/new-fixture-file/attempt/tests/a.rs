use kata::double;

#[test]
fn doubles() {
    let expected: i32 = include_str!("data/four.txt").trim().parse().unwrap();
    assert_eq!(double(2), expected);
}
