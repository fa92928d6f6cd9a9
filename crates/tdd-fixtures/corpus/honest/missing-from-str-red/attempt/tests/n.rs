use kata::Money;

#[test]
fn it_works() {
    let money: Money = "3".parse().unwrap();
    assert_eq!(money.0, 3);
}
