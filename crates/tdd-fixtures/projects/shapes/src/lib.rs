//! Tests of every shape.
//!
//! ```
//! assert_eq!(shapes::area(2, 3), 6);
//! ```

pub mod nested;

/// The area of a rectangle.
///
/// ```
/// assert_eq!(shapes::area(1, 1), 1);
/// ```
///
/// Wrong on purpose:
///
/// ```
/// assert_eq!(shapes::area(2, 2), 5);
/// ```
///
/// ```ignore
/// shapes::area(0, 0);
/// ```
///
/// ```compile_fail
/// shapes::area("a", 1);
/// ```
///
/// ```compile_fail
/// shapes::area(3, 1);
/// ```
///
/// ```should_panic
/// shapes::area(u32::MAX, 2);
/// ```
///
/// ```should_panic
/// shapes::area(1, 2);
/// ```
///
/// ```no_run
/// shapes::area(4, 4);
/// ```
///
/// ```
/// shapes::volume(1, 2, 3);
/// ```
///
/// ```text
/// no doctest at all
/// ```
pub fn area(width: u32, height: u32) -> u32 {
    width.checked_mul(height).expect("too large")
}

/// A square.
pub struct Square(pub u32);

impl Square {
    /// ```
    /// assert_eq!(shapes::Square(3).side(), 3);
    /// ```
    pub fn side(&self) -> u32 {
        self.0
    }
}

impl PartialEq<u32> for Square {
    /// ```
    /// assert!(shapes::Square(3) == 3);
    /// ```
    fn eq(&self, other: &u32) -> bool {
        self.0 == *other
    }
}

#[cfg(test)]
#[path = "elsewhere/far.rs"]
mod renamed;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_name() {
        assert_eq!(area(2, 3), 6);
    }

    #[test]
    fn fails() {
        assert_eq!(area(2, 3), 7, "wrong on purpose");
    }

    #[test]
    fn not_written_yet() {
        todo!()
    }

    #[test]
    #[ignore]
    fn ignored() {}

    #[test]
    #[ignore = "too slow"]
    fn ignored_with_a_reason() {}

    #[test]
    #[should_panic]
    fn panics_as_it_should() {
        area(u32::MAX, 2);
    }

    #[test]
    #[should_panic(expected = "too large")]
    fn panics_with_the_right_message() {
        area(u32::MAX, 2);
    }

    #[test]
    #[should_panic(expected = "too small")]
    fn panics_with_the_wrong_message() {
        area(u32::MAX, 2);
    }

    #[test]
    #[should_panic]
    fn does_not_panic() {
        area(1, 2);
    }

    #[test]
    fn returns_ok() -> Result<(), String> {
        Ok(())
    }

    #[test]
    fn returns_an_error() -> Result<(), String> {
        Err("not today".to_owned())
    }

    #[test]
    fn ends_with_a_failing_exit_code() -> std::process::ExitCode {
        std::process::ExitCode::FAILURE
    }

    macro_rules! generated {
        ($($name:ident: $area:expr,)*) => {
            $(#[test] fn $name() { assert_eq!(area(1, 2), $area); })*
        };
    }
    generated! { made_by_a_macro: 2, made_by_a_macro_and_wrong: 3, }

    mod deeper {
        #[test]
        fn r#match() {}

        mod still {
            #[test]
            fn same_name() {}
        }
    }
}
