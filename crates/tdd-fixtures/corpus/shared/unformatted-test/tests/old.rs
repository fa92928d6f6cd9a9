use kata::add;

fn name(n: i32) -> &'static str { match n { 3 => { "three" } _ => { "other" } } }

#[test]
fn sums() { let all: Vec<i32> = [1, 2].iter().map(|n| { add(*n, 1) }).collect(); assert_eq!(all, [2, 3]); assert_eq!(name(add(1, 2)), "three"); }
