use kata::save;

#[test]
fn saves() {
    let mut store = [3];
    save(&mut store, 3);
    assert_eq!(store[0], 3);
}
