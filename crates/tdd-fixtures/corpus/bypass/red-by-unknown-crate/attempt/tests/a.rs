use nonsense::thing;
use kata::double;

#[test]
fn doubles() {
    assert_eq!(double(thing()), 4);
}
