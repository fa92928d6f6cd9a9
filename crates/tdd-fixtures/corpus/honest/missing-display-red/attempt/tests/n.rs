use kata::Money;

#[test]
fn it_works() {
    assert_eq!(Money(3).to_string(), "3 EUR");
}
