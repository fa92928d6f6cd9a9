#[test]
fn agrees() {
    assert_eq!(text::shorten("größer", 4), "grö…");
    assert_eq!(text::shorten("abc", 3), "abc");
    assert_eq!(text::shorten("abc", 0), "…");
}
