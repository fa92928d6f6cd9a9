/// Twice.
pub fn double(n: i32) -> i32 {
    n * 2
}
