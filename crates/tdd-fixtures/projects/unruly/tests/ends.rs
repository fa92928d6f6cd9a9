//! Tests that take their process with them.
#![allow(unconditional_recursion)]

#[test]
fn aborts() {
    std::process::abort();
}

#[test]
fn exits_with_0() {
    std::process::exit(0);
}

#[test]
fn exits_with_101() {
    std::process::exit(101);
}

#[test]
fn fails() {
    panic!("the truth");
}

#[test]
fn innocent() {}

#[test]
fn overflows_its_stack() {
    fn deeper(n: u64) -> u64 {
        std::hint::black_box(deeper(std::hint::black_box(n + 1))) + 1
    }
    deeper(0);
}

#[test]
fn panics_while_panicking() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("second");
        }
    }
    let _bomb = Bomb;
    panic!("first");
}

#[test]
fn writes_to_address_0() {
    unsafe { std::hint::black_box(std::ptr::null_mut::<u8>()).write_volatile(1) };
}
