use kata::double;

#[test]
fn doubles() {
    std::fs::write("src/extra.rs", "//! New.\n").unwrap();
    assert_eq!(double(2), 4);
}
