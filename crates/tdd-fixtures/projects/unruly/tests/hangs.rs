#[test]
fn hangs() {
    loop {
        std::thread::sleep(std::time::Duration::from_secs(1));
    }
}

#[test]
fn innocent() {}
