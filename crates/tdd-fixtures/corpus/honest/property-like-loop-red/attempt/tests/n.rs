use kata::double;

#[test]
fn it_works() {
    for n in -50..50 {
        assert_eq!(double(n), n + n, "{n}");
    }
}
