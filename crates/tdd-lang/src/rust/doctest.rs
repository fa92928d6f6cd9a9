//! Reads the output of `cargo test --doc`, and names each doctest by its item instead of its line.
//!
//! rustdoc prints one block per package and kind of doctest (merged ones of the 2024 edition, standalone ones, …), each
//! with its own count; the output of a failing doctest is inside its block.

use std::collections::{BTreeMap, BTreeSet};

use tdd_core::command::{Exit, Finished};
use tdd_core::report::{Cause, Outcome, TestResult};
use tdd_core::test_id::TestId;

use super::libtest::{MAX_MESSAGE, list_counts, panic_text, shorten};
use super::places::Places;

/// The listed doctests: rustdoc's name (`src/lib.rs - add (line 6)`) and our id.
pub type Doctests = BTreeMap<String, TestId>;

/// Why a doctest report is not trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the report of the doctests contradicts itself: {0}")]
pub struct Contradiction(pub String);

/// The names printed by `cargo test --doc -- --list`, each with its id: `path::doc(item)#n`, where `n` counts the
/// item's doctests from the top of the file. Each of the `packages` must have a list, even if it is empty.
pub fn read_list(finished: &Finished, packages: usize, places: &Places) -> Result<Doctests, Contradiction> {
    let wrong = |what: &str| Contradiction(what.to_owned());
    if finished.exit != Exit::Passed || finished.stdout.dropped > 0 {
        return Err(Contradiction(format!("its list ended with {}", finished.exit)));
    }
    let mut names = Vec::new();
    let (mut open, mut lists) = (0, 0);
    for line in finished.stdout.text().lines().filter(|line| !line.is_empty() && !is_timing(line)) {
        if let Some(name) = line.strip_suffix(": test") {
            names.push(name.to_owned());
            open += 1;
        } else if list_counts(line) == Some((open, 0)) {
            open = 0;
            lists += 1;
        } else {
            return Err(Contradiction(format!("its list has the line `{line}`")));
        }
    }
    if open > 0 {
        return Err(wrong("its list breaks off"));
    }
    if lists < packages {
        return Err(Contradiction(format!("{lists} of {packages} packages have a list")));
    }
    number(&names, places).ok_or_else(|| wrong("its list has an invalid name"))
}

fn is_timing(line: &str) -> bool {
    line.starts_with("all doctests ran in ")
}

fn number(names: &[String], places: &Places) -> Option<Doctests> {
    let mut items: BTreeMap<(String, &str), BTreeMap<usize, &String>> = BTreeMap::new();
    for name in names {
        let (path, item, line) = parts(name)?;
        let file = places.relative(path)?;
        if items.entry((file, item)).or_default().insert(line, name).is_some() {
            return None;
        }
    }
    let numbered = items.into_iter().flat_map(|((file, item), lines)| {
        let id = move |n: usize| TestId::native(&file, &format!("doc({item})#{}", n + 1));
        lines.into_values().cloned().enumerate().map(move |(n, name)| (name, id(n))).collect::<Vec<_>>()
    });
    Some(numbered.collect())
}

/// File, item and line of `src/lib.rs - add (line 6)`; crate documentation has no item.
fn parts(name: &str) -> Option<(&str, &str, usize)> {
    let (path, rest) = name.split_once(" - ")?;
    let (item, line) = rest.strip_suffix(')')?.rsplit_once("(line ")?;
    Some((path, item.trim_end(), line.parse().ok()?))
}

/// The item in a doctest's id, `add` in `src/lib.rs::doc(add)#1`; `None` if the id is not a doctest's.
pub fn item_of(id: &TestId) -> Option<&str> {
    let (item, number) = id.name()?.strip_prefix("doc(")?.rsplit_once(")#")?;
    number.parse::<usize>().ok().map(|_| item)
}

/// The result of every listed doctest.
pub fn read(
    finished: &Finished,
    listed: &Doctests,
    crates: &BTreeSet<String>,
) -> Result<Vec<TestResult>, Contradiction> {
    let text = finished.stdout.text();
    let mut outcomes = BTreeMap::new();
    let mut lines = text.lines();
    while let Some(count) = next_block(&mut lines) {
        for (name, outcome) in block(&mut lines, count, crates)? {
            if outcomes.insert(name.clone(), outcome).is_some() {
                return Err(Contradiction(format!("`{name}` ended twice")));
            }
        }
    }
    agree(&outcomes, listed, &finished.exit)?;
    let result = |(name, id): (&String, &TestId)| {
        let outcome = outcomes.remove(name)?;
        Some(TestResult::new(id.clone(), outcome, 0))
    };
    Ok(listed.iter().filter_map(result).collect())
}

fn agree(outcomes: &BTreeMap<String, Outcome>, listed: &Doctests, exit: &Exit) -> Result<(), Contradiction> {
    if let Some(name) = outcomes.keys().find(|name| !listed.contains_key(*name)) {
        return Err(Contradiction(format!("`{name}` ended, and was not listed")));
    }
    if let Some(name) = listed.keys().find(|name| !outcomes.contains_key(*name)) {
        return Err(Contradiction(format!("`{name}` was listed, and nothing is said about it")));
    }
    let failed = outcomes.values().any(|outcome| !matches!(outcome.cause(), None | Some(Cause::Skipped)));
    let expected = if failed { Exit::Failed(101) } else { Exit::Passed };
    if *exit == expected { Ok(()) } else { Err(Contradiction(format!("its process ended with {exit}"))) }
}

/// Skips to the next `running N tests`.
fn next_block<'a>(lines: &mut impl Iterator<Item = &'a str>) -> Option<usize> {
    lines.find_map(|line| {
        let (count, noun) = line.strip_prefix("running ")?.split_once(' ')?;
        matches!(noun, "test" | "tests").then(|| count.parse().ok())?
    })
}

/// Reads one block: exactly the announced number of results, then the output of failed tests, then a closing line that
/// agrees. Test output comes after the results and cannot add one.
fn block<'a>(
    lines: &mut impl Iterator<Item = &'a str>,
    count: usize,
    crates: &BTreeSet<String>,
) -> Result<Vec<(String, Outcome)>, Contradiction> {
    let mut results: Vec<(String, Word)> = Vec::new();
    while results.len() < count {
        let line = lines.next().ok_or_else(|| Contradiction("it breaks off".to_owned()))?;
        let result = result_line(line).ok_or_else(|| Contradiction(format!("it has the line `{line}`")))?;
        results.push(result);
    }
    let count_of = |word| results.iter().filter(|(_, own)| *own == word).count();
    let (passed, failed, ignored) = (count_of(Word::Ok), count_of(Word::Failed), count_of(Word::Ignored));
    let verdict = if failed == 0 { "ok" } else { "FAILED" };
    let closing = format!("test result: {verdict}. {passed} passed; {failed} failed; {ignored} ignored; ");
    let mut failures: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut current = "";
    for line in lines {
        if line.starts_with(&closing) {
            let outcome = |(name, word): (String, Word)| {
                let outcome = outcome(word, failures.get(name.as_str()), crates);
                (name, outcome)
            };
            return Ok(results.into_iter().map(outcome).collect());
        }
        match line.strip_prefix("---- ").and_then(|line| line.strip_suffix(" stdout ----")) {
            // A second heading for the same doctest was printed by the doctest itself.
            Some(name) if !failures.contains_key(name) => {
                current = name;
                failures.insert(name, Vec::new());
            }
            _ => failures.entry(current).or_default().push(line),
        }
    }
    Err(Contradiction(format!("it has no line `{closing}…`")))
}

/// How a doctest ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    Ok,
    Failed,
    Ignored,
}

/// `test src/lib.rs - add (line 12) - compile fail ... ok`.
fn result_line(line: &str) -> Option<(String, Word)> {
    let (name, word) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let word = match word {
        "ok" => Word::Ok,
        "FAILED" => Word::Failed,
        _ if word.starts_with("ignored") => Word::Ignored,
        _ => return None,
    };
    let kinds = [" - compile fail", " - compile", " - should panic"];
    let name = kinds.iter().find_map(|kind| name.strip_suffix(kind)).unwrap_or(name);
    Some((name.to_owned(), word))
}

fn outcome(word: Word, failure: Option<&Vec<&str>>, crates: &BTreeSet<String>) -> Outcome {
    match word {
        Word::Ok => Outcome::Pass,
        Word::Ignored => Outcome::Fail { cause: Cause::Skipped, message: "ignored".to_owned() },
        Word::Failed => {
            let lines: &[&str] = failure.map_or(&[], Vec::as_slice);
            let text = lines.join("\n");
            let text = text.split("\nfailures:\n").next().unwrap_or_default().trim();
            let message = if text.contains(" panicked at ") { panic_text(text) } else { text.to_owned() };
            let message = without_temporary_folder(&message);
            Outcome::Fail { cause: cause_of(text, crates), message: shorten(&message, MAX_MESSAGE) }
        }
    }
}

/// Removes the temporary folder of merged doctests, whose name differs in every run.
fn without_temporary_folder(message: &str) -> String {
    let Some((before, after)) = message.split_once("/rustdoctest") else {
        return message.to_owned();
    };
    let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let file = after.split_once('/').map_or(after, |(_, file)| file);
    format!("{}{file}", &before[..start])
}

/// The cause of a failed doctest. If it does not compile, a symbol is missing only if every error names one of our
/// crates.
fn cause_of(text: &str, crates: &BTreeSet<String>) -> Cause {
    if !text.ends_with("Couldn't compile the test.") {
        return if ended_by_itself(text) { Cause::Crash } else { Cause::Assertion };
    }
    let codes =
        ["E0425", "E0432", "E0433", "E0412", "E0422", "E0599", "E0603", "E0609", "E0560", "E0616", "E0624", "E0277"];
    let errors: Vec<&str> =
        text.lines().filter(|line| line.starts_with("error") && !line.starts_with("error: aborting due to")).collect();
    let named = |line: &str| {
        crates.iter().any(|name| line.contains(&format!("`{name}`")) || line.contains(&format!("`{name}::")))
    };
    let missing = |line: &&str| codes.iter().any(|code| line.starts_with(&format!("error[{code}]"))) && named(line);
    if errors.iter().any(|line| line.starts_with("error: expected") || line.starts_with("error: unexpected")) {
        Cause::SyntaxError
    } else if !errors.is_empty() && errors.iter().all(missing) {
        Cause::MissingSymbol
    } else {
        Cause::UnrelatedCompileError
    }
}

/// Whether the doctest's process was killed by a signal or exited on its own. A panic gives status 101, a returned
/// error gives 1.
fn ended_by_itself(text: &str) -> bool {
    let how = text.strip_prefix("Test executable failed (").and_then(|text| text.split_once(")."));
    match how {
        Some(("exit status: 101", _)) => false,
        Some(("exit status: 1", output)) => !output.contains("\nError: "),
        Some(_) => true,
        None => false,
    }
}

#[cfg(test)]
#[path = "doctest_tests.rs"]
mod tests;
