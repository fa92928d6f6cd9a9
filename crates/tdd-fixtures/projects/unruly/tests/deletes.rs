#[test]
fn deletes_its_own_program() {
    std::fs::remove_file(std::env::current_exe().unwrap()).unwrap();
}

#[test]
fn innocent() {}
