use kata::halve;

#[test]
fn it_works() {
    assert_eq!(halve(3), Some(1));
}
