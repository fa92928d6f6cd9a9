pub(crate) fn two(n: i32) -> i32 {
    n * 2
}
