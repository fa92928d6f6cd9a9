use kata::add;

#[test]
fn adds() {
    let add = |a: i32, b: i32| a + b;
    assert_eq!(add(1, 2), 3);
    assert_eq!(add(2, 2), 4);
}
