//! Knowledge about each language: how to detect a project, which commands it needs, how to read its test runner's
//! output, and where the tests are in a source file.
//!
//! One folder per language implements [`language::Language`]; nothing here does I/O. A test run is a dialogue
//! ([`language::Suite`]): the language returns commands, the caller runs them and feeds their output back, until the
//! language returns a report.

pub mod alter;
mod analysis;
mod by_command;
pub mod called;
mod code;
pub mod complaint;
mod coverage;
pub mod discover;
#[cfg(test)]
mod fixture;
pub mod go;
pub mod item;
pub mod javascript;
mod junit;
mod kept;
pub mod language;
mod lookup;
pub mod makefile;
mod mark;
mod merge;
pub mod other;
mod parts;
mod pattern;
pub mod plain;
pub mod project_set;
pub mod provenance;
pub mod python;
mod reach;
pub mod rename;
mod run;
pub mod rust;
mod scaffold;
mod shell;
mod sort;
pub mod split;
mod syntax;
pub mod twin;
mod uses;

pub use syntax::MAX_DEPTH;

use language::{Language, Project, Selection, Settings, Sources, Suite, UnknownCommand};

/// Every language; the first is the default for a new project. JavaScript comes last because many projects in other
/// languages have a `package.json` for some tool.
pub fn languages() -> Vec<Box<dyn Language>> {
    vec![Box::new(rust::Rust), Box::new(python::Python), Box::new(go::Go), Box::new(javascript::JavaScript::Plain)]
}

/// The language names that the configuration accepts.
pub fn names() -> Vec<&'static str> {
    with_dialects().map(|language| language.name()).collect()
}

/// The language with this name.
pub fn named(name: &str) -> Option<Box<dyn Language>> {
    with_dialects().find(|language| language.name() == name)
}

fn with_dialects() -> impl Iterator<Item = Box<dyn Language>> {
    languages().into_iter().flat_map(|language| {
        let dialects = language.dialects();
        std::iter::once(language).chain(dialects)
    })
}

/// The language of the project nearest to the repository's root. Of several at the same depth, the first in
/// [`languages`] wins. Returns the dialect that the project is written in.
pub fn detect(sources: &dyn Sources) -> Option<Box<dyn Language>> {
    let found = languages().into_iter().filter_map(|language| Some((language.detect(sources)?, language)));
    let depth = |root: &str| if root.is_empty() { 0 } else { 1 + root.matches('/').count() };
    let (project, language) = found.min_by_key(|(project, _)| depth(&project.root))?;
    let dialect = language.dialects().into_iter().find(|dialect| dialect.is_dialect_of(&project, sources));
    Some(dialect.unwrap_or(language))
}

/// Begins a test run. If the language cannot read the configured command, the run reads the JUnit report that the
/// command writes. Tests that match a `test_command_for` pattern run with that command.
pub fn suite<'l>(
    language: &'l dyn Language,
    project: &Project,
    settings: &Settings,
    selection: Selection,
) -> Result<Box<dyn Suite + 'l>, UnknownCommand> {
    let run = by_command::begin(language, project, settings, selection)?;
    let run: Box<dyn Suite + 'l> = Box::new(run::Quoting(run));
    if language.runs_skipped(settings) {
        return Ok(run);
    }
    Ok(Box::new(run::Marked { run, language, project: project.clone() }))
}

/// The words of all commands that run a project's tests. Each `test_command_for` command follows its pattern.
pub fn test_words(language: &dyn Language, settings: &Settings) -> Vec<String> {
    let mut words = language.test_command(settings);
    for other in &settings.test_command_for {
        words.push(format!("{}:", other.pattern));
        words.extend(other.command.iter().cloned());
    }
    words
}
