//! The commands that format and check a cargo project, and the programs it needs.

use tdd_core::command::CommandSpec;

use crate::language::{Project, Settings, Sources, Tool};

use super::manifest::edition;
use super::owns;

/// Formats these files (relative to the repository's root); `None` if there is nothing to format.
///
/// Runs `cargo fmt`, configured or default, as `rustfmt` on the given files, which gives the same result ten times as
/// fast. Falls back to cargo if the files have different editions. `rustfmt` also formats the modules that a file
/// declares.
pub fn fmt(project: &Project, settings: &Settings, files: &[String], sources: &dyn Sources) -> Option<CommandSpec> {
    if let Some(configured) = settings.fmt_cmd.as_ref().filter(|configured| !is_cargo_fmt(configured)) {
        return Some(project.command(configured.clone(), settings));
    }
    let ours = files.iter().filter(|file| owns(file));
    let ours: Vec<(&str, String)> =
        ours.filter_map(|file| Some((project.relative_path(file)?, edition(file, sources)))).collect();
    let (_, edition) = ours.first()?;
    if ours.iter().any(|(_, other)| other != edition) {
        return Some(project.command(words(&["cargo", "fmt", "--all"]), settings));
    }
    let mut argv = words(&["rustfmt", "--edition", edition]);
    argv.extend(ours.iter().map(|(file, _)| argument(file)));
    Some(project.command(argv, settings))
}

/// The command that compiles and lints everything.
pub fn checker() -> Vec<String> {
    words(&["cargo", "clippy", "--all-targets", "--workspace", "--", "-D", "warnings"])
}

/// The programs that a cargo project needs or can use.
pub fn tools() -> Vec<Tool> {
    let rustup = "install Rust with rustup: https://rustup.rs";
    vec![
        Tool::required("cargo", ["cargo", "--version"], rustup),
        Tool::required("rustc", ["rustc", "--version"], rustup),
        Tool::required("rustfmt", ["rustfmt", "--version"], "rustup component add rustfmt"),
        Tool::required("clippy", ["cargo", "clippy", "--version"], "rustup component add clippy"),
        Tool::optional("cargo-nextest", ["cargo", "nextest", "--version"], "cargo install --locked cargo-nextest"),
        Tool::optional(
            "cargo-llvm-cov",
            ["cargo", "llvm-cov", "--version"],
            "rustup component add llvm-tools && cargo install --locked cargo-llvm-cov; \
             without it `detect-antipattern` cannot see which new lines no test executes",
        ),
    ]
}

fn is_cargo_fmt(argv: &[String]) -> bool {
    matches!(argv.iter().map(String::as_str).collect::<Vec<_>>()[..], ["cargo", "fmt"] | ["cargo", "fmt", "--all"])
}

/// A file path that no program mistakes for an option.
fn argument(file: &str) -> String {
    if file.starts_with('-') { format!("./{file}") } else { file.to_owned() }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;

    fn project(root: &str) -> Project {
        Project { root: root.to_owned(), description: String::new() }
    }

    fn formatting(argv: &[&str]) -> Settings {
        Settings { fmt_cmd: Some(words(argv)), ..Settings::default() }
    }

    /// Checks the formatting command in a repository of three packages.
    fn check_fmt(root: &str, settings: &Settings, files: &[&str], expected: Option<&str>) {
        let sources = memory(&[
            ("Cargo.toml", "[package]\nname = \"a\"\nedition = \"2024\""),
            ("sub/Cargo.toml", "[package]\nname = \"b\"\nedition = \"2021\""),
            ("old/Cargo.toml", "[package]\nname = \"c\""),
        ]);
        let line = fmt(&project(root), settings, &words(files), &sources).map(|command| {
            assert_eq!(command.cwd, root);
            command.line()
        });
        assert_eq!(line.as_deref(), expected);
    }

    #[test]
    fn only_the_changed_rust_files_are_formatted_in_their_edition() {
        let default = Settings::default();
        let files = ["src/lib.rs", "Cargo.toml", "tests/a.rs"];
        check_fmt("", &default, &files, Some("rustfmt --edition 2024 src/lib.rs tests/a.rs"));
        check_fmt("sub", &default, &["sub/src/a b.rs", "x.rs"], Some("rustfmt --edition 2021 'src/a b.rs'"));
        check_fmt("", &default, &["old/x.rs", "-x.rs"], Some("cargo fmt --all"));
        check_fmt("", &default, &["-x.rs"], Some("rustfmt --edition 2024 ./-x.rs"));
    }

    #[test]
    fn without_rust_files_there_is_nothing_to_format() {
        check_fmt("", &Settings::default(), &["README.md"], None);
        check_fmt("", &Settings::default(), &[], None);
    }

    #[test]
    fn a_configured_formatter_is_used_as_it_is_unless_it_is_cargo_fmt() {
        for plain in [&["cargo", "fmt"][..], &["cargo", "fmt", "--all"]] {
            check_fmt("", &formatting(plain), &["a.rs"], Some("rustfmt --edition 2024 a.rs"));
        }
        for other in [&["cargo", "+nightly", "fmt"][..], &["make", "fmt"]] {
            check_fmt("", &formatting(other), &["a.rs"], Some(&other.join(" ")));
        }
    }

    #[test]
    fn nextest_and_llvm_cov_can_be_missing() {
        let optional: Vec<String> = tools().into_iter().filter(|tool| !tool.required).map(|tool| tool.name).collect();
        assert_eq!(optional, ["cargo-nextest", "cargo-llvm-cov"]);
    }
}
