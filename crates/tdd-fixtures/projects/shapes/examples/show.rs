fn main() {
    println!("{}", shapes::area(2, 2));
}

#[test]
fn is_not_run_by_cargo_test() {
    panic!("an example's tests run only when asked for");
}
