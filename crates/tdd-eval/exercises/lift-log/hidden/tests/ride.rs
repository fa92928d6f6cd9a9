use lift_log::{Ride, ride};

fn check(log: &str, floor: i32, travelled: u32, highest: i32, stops: &[i32]) {
    assert_eq!(ride(log), Ok(Ride { floor, travelled, highest, stops: stops.to_vec() }));
}

#[test]
fn an_empty_log_does_not_move() {
    check("", 0, 0, 0, &[]);
}

#[test]
fn a_move_up() {
    check("U3", 3, 3, 3, &[]);
}

#[test]
fn a_move_down_leads_below_the_ground() {
    check("D2", -2, 2, 0, &[]);
}

#[test]
fn moves_add_up() {
    check("U5 D2 U1", 4, 8, 5, &[]);
}

#[test]
fn doors_open_where_the_lift_is() {
    check("U3 O D1 O", 2, 4, 3, &[3, 2]);
}

#[test]
fn doors_may_open_at_the_start_and_twice() {
    check("O O", 0, 0, 0, &[0, 0]);
}

#[test]
fn a_move_may_have_two_digits() {
    check("U12 D20", -8, 32, 12, &[]);
}

#[test]
fn further_spaces_do_not_matter() {
    check("  U1   O ", 1, 1, 1, &[1]);
}

#[test]
fn an_unknown_entry_is_named() {
    assert_eq!(ride("U1 X2 D1"), Err("X2".to_owned()));
}

#[test]
fn small_letters_are_unknown() {
    assert_eq!(ride("u1"), Err("u1".to_owned()));
}

#[test]
fn a_move_needs_a_whole_number_of_floors() {
    for entry in ["U", "D0", "U-1", "U1.5", "D+1", "O1"] {
        assert_eq!(ride(entry), Err(entry.to_owned()));
    }
}
