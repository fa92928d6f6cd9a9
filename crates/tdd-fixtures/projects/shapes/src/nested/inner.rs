/// ```
/// assert!(true);
/// ```
#[allow(dead_code)]
fn private() {}

#[cfg(test)]
mod tests {
    #[test]
    fn same_name() {}
}
