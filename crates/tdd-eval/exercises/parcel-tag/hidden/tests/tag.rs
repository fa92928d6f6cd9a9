use parcel_tag::{check_letter, is_tag};

#[test]
fn one_digit() {
    assert_eq!(check_letter("7"), Some('H'));
}

#[test]
fn digits_count_by_their_place() {
    assert_eq!(check_letter("12"), Some('F'));
}

#[test]
fn a_letter_has_a_value() {
    assert_eq!(check_letter("B"), Some('L'));
}

#[test]
fn the_last_letter_of_the_alphabet() {
    assert_eq!(check_letter("Z"), Some('M'));
}

#[test]
fn the_sum_is_taken_by_its_remainder() {
    assert_eq!(check_letter("AB12"), Some('U'));
}

#[test]
fn a_remainder_of_nothing_is_a() {
    assert_eq!(check_letter("0"), Some('A'));
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
