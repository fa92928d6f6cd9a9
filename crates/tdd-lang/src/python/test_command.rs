//! Parses a configured test command: the interpreter, and the options for pytest.

use crate::language::UnknownCommand;

use super::suite::FIND;

/// The default command.
pub const DEFAULT: [&str; 1] = ["pytest"];

/// Runs a command in the project's folder instead of its scratch copy: environment managers know no environment for the
/// copy, and would create one.
const AT_HOME: &str = r#"case "$PWD" in
*/.tdd/scratch/*)
    copy="${PWD#*/.tdd/scratch/}/"
    cd "${PWD%%/.tdd/scratch/*}/${copy#*/}" || exit
esac
exec "$@""#;

/// Programs that run another program in the project's environment, as `uv run` does.
const WRAPPERS: [&str; 6] = ["uv", "poetry", "pipenv", "pdm", "hatch", "rye"];

/// Options with which tests cannot be run one by one, to their end.
const UNUSABLE: [&str; 9] =
    ["-n", "--numprocesses", "--collect-only", "--co", "--pdb", "--trace", "--help", "--version", "--fixtures"];

/// Options that only control printing or stopping: we set these ourselves.
const OURS: [&str; 9] = ["-x", "--exitfirst", "-q", "--quiet", "-v", "-vv", "--verbose", "--lf", "--ff"];

/// Options whose value is the next word.
const WITH_VALUE: [&str; 9] =
    ["-k", "-m", "-p", "-o", "-W", "--deselect", "--ignore", "--ignore-glob", "--import-mode"];

/// A parsed test command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestCommand {
    /// Command that prints which interpreter is meant.
    pub find: Vec<String>,
    /// The options that are passed on to pytest.
    pub flags: Vec<String>,
    /// Where pytest is to look for tests; empty means everywhere.
    pub places: Vec<String>,
}

impl TestCommand {
    /// Parses a command.
    pub fn parse(argv: &[String]) -> Result<Self, UnknownCommand> {
        let unknown = |reason: &str| UnknownCommand { command: argv.join(" "), reason: reason.to_owned() };
        let wrapped = argv.first().is_some_and(|first| WRAPPERS.contains(&first.as_str()));
        let at = argv.iter().position(|word| is_pytest(word) || is_python(word));
        let at = at.filter(|at| *at == 0 || wrapped && argv.get(1).is_some_and(|word| word == "run"));
        let at = at.ok_or_else(|| unknown("write `pytest`, `python -m pytest` or `uv run pytest` (poetry, pipenv, pdm, hatch and rye will do as well)"))?;
        let program = &argv[at];
        let rest = match (&argv[at + 1..], is_pytest(program)) {
            (rest, true) => rest,
            ([module, pytest, rest @ ..], false) if module == "-m" && pytest == "pytest" => rest,
            ([module, unittest, ..], false) if module == "-m" && unittest == "unittest" => &[],
            _ => return Err(unknown("an interpreter must be told `-m pytest`")),
        };
        let mut read = Self { find: finder(&argv[..at], program), flags: Vec::new(), places: Vec::new() };
        read.options(rest).map_err(|option| unknown(&format!("`{option}` cannot be used here")))?;
        Ok(read)
    }

    fn options(&mut self, words: &[String]) -> Result<(), String> {
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let name = word.split('=').next().unwrap_or(word);
            if UNUSABLE.contains(&name) || name.starts_with("-n") {
                return Err(name.to_owned());
            }
            if OURS.contains(&name) || name.starts_with("--maxfail") {
                continue;
            }
            if word.starts_with('-') {
                self.flags.push(word.clone());
                if WITH_VALUE.contains(&word.as_str()) {
                    self.flags.extend(words.next().cloned());
                }
            } else {
                self.places.push(word.clone());
            }
        }
        Ok(())
    }
}

/// The command that prints the interpreter. A bare `python`, or one in a usual environment folder, means whatever
/// environment the project has, because a scratch copy has none.
fn finder(wrapper: &[String], program: &str) -> Vec<String> {
    let usual = [".venv/bin/", "venv/bin/", "./.venv/bin/", "./venv/bin/"];
    let bare = usual.iter().find_map(|folder| program.strip_prefix(folder)).unwrap_or(program);
    let (python, place) = match () {
        () if !wrapper.is_empty() => ("python".to_owned(), "here"),
        () if is_pytest(bare) => ("python3".to_owned(), "anywhere"),
        () if bare.contains('/') => (bare.to_owned(), "here"),
        () if bare == "python" => ("python3".to_owned(), "anywhere"),
        () => (bare.to_owned(), "anywhere"),
    };
    let script = ["-c", FIND, FIND, place].map(str::to_owned);
    let at_home = if wrapper.is_empty() { Vec::new() } else { ["sh", "-c", AT_HOME, "sh"].map(str::to_owned).to_vec() };
    at_home.into_iter().chain(wrapper.iter().cloned()).chain([python]).chain(script).collect()
}

fn is_pytest(word: &str) -> bool {
    matches!(word.rsplit('/').next(), Some("pytest" | "py.test"))
}

fn is_python(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    name.strip_prefix("python").is_some_and(|version| version.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<TestCommand, UnknownCommand> {
        TestCommand::parse(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    fn check(line: &str, python: &str, place: &str, flags: &[&str], places: &[&str]) {
        let read = parse(line).unwrap();
        let find = read.find.strip_prefix(&["sh", "-c", AT_HOME, "sh"].map(str::to_owned)).unwrap_or(&read.find);
        assert_eq!(find[..find.len() - 4].join(" "), python, "{line}");
        assert_eq!(read.find.last().unwrap(), place, "{line}");
        assert_eq!((read.flags, read.places), (owned(flags), owned(places)), "{line}");
    }

    fn owned(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn the_interpreter_is_that_of_the_command() {
        check("pytest", "python3", "anywhere", &[], &[]);
        check("python -m pytest -q", "python3", "anywhere", &[], &[]);
        check(".venv/bin/python -m pytest", "python3", "anywhere", &[], &[]);
        check("/opt/py/bin/python3.12 -m pytest", "/opt/py/bin/python3.12", "here", &[], &[]);
        check("uv run --frozen pytest", "uv run --frozen python", "here", &[], &[]);
        check("poetry run python -m pytest", "poetry run python", "here", &[], &[]);
        check("python3 -m unittest discover", "python3", "anywhere", &[], &[]);
    }

    #[test]
    fn its_flags_are_kept_but_for_those_that_are_ours() {
        check("pytest -x --maxfail=2 -k a tests/unit", "python3", "anywhere", &["-k", "a"], &["tests/unit"]);
        check("pytest --strict-markers -p x", "python3", "anywhere", &["--strict-markers", "-p", "x"], &[]);
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for line in ["make test", "python tests.py", "pytest -n 4", "pytest -nauto", "pytest --co", "uv pytest", "tox"]
        {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
