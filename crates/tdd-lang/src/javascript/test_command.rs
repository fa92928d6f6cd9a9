//! Parses a configured test command or a package's script: its runner and the runner's options.

use crate::language::UnknownCommand;

/// The command if none is configured: the package's own script.
pub const DEFAULT: [&str; 2] = ["npm", "test"];

/// Advice for commands that we cannot read.
const READABLE: &str = "write `node --test`, `vitest run`, `jest` or `npm test`";

/// A program that runs tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// Node's own runner.
    Node,
    /// Vitest.
    Vitest,
    /// Jest.
    Jest,
}

impl Program {
    /// The program's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Vitest => "vitest",
            Self::Jest => "jest",
        }
    }

    /// Options that take the next word as their value.
    fn with_value(self) -> &'static [&'static str] {
        match self {
            Self::Node => &["--import", "-r", "--require", "--loader", "--experimental-loader", "-C", "--conditions"],
            Self::Vitest => &["-c", "--config", "-r", "--root", "--dir", "--project", "--environment", "--pool", "-t"],
            Self::Jest => &["-c", "--config", "-t", "--rootDir", "--env", "--selectProjects", "--testPathPatterns"],
        }
    }

    /// Options about output or parallelism, which we decide ourselves.
    fn ours(self) -> &'static [&'static str] {
        match self {
            Self::Node => &["--test", "--test-concurrency", "--test-force-exit", "--test-isolation", "--test-timeout"],
            Self::Vitest => {
                &["run", "--run", "watch", "--watch", "-w", "--coverage", "--bail", "--silent", "--passWithNoTests"]
            }
            Self::Jest => {
                &["--coverage", "--ci", "--verbose", "--silent", "--bail", "--colors", "--passWithNoTests", "--json"]
            }
        }
    }

    /// Options about output that take the next word as their value.
    fn printing(self) -> &'static [&'static str] {
        match self {
            Self::Node => &["--test-reporter", "--test-reporter-destination"],
            Self::Vitest => &["--reporter", "--outputFile"],
            Self::Jest => &["--reporters", "--outputFile"],
        }
    }

    /// Options that would keep tests from running once, unchanged, to their end.
    fn unusable(self) -> &'static [&'static str] {
        match self {
            Self::Node => &["--watch", "--test-update-snapshots", "--test-only", "--test-shard"],
            Self::Vitest => {
                &["-u", "--update", "--ui", "bench", "list", "typecheck", "related", "--shard", "--standalone"]
            }
            Self::Jest => {
                &["-u", "--updateSnapshot", "--watch", "--watchAll", "--listTests", "-o", "--onlyChanged", "--shard"]
            }
        }
    }
}

/// A parsed test command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestCommand {
    /// The script with this name in `package.json`, with additional arguments.
    Script(String, Vec<String>),
    /// The script with this name in every package of the workspace.
    Each(String),
    /// A runner.
    Run(Run),
}

/// A runner with its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The runner.
    pub program: Program,
    /// Its options.
    pub flags: Vec<String>,
    /// Where to look for tests; empty means everywhere.
    pub places: Vec<String>,
}

impl TestCommand {
    /// Parses a command.
    pub fn parse(argv: &[String]) -> Result<Self, UnknownCommand> {
        let unknown = |reason: String| UnknownCommand { command: argv.join(" "), reason };
        if argv.iter().any(|word| matches!(word.as_str(), "&&" | "||" | ";" | "|" | "&")) {
            return Err(unknown(format!("it is more than one command; {READABLE}")));
        }
        let words = without_wrapper(argv);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let script = |name: &str, rest: &[&str]| {
            let rest = rest.iter().filter(|word| **word != "--").map(|word| (*word).to_owned());
            Ok(Self::Script(name.to_owned(), rest.collect()))
        };
        if let Some(name) = each(&words) {
            return Ok(Self::Each(name));
        }
        match words[..] {
            ["npm" | "pnpm" | "yarn" | "bun", "test" | "t" | "tst", ref rest @ ..] => script("test", rest),
            ["npm" | "pnpm" | "yarn" | "bun", "run" | "run-script", name, ref rest @ ..] => script(name, rest),
            [program, ref rest @ ..] => run(program, rest).map(Self::Run).map_err(|option| match option.as_str() {
                "" => unknown(READABLE.to_owned()),
                option => unknown(format!("`{option}` cannot be used here")),
            }),
            [] => Err(unknown(READABLE.to_owned())),
        }
    }
}

/// The script that a command runs in every package of a workspace.
fn each(words: &[&str]) -> Option<String> {
    let (program, rest) = words.split_first()?;
    let rest = rest.split(|word| *word == "--").next().unwrap_or(rest);
    let says = |all: &[&str]| rest.iter().any(|word| all.contains(word));
    let is_each = match *program {
        "npm" => says(&["--workspaces", "-ws", "--workspaces=true"]),
        "pnpm" => says(&["-r", "--recursive", "recursive"]),
        "yarn" => rest.first() == Some(&"workspaces"),
        "lerna" | "nx" | "turbo" => true,
        _ => false,
    };
    let verbs = ["run", "run-script", "run-many", "workspaces", "foreach", "recursive", "t", "tst"];
    let name = rest.iter().rfind(|word| !word.starts_with('-') && !verbs.contains(word));
    is_each.then(|| name.map_or("test", |name| *name).to_owned())
}

impl Run {
    /// A runner without options.
    pub fn plain(program: Program) -> Self {
        Self { program, flags: Vec::new(), places: Vec::new() }
    }

    /// Whether it runs only some of the tests.
    pub fn leaves_out(&self) -> bool {
        let picks = ["-t", "--testNamePattern", "--test-name-pattern", "--test-skip-pattern", "--exclude"];
        let named = |flag: &String| picks.iter().any(|pick| flag.split('=').next() == Some(pick));
        !self.places.is_empty() || self.flags.iter().any(named)
    }
}

/// A command without leading environment variables and launchers such as `npx`.
fn without_wrapper(argv: &[String]) -> &[String] {
    let is_variable = |word: &String| {
        let name = word.split_once('=').map_or("", |(name, _)| name);
        !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
    };
    let mut words = argv;
    loop {
        let text: Vec<&str> = words.iter().take(2).map(String::as_str).collect();
        let dropped = match text[..] {
            ["npx" | "bunx" | "cross-env" | "env", ..] => 1,
            ["pnpm" | "npm" | "yarn" | "bun", "exec" | "x"] => 2,
            ["yarn" | "pnpm", "vitest" | "jest"] => 1,
            ["--" | "--yes" | "-y" | "--no-install" | "--no", ..] if words.len() < argv.len() => 1,
            _ if words.first().is_some_and(is_variable) => 1,
            _ => return words,
        };
        words = &words[dropped..];
    }
}

/// The runner of a program. The error is the option that cannot be used, or empty if the command cannot be read.
fn run(program: &str, rest: &[&str]) -> Result<Run, String> {
    let name = program.rsplit('/').next().unwrap_or(program);
    let by_script = |word: &&str| match word.rsplit('/').next() {
        Some("jest.js" | "jest") if word.contains('/') => Some(Program::Jest),
        Some("vitest.mjs" | "vitest") if word.contains('/') => Some(Program::Vitest),
        _ => None,
    };
    let (program, rest) = match name {
        "vitest" => (Program::Vitest, rest),
        "jest" => (Program::Jest, rest),
        "node" | "tsx" => match rest.iter().position(|word| by_script(word).is_some()) {
            Some(at) => (by_script(&rest[at]).unwrap_or(Program::Jest), &rest[at + 1..]),
            None if rest.contains(&"--test") => (Program::Node, rest),
            None => return Err(String::new()),
        },
        _ => return Err(String::new()),
    };
    let mut found = Run::plain(program);
    if name == "tsx" {
        found.flags.push("--import=tsx".to_owned());
    }
    found.options(rest)?;
    Ok(found)
}

impl Run {
    /// Adds options.
    pub fn options(&mut self, words: &[&str]) -> Result<(), String> {
        let program = self.program;
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let name = word.split('=').next().unwrap_or(word);
            let is_off = word.ends_with("=false");
            if program.unusable().contains(&name) && !is_off {
                return Err(name.to_owned());
            }
            if program.printing().contains(&name) {
                if !word.contains('=') {
                    words.next();
                }
            } else if program.ours().contains(&name) || name.starts_with("--coverage") || name.contains("-coverage") {
            } else if word.starts_with('-') {
                self.flags.push((*word).to_owned());
                if program.with_value().contains(word) {
                    self.flags.extend(words.next().map(|value| (*value).to_owned()));
                }
            } else {
                self.places.push((*word).trim_start_matches("./").trim_end_matches('/').to_owned());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_command_may_leave_the_tests_to_the_packages_of_a_workspace() {
        for (command, script) in [
            ("npm test --workspaces --if-present", "test"),
            ("npm run unit -ws", "unit"),
            ("pnpm -r test", "test"),
            ("pnpm --recursive run test:unit -- --coverage", "test:unit"),
            ("yarn workspaces foreach -Apt run test", "test"),
            ("turbo run test", "test"),
            ("nx run-many --target=test", "test"),
        ] {
            assert_eq!(TestCommand::parse(&words(command)), Ok(TestCommand::Each(script.to_owned())), "{command}");
        }
        assert!(!matches!(TestCommand::parse(&words("npm test -w a")), Ok(TestCommand::Each(_))));
    }

    use super::*;
    use crate::shell::words;

    fn parse(line: &str) -> Result<TestCommand, UnknownCommand> {
        TestCommand::parse(&words(line))
    }

    fn check(line: &str, program: Program, flags: &[&str], places: &[&str]) {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let expected = Run { program, flags: owned(flags), places: owned(places) };
        assert_eq!(parse(line).unwrap(), TestCommand::Run(expected), "{line}");
    }

    #[test]
    fn the_runner_is_that_of_the_command() {
        check("node --test", Program::Node, &[], &[]);
        check("node --import tsx --test 'test/**/*.ts'", Program::Node, &["--import", "tsx"], &["test/**/*.ts"]);
        check("npx vitest run --reporter=dot", Program::Vitest, &[], &[]);
        check("vitest", Program::Vitest, &[], &[]);
        check("pnpm exec vitest run -c x.config.ts unit/", Program::Vitest, &["-c", "x.config.ts"], &["unit"]);
        check("./node_modules/.bin/jest --ci --coverage -i", Program::Jest, &["-i"], &[]);
        check("NODE_OPTIONS=--experimental-vm-modules npx jest", Program::Jest, &[], &[]);
        check("node --experimental-vm-modules node_modules/jest/bin/jest.js", Program::Jest, &[], &[]);
        check("cross-env NODE_ENV=test jest --config a.json", Program::Jest, &["--config", "a.json"], &[]);
    }

    #[test]
    fn a_script_is_looked_up() {
        let script = |name: &str, rest: &[&str]| {
            TestCommand::Script(name.to_owned(), rest.iter().map(|word| (*word).to_owned()).collect())
        };
        assert_eq!(parse("npm test").unwrap(), script("test", &[]));
        assert_eq!(parse("npm run unit -- --bail").unwrap(), script("unit", &["--bail"]));
        assert_eq!(parse("yarn test").unwrap(), script("test", &[]));
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for line in ["mocha", "node test.js", "tsc && node --test", "vitest -u", "jest --watch", "make test", "npm", ""]
        {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
