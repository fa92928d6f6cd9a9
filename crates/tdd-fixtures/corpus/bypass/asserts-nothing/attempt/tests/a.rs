use kata::halve;

#[test]
fn doubles() {
    halve(2);
}
