#[cfg(test)]
mod tests {
    #[test]
    fn adds() {
        assert_eq!(crate::add(1, 2), 3);
    }
}
