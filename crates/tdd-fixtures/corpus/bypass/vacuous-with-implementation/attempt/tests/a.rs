use kata::double;

#[test]
fn doubles() {
    double(2);
}
