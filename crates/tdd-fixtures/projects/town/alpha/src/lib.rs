//! A house.

/// ```
/// assert_eq!(alpha_house::rooms(), 3);
/// ```
///
/// Wrong on purpose, and a runner that always succeeds does not hide it:
///
/// ```
/// assert_eq!(alpha_house::rooms(), 4);
/// ```
pub fn rooms() -> u32 {
    3
}

#[test]
fn fails_although_the_runner_says_otherwise() {
    assert_eq!(rooms(), 4, "wrong on purpose");
}

#[test]
fn runs_in_the_folder_of_its_package() {
    assert!(std::path::Path::new("src/lib.rs").exists());
    assert!(std::env::current_dir().unwrap().ends_with("alpha"));
}

#[test]
fn sees_what_cargo_sets() {
    let at_run_time = |name: &str| std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set"));
    assert_eq!(at_run_time("CARGO_MANIFEST_DIR"), env!("CARGO_MANIFEST_DIR"));
    assert_eq!(at_run_time("CARGO_PKG_NAME"), env!("CARGO_PKG_NAME"));
    assert_eq!(at_run_time("CARGO_PKG_VERSION"), env!("CARGO_PKG_VERSION"));
    assert_eq!(at_run_time("CARGO_PKG_VERSION_PATCH"), env!("CARGO_PKG_VERSION_PATCH"));
    assert_eq!(at_run_time("CARGO_PKG_VERSION_PRE"), env!("CARGO_PKG_VERSION_PRE"));
    assert_eq!(at_run_time("TOWN_GREETING"), "hello from the configuration");
    assert!(std::path::Path::new(&at_run_time("TOWN_FOLDER")).join("note.txt").exists());
}

#[test]
fn can_call_cargo() {
    let output = std::process::Command::new(std::env::var("CARGO").unwrap()).arg("--version").output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("cargo "));
}

#[cfg(feature = "extra")]
#[test]
fn only_with_the_feature() {}
