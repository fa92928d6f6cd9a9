#[test]
fn takes_text_for_a_number() {
    let number: u32 = "a";
    assert_eq!(number, 1);
}
