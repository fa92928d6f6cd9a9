use kata::{add, expect};

#[test]
fn adds_more() {
    expect(add(2, 2), 4);
}
