use std::path::Path;

fn main() {
    let folder = std::env::var("OUT_DIR").unwrap();
    std::fs::write(Path::new(&folder).join("made.txt"), "made by build.rs").unwrap();
    println!("cargo::rustc-env=BETA_BUILT=yes");
    println!("cargo::rerun-if-changed=build.rs");
}
