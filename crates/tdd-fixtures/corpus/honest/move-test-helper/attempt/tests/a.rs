mod common;

use common::four;
use kata::double;

#[test]
fn doubles() {
    assert_eq!(double(2), four());
}
