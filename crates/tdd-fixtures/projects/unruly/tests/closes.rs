//! Tests that take the ground away from under the harness.
unsafe extern "C" {
    fn close(fd: i32) -> i32;
}

#[test]
fn closes_its_output() {
    std::thread::sleep(std::time::Duration::from_millis(100));
    unsafe { close(1) };
}

#[test]
fn innocent() {}
