use parcel_tag::{check_letter, is_tag};

#[test]
fn a_digit_or_letter_has_a_check_letter() {
    for (code, letter) in [("7", 'H'), ("0", 'A'), ("B", 'L'), ("Z", 'M')] {
        assert_eq!(check_letter(code), Some(letter), "{code}");
    }
}

#[test]
fn characters_count_by_their_place() {
    assert_eq!(check_letter("12"), Some('F'));
    assert_eq!(check_letter("AB12"), Some('U'), "by the remainder of the sum");
}

#[test]
fn a_long_code_has_a_letter_too() {
    assert_eq!(check_letter(&"9".repeat(1000)), Some('T'));
}

#[test]
fn what_is_no_code_has_no_letter() {
    for code in ["", "a", "1 2", "1-2", "é", "1_"] {
        assert_eq!(check_letter(code), None, "{code}");
    }
}

#[test]
fn a_code_with_its_letter_is_a_tag() {
    assert!(is_tag("12-F"));
}

#[test]
fn blanks_around_a_tag_are_allowed() {
    assert!(is_tag("  12-F\n"));
    assert!(!is_tag("12 -F"));
}

#[test]
fn anything_else_is_no_tag() {
    assert!(is_tag("7-H"));
    for tag in ["12-G", "12F", "-A", "12-", "12-FF", "12-f", "F-12", ""] {
        assert!(!is_tag(tag), "{tag}");
    }
}
