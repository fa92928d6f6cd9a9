use kata::Stack;

#[test]
fn it_works() {
    let mut stack = Stack::default();
    stack.push(1);
    assert_eq!(stack.len(), 1);
    let popped = stack.pop();
    assert_eq!(popped, Some(1));
}
