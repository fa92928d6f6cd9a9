//! Tests that leave something behind.
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

#[test]
fn leaves_a_daemon_behind() {
    let daemon = "echo $$ > target/daemon.new && mv target/daemon.new target/daemon && exec sleep 4321";
    Command::new("setsid").args(["sh", "-c", daemon]).stdin(Stdio::null()).spawn().unwrap();
    while !Path::new("target/daemon").exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn innocent() {}
