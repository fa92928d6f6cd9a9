use kata::double;

#[test]
fn doubles() {
    let root = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    assert!(std::path::Path::new(&root).join("kata.md").exists());
    assert_eq!(double(2), 4);
}
