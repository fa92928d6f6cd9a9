//! Parses a configured test command: build flags, selected targets and tests, and arguments for the test binaries.

use crate::language::UnknownCommand;

use super::compile::Target;

/// A parsed cargo test command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestCommand {
    /// `cargo`, with `+toolchain` if there is one.
    pub cargo: Vec<String>,
    /// The program that runs the tests.
    pub runner: Runner,
    /// `--workspace`, `-p x`, `--exclude y`.
    pub packages: Vec<String>,
    /// Features, profile, target and the like, used for every build.
    pub build: Vec<String>,
    /// The value of `--manifest-path`, which is also part of `build`.
    pub manifest: Option<String>,
    /// The selected targets; empty for all.
    pub targets: Vec<Wanted>,
    /// Filters for test names.
    pub filters: Vec<String>,
    /// Arguments for the test binaries.
    pub binary_args: Vec<String>,
}

/// The program that runs the tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Runner {
    /// The test binaries themselves.
    Libtest,
    /// `cargo nextest run`, with its own arguments.
    Nextest {
        /// Arguments that choose tests, for `list` and `run`.
        choose: Vec<String>,
        /// Other arguments, for `run` only.
        run: Vec<String>,
    },
}

/// A target selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// `--lib`
    Lib,
    /// `--bins`, or one by name
    Bin(Option<String>),
    /// `--tests`, which means all kinds that have tests, or one integration test by name
    Test(Option<String>),
    /// `--doc`
    Doc,
    /// `--all-targets`, `--examples`, `--benches`: examples and benchmarks are run only if their manifest says
    /// `test = true`
    Other,
}

/// The command if none is configured.
pub const DEFAULT: [&str; 3] = ["cargo", "test", "--workspace"];

impl TestCommand {
    /// Parses a command. Rejects everything unknown: ignoring a flag could change the tests' results.
    pub fn parse(argv: &[String]) -> Result<Self, UnknownCommand> {
        parse(argv).map_err(|reason| UnknownCommand { command: argv.join(" "), reason })
    }

    /// Whether this target's tests are to be run.
    pub fn wants(&self, target: &Target) -> bool {
        let library = target.is_production() && !target.is("bin");
        let chosen = |wanted: &Wanted| match wanted {
            Wanted::Lib => library,
            Wanted::Bin(name) => target.is("bin") && name.as_ref().is_none_or(|name| *name == target.name),
            Wanted::Test(None) | Wanted::Other => true,
            Wanted::Test(Some(name)) => target.is("test") && *name == target.name,
            Wanted::Doc => false,
        };
        let has_tests = target.is_production() || target.is("test") || target.test;
        has_tests && (self.targets.is_empty() || self.targets.iter().any(chosen))
    }

    /// Whether doctests are to be run.
    pub fn wants_doctests(&self) -> bool {
        self.runner == Runner::Libtest && (self.targets.is_empty() || self.targets == [Wanted::Doc])
    }

    /// Programs and integration tests selected by name.
    pub fn named_targets(&self) -> impl Iterator<Item = &str> {
        self.targets.iter().filter_map(|wanted| match wanted {
            Wanted::Test(Some(name)) | Wanted::Bin(Some(name)) => Some(name.as_str()),
            Wanted::Lib | Wanted::Bin(None) | Wanted::Test(None) | Wanted::Doc | Wanted::Other => None,
        })
    }

    /// Packages selected by name.
    pub fn named_packages(&self) -> impl Iterator<Item = &str> {
        let named = self.packages.windows(2).filter(|pair| matches!(pair[0].as_str(), "-p" | "--package"));
        named.map(|pair| pair[1].as_str())
    }

    /// The target triples that the tests may be built for: the requested ones, and those this machine may have.
    pub fn triples(&self) -> impl Iterator<Item = String> {
        let requested = self.build.windows(2).filter(|pair| pair[0] == "--target").map(|pair| pair[1].clone());
        let own = ["unknown-linux-gnu", "unknown-linux-musl", "apple-darwin"];
        requested.chain(own.map(|system| format!("{}-{system}", std::env::consts::ARCH)))
    }
}

fn parse(argv: &[String]) -> Result<TestCommand, String> {
    let mut words = argv.iter().map(String::as_str).peekable();
    let program = words.next().filter(|program| program.rsplit('/').next() == Some("cargo")).ok_or(ONLY_CARGO)?;
    let mut cargo = vec![program.to_owned()];
    cargo.extend(words.next_if(|word| word.starts_with('+')).map(str::to_owned));
    let runner = match (words.next(), words.peek()) {
        (Some("test" | "t"), _) => Runner::Libtest,
        (Some("nextest"), Some(&"run" | &"r")) => {
            words.next();
            Runner::Nextest { choose: Vec::new(), run: Vec::new() }
        }
        _ => return Err(ONLY_CARGO.to_owned()),
    };
    let mut command = TestCommand {
        cargo,
        runner,
        packages: Vec::new(),
        build: Vec::new(),
        manifest: None,
        targets: Vec::new(),
        filters: Vec::new(),
        binary_args: Vec::new(),
    };
    while let Some(word) = words.next() {
        if word == "--" {
            return binary_args(command, words);
        }
        take_word(&mut command, word, &mut words)?;
    }
    Ok(command)
}

const ONLY_CARGO: &str = "only `cargo test` and `cargo nextest run` are read directly; any other command needs \
     `ci.junit`, the report that it writes";

/// Flags that take a value, change how it is built, and are handed on as they are.
const VALUED_BUILD: [&str; 11] = [
    "-F",
    "--features",
    "--profile",
    "--target",
    "--target-dir",
    "--manifest-path",
    "--lockfile-path",
    "-j",
    "--jobs",
    "--config",
    "-Z",
];

/// Other flags of cargo's that take a value.
const VALUED: [&str; 9] = [
    "-p",
    "--package",
    "--exclude",
    "--cargo-profile",
    "--build-jobs",
    "--color",
    "--message-format",
    "--bin",
    "--test",
];

/// Flags without a value that change how it is built, and are handed on as they are.
const BUILD: [&str; 8] = [
    "--all-features",
    "--no-default-features",
    "--release",
    "-r",
    "--locked",
    "--offline",
    "--frozen",
    "--ignore-rust-version",
];

/// Flags that affect only the output, or what we decide ourselves.
const IGNORED: [&str; 10] = [
    "-q",
    "--quiet",
    "-v",
    "-vv",
    "--verbose",
    "--color",
    "--message-format",
    "--no-run",
    "--no-fail-fast",
    "--timings",
];

fn take_word<'a>(
    command: &mut TestCommand,
    word: &'a str,
    rest: &mut impl Iterator<Item = &'a str>,
) -> Result<(), String> {
    if !word.starts_with('-') {
        command.filters.push(word.to_owned());
        return Ok(());
    }
    if matches!(command.runner, Runner::Nextest { .. }) && take_nextest_word(command, word, rest)? {
        return Ok(());
    }
    let (flag, value) = split(word, rest, &[&VALUED_BUILD[..], &VALUED].concat())?;
    let (flag, value) = (flag.as_str(), value);
    let whole = [Some(flag.to_owned()), value.clone()].into_iter().flatten();
    match flag {
        "--workspace" | "--all" | "-p" | "--package" | "--exclude" => command.packages.extend(whole),
        "--lib" => command.targets.push(Wanted::Lib),
        "--bins" | "--bin" => command.targets.push(Wanted::Bin(value)),
        "--tests" | "--test" => command.targets.push(Wanted::Test(value)),
        "--doc" => command.targets.push(Wanted::Doc),
        "--all-targets" | "--examples" | "--benches" => command.targets.push(Wanted::Other),
        "--cargo-profile" => command.build.extend(["--profile".to_owned(), value.unwrap_or_default()]),
        "--build-jobs" => command.build.extend(["--jobs".to_owned(), value.unwrap_or_default()]),
        _ if VALUED_BUILD.contains(&flag) || BUILD.contains(&flag) => {
            if flag == "--manifest-path" {
                command.manifest.clone_from(&value);
            }
            command.build.extend(whole);
        }
        _ if IGNORED.contains(&flag) => {}
        _ => {
            return Err(format!(
                "the machine does not know the flag `{flag}`, and without it the tests might have other results"
            ));
        }
    }
    Ok(())
}

/// A flag and its value, from `--flag value`, `--flag=value` or `-fvalue`.
fn split<'a>(
    word: &'a str,
    rest: &mut impl Iterator<Item = &'a str>,
    valued: &[&str],
) -> Result<(String, Option<String>), String> {
    if let Some((flag, value)) = word.split_once('=').filter(|_| word.starts_with("--")) {
        return Ok((flag.to_owned(), Some(value.to_owned())));
    }
    if valued.contains(&word) {
        let value = rest.next().ok_or_else(|| format!("`{word}` lacks its value"))?;
        return Ok((word.to_owned(), Some(value.to_owned())));
    }
    let short = word.get(..2).filter(|short| !word.starts_with("--") && word.len() > 2 && valued.contains(short));
    Ok(short.map_or((word.to_owned(), None), |short| {
        (short.to_owned(), Some(word[2..].trim_start_matches('=').to_owned()))
    }))
}

/// nextest flags that choose tests; all take a value.
const NEXTEST_CHOOSE: [&str; 8] =
    ["-E", "--filter-expr", "--filterset", "--run-ignored", "-P", "--profile", "--config-file", "--partition"];

/// nextest flags that say how tests are run, and take a value.
const NEXTEST_RUN: [&str; 1] = ["--test-threads"];

/// nextest flags that affect only the output or what we decide ourselves, and take a value.
const NEXTEST_IGNORED: [&str; 8] = [
    "--retries",
    "--status-level",
    "--final-status-level",
    "--failure-output",
    "--success-output",
    "--no-tests",
    "--show-progress",
    "--max-fail",
];

/// Parses a flag of nextest's own; returns whether it was one.
fn take_nextest_word<'a>(
    command: &mut TestCommand,
    word: &'a str,
    rest: &mut impl Iterator<Item = &'a str>,
) -> Result<bool, String> {
    let own: Vec<&str> = NEXTEST_CHOOSE.iter().chain(&NEXTEST_RUN).chain(&NEXTEST_IGNORED).copied().collect();
    let name = word.split('=').next().unwrap_or(word);
    if matches!(name, "--fail-fast" | "--ff" | "--no-ff" | "--no-capture" | "--nocapture" | "--hide-progress-bar") {
        return Ok(true);
    }
    if !own.contains(&name) {
        return Ok(false);
    }
    let (flag, value) = split(word, rest, &own)?;
    let words = [flag.clone(), value.unwrap_or_default()];
    if let Runner::Nextest { choose, run } = &mut command.runner {
        match flag.as_str() {
            flag if NEXTEST_CHOOSE.contains(&flag) => choose.extend(words),
            flag if NEXTEST_RUN.contains(&flag) => run.extend(words),
            _ => {}
        }
    }
    Ok(true)
}

/// Parses the arguments after `--`.
fn binary_args<'a>(mut command: TestCommand, mut words: impl Iterator<Item = &'a str>) -> Result<TestCommand, String> {
    const VALUED: [&str; 4] = ["--test-threads", "--skip", "--color", "--format"];
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            command.filters.push(word.to_owned());
            continue;
        }
        let (flag, value) = split(word, &mut words, &VALUED)?;
        match flag.as_str() {
            "--test-threads" | "--skip" | "--exact" | "--ignored" | "--include-ignored" => {
                command.binary_args.push(flag);
                command.binary_args.extend(value);
            }
            "--nocapture" | "--no-capture" | "--show-output" | "-q" | "--quiet" | "--color" | "--format" => {}
            _ => return Err(format!("the machine does not know the flag `{flag}` after `--`")),
        }
    }
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> TestCommand {
        TestCommand::parse(&words(line)).unwrap()
    }

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    fn target(kind: &str, name: &str) -> Target {
        let (kind, name) = (vec![kind.to_owned()], name.to_owned());
        Target { kind, name, src_path: String::new(), test: false, doctest: false }
    }

    #[test]
    fn flags_go_where_they_belong() {
        let command = parsed(
            "cargo +nightly t --all --features x -F=y --release -q foo -- --test-threads=1 --nocapture --skip z",
        );
        assert_eq!(command.cargo, ["cargo", "+nightly"]);
        assert_eq!(command.packages, ["--all"]);
        assert_eq!(command.build.join(" "), "--features x -F y --release");
        assert_eq!(command.filters, ["foo"]);
        assert_eq!(command.binary_args, ["--test-threads", "1", "--skip", "z"]);
    }

    #[test]
    fn the_seeds_command_and_the_default_mean_everything() {
        for line in ["cargo test --all", "cargo test --workspace", "/usr/bin/cargo test"] {
            let command = parsed(line);
            assert!(
                command.wants_doctests() && command.wants(&target("lib", "a")) && command.wants(&target("test", "t"))
            );
            assert!(!command.wants(&target("example", "e")) && !command.wants(&target("bench", "b")));
            assert!(command.wants(&Target { test: true, ..target("example", "e") }));
        }
    }

    #[test]
    fn selectors_choose_targets() {
        let lib = parsed("cargo test --lib");
        assert!(lib.wants(&target("lib", "a")) && lib.wants(&target("proc-macro", "m")));
        assert!(!lib.wants(&target("test", "t")) && !lib.wants(&target("bin", "a")) && !lib.wants_doctests());
        let one = parsed("cargo test --test t --bin=b");
        assert!(one.wants(&target("test", "t")) && one.wants(&target("bin", "b")) && !one.wants(&target("test", "u")));
        let doc = parsed("cargo test --doc");
        assert!(doc.wants_doctests() && !doc.wants(&target("lib", "a")));
    }

    #[test]
    fn nextest_keeps_its_own_flags_apart() {
        let command = parsed(
            "cargo nextest run --profile ci -E all() --cargo-profile fast --retries 3 --test-threads 2 --workspace",
        );
        let choose = words("--profile ci -E all()");
        assert_eq!(command.runner, Runner::Nextest { choose, run: words("--test-threads 2") });
        assert_eq!((command.build, command.packages), (words("--profile fast"), words("--workspace")));
    }

    #[test]
    fn what_is_not_understood_is_refused_with_a_reason() {
        for line in [
            "make test",
            "cargo",
            "cargo nextest",
            "cargo nextest list",
            "cargo check",
            "cargo test --frobnicate",
            "cargo test -- --bench",
            "cargo test -p",
        ] {
            let refused = TestCommand::parse(&words(line)).expect_err(line);
            assert_eq!(refused.command, line);
        }
        assert!(TestCommand::parse(&words("make test")).unwrap_err().reason.contains("ci.junit"));
    }
}
