use kata::halve;

#[test]
fn doubles() {
    let x = halve(2);
    assert_eq!(x, x);
}
