//! What the machine knows of each language: how a project is recognised, which commands it needs,
//! what its runner's output means, and where the tests are in a source file.
//!
//! One folder per language behind [`language::Language`]; nothing here touches the world. A test run is a
//! conversation ([`language::Suite`]): the language names commands, somebody else runs them and hands back what
//! they printed, until there is a report.

mod analysis;
mod by_command;
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
pub mod python;
mod reach;
pub mod rename;
mod run;
pub mod rust;
mod scaffold;
pub mod several;
mod shell;
mod sort;
mod syntax;
pub mod twin;
mod uses;

pub use syntax::MAX_DEPTH;

use language::{Language, Project, Selection, Settings, Sources, Suite, UnknownCommand};

/// Every language, the one that a new project gets by default first. JavaScript comes last: many projects of other
/// languages have a `package.json` for some tool.
pub fn languages() -> Vec<Box<dyn Language>> {
    vec![Box::new(rust::Rust), Box::new(python::Python), Box::new(go::Go), Box::new(javascript::JavaScript::Plain)]
}

/// The names that a configuration may give to a language.
pub fn names() -> Vec<&'static str> {
    with_dialects().map(|language| language.name()).collect()
}

/// The language of this name.
pub fn named(name: &str) -> Option<Box<dyn Language>> {
    with_dialects().find(|language| language.name() == name)
}

fn with_dialects() -> impl Iterator<Item = Box<dyn Language>> {
    languages().into_iter().flat_map(|language| {
        let dialects = language.dialects();
        std::iter::once(language).chain(dialects)
    })
}

/// The language of the project that stands topmost in a repository; of several at the same height the first
/// of [`languages`], in the dialect that the project is written in.
pub fn detect(sources: &dyn Sources) -> Option<Box<dyn Language>> {
    let found = languages().into_iter().filter_map(|language| Some((language.detect(sources)?, language)));
    let depth = |root: &str| if root.is_empty() { 0 } else { 1 + root.matches('/').count() };
    let (project, language) = found.min_by_key(|(project, _)| depth(&project.root))?;
    let dialect = language.dialects().into_iter().find(|dialect| dialect.is_spoken(&project, sources));
    Some(dialect.unwrap_or(language))
}

/// Begins a test run: in the language's own way, or, where that does not know the configured command, by the JUnit
/// report that it writes. Tests that have a command of their own are run by that.
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

/// The words of all commands that run a project's tests, each behind the pattern that it is for.
pub fn test_words(language: &dyn Language, settings: &Settings) -> Vec<String> {
    let mut words = language.test_command(settings);
    for other in &settings.test_command_for {
        words.push(format!("{}:", other.pattern));
        words.extend(other.command.iter().cloned());
    }
    words
}
