use framed_sign::frame;

fn check(text: &str, width: usize, lines: &[&str]) {
    assert_eq!(frame(text, width), Ok(lines.join("\n")));
}

#[test]
fn a_word_is_centred_and_the_right_side_gets_the_odd_space() {
    check("exit", 8, &["********", "* exit *", "********"]);
    check("no", 8, &["********", "*  no  *", "********"]);
    check("no", 9, &["*********", "*  no   *", "*********"]);
}

#[test]
fn words_share_a_line_as_long_as_they_fit() {
    check("mind the step", 12, &["************", "* mind the *", "*   step   *", "************"]);
    check("one two", 7, &["*******", "* one *", "* two *", "*******"]);
}

#[test]
fn spaces_and_line_breaks_do_not_matter() {
    check("  a \n\n b\tc ", 9, &["*********", "* a b c *", "*********"]);
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
