use kata::Stack;

#[test]
fn it_works() {
    let mut stack = Stack::default();
    stack.push(1);
    assert_eq!(stack.len(), 1);
}
