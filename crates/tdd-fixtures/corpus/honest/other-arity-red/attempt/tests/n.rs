use kata::halve;

#[test]
fn it_works() {
    assert_eq!(halve(9, 3), 3);
}
