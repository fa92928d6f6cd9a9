#[test]
fn no_data() {
    assert_eq!(kata::add(std::fs::read_dir("tests").unwrap().count() as i32, 0), 2);
}
