use framed_sign::frame;

fn check(text: &str, width: usize, lines: &[&str]) {
    assert_eq!(frame(text, width), Ok(lines.join("\n")));
}

#[test]
fn one_word_that_fits_exactly() {
    check("exit", 8, &["********", "* exit *", "********"]);
}

#[test]
fn a_short_word_is_centred() {
    check("no", 8, &["********", "*  no  *", "********"]);
}

#[test]
fn the_right_side_gets_the_odd_space() {
    check("no", 9, &["*********", "*  no   *", "*********"]);
}

#[test]
fn words_share_a_line_as_long_as_they_fit() {
    check("mind the step", 12, &["************", "* mind the *", "*   step   *", "************"]);
}

#[test]
fn each_word_may_need_its_own_line() {
    check("one two", 7, &["*******", "* one *", "* two *", "*******"]);
}

#[test]
fn spaces_and_line_breaks_do_not_matter() {
    check("  a \n\n b\tc ", 9, &["*********", "* a b c *", "*********"]);
}

#[test]
fn nothing_gives_one_empty_line() {
    check("", 6, &["******", "*    *", "******"]);
}

#[test]
fn columns_are_characters() {
    check("größe", 9, &["*********", "* größe *", "*********"]);
}

#[test]
fn a_word_that_does_not_fit_is_named() {
    assert_eq!(frame("no smoking here", 10), Err("smoking".to_owned()));
}

#[test]
fn a_frame_needs_room() {
    assert_eq!(frame("", 4), Err(String::new()));
}
