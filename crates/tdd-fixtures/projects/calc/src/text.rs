//! Adds the numbers in a text.

/// Adds what stands between commas.
pub fn sum(text: &str) -> i32 {
    text.split(',').map(|part| part.parse::<i32>().unwrap()).sum()
}

#[cfg(test)]
mod tests {
    #[test]
    fn sums() {
        assert_eq!(super::sum("1,2,3"), 6);
    }

    #[test]
    #[should_panic(expected = "InvalidDigit")]
    fn refuses_letters() {
        super::sum("1,x");
    }
}
