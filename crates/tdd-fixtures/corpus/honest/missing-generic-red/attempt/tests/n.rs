use kata::Pair;

#[test]
fn it_works() {
    let pair: Pair<u8> = Pair::new(1, 2);
    assert_eq!(*pair.larger(), 2);
}
