use kata::double;

#[test]
fn it_works() {
    assert_eq!(double(0), 0);
}
