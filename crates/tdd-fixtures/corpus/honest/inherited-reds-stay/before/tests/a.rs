use kata::double;

#[test]
fn doubles() {
    assert_eq!(double(2), 4);
}

#[test]
fn doubles_minus_one() {
    assert_eq!(kata::add(1, 1), 3);
}

#[test]
fn doubles_strangely() {
    assert_eq!(kata::add(1, 1), 4);
}
