//! A macro.

use proc_macro::TokenStream;

/// ```
/// assert_eq!(macros::two!(), 2);
/// ```
#[proc_macro]
pub fn two(_: TokenStream) -> TokenStream {
    text().parse().unwrap()
}

fn text() -> &'static str {
    "2"
}

#[test]
fn is_two() {
    assert_eq!(text(), "2");
}
