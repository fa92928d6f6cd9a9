use std::process::Command;

#[test]
fn runs_the_program() {
    let output = Command::new(env!("CARGO_BIN_EXE_beta-tool")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "5 rooms\n");
    assert_eq!(std::env::var("CARGO_BIN_EXE_beta-tool").as_deref(), Ok(env!("CARGO_BIN_EXE_beta-tool")));
}
