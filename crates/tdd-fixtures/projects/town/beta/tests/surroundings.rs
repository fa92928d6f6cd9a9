//! What a test sees of the machine it runs on.
use std::path::PathBuf;

fn folder(variable: &str) -> PathBuf {
    PathBuf::from(std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set")))
}

#[test]
fn home_is_a_fresh_empty_folder() {
    assert_eq!(folder("HOME").read_dir().unwrap().count(), 0);
}

#[test]
fn the_folder_for_temporary_files_is_fresh() {
    let mark = folder("TMPDIR").join("mark");
    assert!(!mark.exists());
    std::fs::write(mark, "").unwrap();
}

#[test]
fn no_secret_is_visible() {
    let seen: Vec<_> = std::env::vars_os().filter(|(_, value)| value.to_string_lossy().contains("hunter2")).collect();
    assert!(seen.is_empty(), "{seen:?}");
}

#[test]
fn what_makes_the_same_tree_behave_differently_is_not_visible() {
    for name in ["RUSTFLAGS", "RUSTC_WRAPPER", "CARGO_BUILD_TARGET", "RUSTDOCFLAGS", "CARGO_TARGET_DIR"] {
        assert_eq!(std::env::var_os(name), None, "{name}");
    }
    assert!(!cfg!(from_outside));
}
