use kata::größe;

#[test]
fn zählt_wörter() {
    assert_eq!(größe("äöü"), 3);
}
