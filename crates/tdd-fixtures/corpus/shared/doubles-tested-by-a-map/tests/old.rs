use kata::double;
use std::collections::BTreeMap;

#[test]
fn doubles() {
    let cases = BTreeMap::from([(0, vec![0])]);
    for (twice, numbers) in cases {
        for n in numbers {
            assert_eq!(double(n), twice);
        }
    }
}
