//! Next door.

/// Rooms of both houses.
///
/// ```
/// let home = std::env::var("HOME").unwrap();
/// assert_eq!(std::fs::read_dir(home).unwrap().count(), 0);
/// assert!(std::env::vars().all(|(_, value)| !value.contains("hunter2")));
/// ```
pub fn rooms() -> u32 {
    alpha_house::rooms() + macros::two!()
}

#[test]
fn has_five_rooms() {
    assert_eq!(rooms(), 5);
}

#[test]
fn sees_what_its_build_script_made() {
    assert_eq!(std::env::var("BETA_BUILT").as_deref(), Ok("yes"));
    let folder = std::env::var("OUT_DIR").unwrap();
    assert_eq!(std::fs::read_to_string(format!("{folder}/made.txt")).unwrap(), "made by build.rs");
}

#[test]
fn reads_a_file_of_its_package() {
    assert_eq!(std::fs::read_to_string("data/note.txt").unwrap(), "a note\n");
}
