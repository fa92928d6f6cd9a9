use kata::double;

#[test]
fn doubles() {
    let s = String::new();
    drop(s);
    assert_eq!(double(2) as usize, s.len());
}
