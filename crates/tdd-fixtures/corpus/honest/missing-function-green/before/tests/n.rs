use kata::halve;

#[test]
fn it_works() {
    assert_eq!(halve(4), 2);
}
