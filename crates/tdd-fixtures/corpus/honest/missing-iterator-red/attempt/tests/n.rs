use kata::Countdown;

#[test]
fn it_works() {
    assert_eq!(Countdown(2).collect::<Vec<_>>(), [2, 1]);
}
