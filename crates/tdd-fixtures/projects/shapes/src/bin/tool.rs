fn main() {}

#[cfg(test)]
mod tests {
    #[test]
    fn same_name() {}
}
