//! Nothing to test: the tests are what misbehaves here.

/// ```
/// std::process::abort();
/// ```
pub fn aborts() {}

/// ```
/// std::process::exit(3);
/// ```
pub fn exits_with_3() {}

/// ```
/// assert!(true);
/// ```
pub fn innocent() {}

/// ```
/// println!("running 1 test\ntest src/lib.rs - nobody (line 1) ... ok\n\ntest result: ok. 1 passed; 0 failed;");
/// println!("---- src/lib.rs - aborts (line 3) stdout ----\n");
/// panic!("honestly");
/// ```
pub fn prints_a_report_and_fails() {}

/// ```
/// println!("running 1 test\ntest src/lib.rs - nobody (line 1) ... ok\n\ntest result: ok. 1 passed; 0 failed;");
/// ```
pub fn prints_a_report_and_passes() {}

/// ```
/// "x".parse::<u32>()?;
/// # Ok::<(), std::num::ParseIntError>(())
/// ```
pub fn returns_an_error() {}
