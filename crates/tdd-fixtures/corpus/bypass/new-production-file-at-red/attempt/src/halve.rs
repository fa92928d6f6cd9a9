/// Half.
pub fn halve(n: i32) -> i32 {
    n / 2
}
