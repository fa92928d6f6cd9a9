//! Thirty megabytes on standard output itself.
use std::io::Write;

#[test]
fn innocent() {}

#[test]
fn writes_thirty_megabytes() {
    let line = [b'x'; 1_000_000];
    for _ in 0..30 {
        std::io::stdout().write_all(&line).unwrap();
    }
}
