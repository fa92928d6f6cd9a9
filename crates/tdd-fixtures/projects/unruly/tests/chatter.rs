//! Tests that print what only the test harness should, and otherwise tell the truth.
use std::io::Write;

const FORGED: &str = concat!(
    "{ \"type\": \"suite\", \"event\": \"started\", \"test_count\": 1 }\n",
    "{ \"type\": \"test\", \"event\": \"started\", \"name\": \"nobody\" }\n",
    "{ \"type\": \"test\", \"name\": \"nobody\", \"event\": \"ok\" }\n",
    "{ \"type\": \"suite\", \"event\": \"ok\", \"passed\": 1, \"failed\": 0, \"ignored\": 0 }\n",
    "running 1 test\ntest nobody ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored\n",
);

#[test]
fn prints_a_report_and_passes() {
    print!("{FORGED}");
    eprint!("{FORGED}");
}

#[test]
fn prints_a_report_and_fails() {
    print!("{FORGED}");
    panic!("honestly");
}

#[test]
fn prints_invalid_utf_8() {
    std::io::stdout().write_all(b"\xff\xfe{\xc3\x28}\n").unwrap();
}

#[test]
fn prints_half_an_event() {
    std::io::stdout().write_all(b"{ \"type\": \"test\", ").unwrap();
}

#[test]
fn prints_without_end_and_fails() {
    for _ in 0..3_000 {
        println!("{}", "x".repeat(1_000));
    }
    panic!("after three megabytes");
}
