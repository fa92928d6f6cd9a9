use kata::halve;

#[test]
#[should_panic(expected = "odd")]
fn it_works() {
    halve(3);
}
