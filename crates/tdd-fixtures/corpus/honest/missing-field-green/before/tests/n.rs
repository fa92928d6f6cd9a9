use kata::Point;

#[test]
fn it_works() {
    let p = Point { x: 1, y: 2 };
    assert_eq!(p.x + p.y, 3);
}
