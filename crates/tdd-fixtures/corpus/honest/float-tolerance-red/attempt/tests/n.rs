use kata::area;

#[test]
fn it_works() {
    assert!((area(1.0) - 3.14159).abs() < 1e-4);
}
