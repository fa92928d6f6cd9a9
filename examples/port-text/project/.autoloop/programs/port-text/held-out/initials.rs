#[test]
fn agrees() {
    assert_eq!(text::initials("  élan   vital"), "ÉV");
    assert_eq!(text::initials(""), "");
}
