//! Parses a configured test command: the Go program, its flags and the packages.

use crate::language::UnknownCommand;

/// The default command.
pub const DEFAULT: [&str; 3] = ["go", "test", "./..."];

/// Options with which tests cannot be run one by one, to their end.
const UNUSABLE: [&str; 9] = ["c", "o", "exec", "list", "n", "fuzz", "args", "i", "C"];

/// Options that only control printing, stopping or additional checks: we set these ourselves.
const OURS: [&str; 9] = ["v", "json", "count", "timeout", "failfast", "vet", "x", "parallel", "shuffle"];

/// Options whose value is not in the next word.
const SWITCHES: [&str; 18] = [
    "v",
    "json",
    "failfast",
    "x",
    "race",
    "short",
    "cover",
    "msan",
    "asan",
    "work",
    "a",
    "trimpath",
    "modcacherw",
    "linkshared",
    "benchmem",
    "fullpath",
    "n",
    "i",
];

/// A parsed test command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestCommand {
    /// The program.
    pub go: String,
    /// The flags that are passed on.
    pub flags: Vec<String>,
    /// The packages to test.
    pub packages: Vec<String>,
    /// Whether the command may select tests by name.
    pub picks: bool,
}

impl TestCommand {
    /// Parses a command.
    pub fn parse(argv: &[String]) -> Result<Self, UnknownCommand> {
        let unknown = |reason: &str| UnknownCommand { command: argv.join(" "), reason: reason.to_owned() };
        let [go, test, rest @ ..] = argv else { return Err(unknown("write `go test ./...`")) };
        if go.rsplit('/').next() != Some("go") || test != "test" {
            return Err(unknown("write `go test ./...`"));
        }
        let mut read = Self { go: go.clone(), flags: Vec::new(), packages: Vec::new(), picks: false };
        read.options(rest).map_err(|option| unknown(&format!("`{option}` cannot be used here")))?;
        if read.packages.is_empty() {
            read.packages.push("./...".to_owned());
        }
        Ok(read)
    }

    fn options(&mut self, words: &[String]) -> Result<(), String> {
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let Some(option) = word.strip_prefix('-') else {
                self.packages.push(word.clone());
                continue;
            };
            let name = option.trim_start_matches('-').split('=').next().unwrap_or(option);
            let name = name.strip_prefix("test.").unwrap_or(name);
            if UNUSABLE.contains(&name) {
                return Err(word.clone());
            }
            let value = if word.contains('=') || SWITCHES.contains(&name) { None } else { words.next() };
            if OURS.contains(&name) || name.starts_with("bench") || name.contains("profile") {
                continue;
            }
            self.picks |= matches!(name, "run" | "skip");
            self.flags.push(word.clone());
            self.flags.extend(value.cloned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<TestCommand, UnknownCommand> {
        TestCommand::parse(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    fn check(line: &str, flags: &str, packages: &str) {
        let read = parse(line).unwrap();
        assert_eq!((read.flags.join(" ").as_str(), read.packages.join(" ").as_str()), (flags, packages), "{line}");
    }

    #[test]
    fn its_flags_are_kept_but_for_those_that_are_ours() {
        check("go test ./...", "", "./...");
        check("go test", "", "./...");
        check("/opt/go/bin/go test -race -v -count=1 -timeout 30s ./a/... ./b", "-race", "./a/... ./b");
        check("go test -tags integration -short -coverprofile=c.out ./...", "-tags integration -short", "./...");
        assert!(parse("go test -run X ./...").unwrap().picks);
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for line in
            ["make test", "go vet ./...", "gotestsum", "go test -c", "go test -exec true ./...", "go", "go test -C x"]
        {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
