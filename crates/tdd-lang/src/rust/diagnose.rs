//! Decides why a target does not compile: a test that needs production code that does not exist yet (`missing-symbol`),
//! a syntax error, or another error.
//!
//! It is `missing-symbol` only if every error of the target is of that kind and concerns a production item. Production
//! code that does not compile itself is broken, not missing.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use tdd_core::report::{Cause, Obstacle};

use super::compile::{Build, Diagnostic, Span, TargetError};
use super::libtest::{MAX_MESSAGE, shorten};
use super::places::Places;
use super::production::{Production, TestFile, has_syntax_error};
use crate::language::Sources;

/// Every target that does not compile, with its cause.
pub fn obstacles(build: &Build, places: &Places, sources: &dyn Sources) -> Vec<Obstacle> {
    if build.errors.is_empty() {
        return Vec::new();
    }
    let production = Production::of(sources, crate_names(build, places));
    let doctor = Doctor { production, places, sources };
    let mut targets: BTreeMap<&str, Vec<&TargetError>> = BTreeMap::new();
    for error in &build.errors {
        targets.entry(error.target.src_path.as_str()).or_default().push(error);
    }
    targets.into_values().map(|errors| doctor.obstacle(&errors)).collect()
}

/// The import names of the repository's packages. A package without a library counts too: the library may be what the
/// test needs.
pub(crate) fn crate_names(build: &Build, places: &Places) -> BTreeSet<String> {
    let artifacts =
        build.artifacts.iter().map(|artifact| (&artifact.manifest_path, &artifact.package_id, &artifact.target));
    let refused = build.errors.iter().map(|error| (&error.manifest_path, &error.package_id, &error.target));
    let ours = artifacts.chain(refused).filter(|(manifest, ..)| places.relative(manifest).is_some());
    ours.flat_map(|(_, id, target)| {
        let library = (target.is_production() && !target.is("bin")).then(|| target.name.clone());
        [Some(package_name(id).to_owned()), library]
    })
    .flatten()
    .map(|name| name.replace('-', "_"))
    .collect()
}

/// The package's name in an id such as `path+file:///r/alpha#alpha-pkg@0.1.0` or `…/rs#0.1.0`.
pub(crate) fn package_name(id: &str) -> &str {
    let (place, tail) = id.rsplit_once('#').unwrap_or((id, ""));
    match tail.split_once('@') {
        Some((name, _)) => name,
        None => place.rsplit('/').next().unwrap_or(place),
    }
}

/// Everything needed to diagnose errors.
struct Doctor<'a> {
    production: Production,
    places: &'a Places,
    sources: &'a dyn Sources,
}

/// One error, with the file that contains it.
struct Case<'a> {
    message: &'a Diagnostic,
    code: &'a str,
    span: &'a Span,
    range: Range<usize>,
    file: TestFile<'a>,
}

impl Doctor<'_> {
    fn obstacle(&self, errors: &[&TargetError]) -> Obstacle {
        let first = errors[0];
        let subject = self.places.relative(&first.target.src_path).unwrap_or_else(|| first.target.src_path.clone());
        let rendered: Vec<&str> = errors
            .iter()
            .map(|error| error.message.rendered.as_deref().unwrap_or(&error.message.message).trim_end())
            .collect();
        let message = shorten(&rendered.join("\n\n"), MAX_MESSAGE);
        Obstacle { place: self.place(&first.message), ..Obstacle::new(subject, self.cause(errors), message) }
    }

    fn place(&self, message: &Diagnostic) -> Option<String> {
        let span = root_span(message)?;
        Some(format!("{}:{}", self.places.relative(&span.file_name)?, span.line_start))
    }

    fn cause(&self, errors: &[&TargetError]) -> Cause {
        if errors.iter().any(|error| self.is_syntax(&error.message)) {
            Cause::SyntaxError
        } else if self.all_missing(errors) {
            Cause::MissingSymbol
        } else {
            Cause::UnrelatedCompileError
        }
    }

    /// Whether every error is about something that production lacks. If an import from production is missing, a method
    /// that is not found may follow from it: the import may be the method's trait.
    fn all_missing(&self, errors: &[&TargetError]) -> bool {
        let missing = |error: &&TargetError| self.is_missing(error);
        let import = |error: &&TargetError| code_of(&error.message) == Some("E0432");
        let import_is_missing = errors.iter().any(|error| import(error) && missing(error));
        let follows = |error: &&TargetError| {
            import_is_missing && code_of(&error.message) == Some("E0599") && self.case(error).is_some()
        };
        errors.iter().all(|error| missing(error) || follows(error))
    }

    fn is_syntax(&self, message: &Diagnostic) -> bool {
        match code_of(message) {
            Some(code) => LEXER_CODES.contains(&code),
            None if message.message.starts_with("cannot find ") => false,
            None => {
                let file = root_span(message).and_then(|span| self.places.relative(&span.file_name));
                let source = file.and_then(|file| self.sources.read(&file));
                source.is_some_and(|source| has_syntax_error(&source)) || reads_like_syntax(&message.message)
            }
        }
    }

    fn is_missing(&self, error: &TargetError) -> bool {
        self.case(error).is_some_and(|case| self.judge(&case))
    }

    /// `None` if the error is in production code, or in no file of the repository.
    fn case<'a>(&'a self, error: &'a TargetError) -> Option<Case<'a>> {
        let span = root_span(&error.message)?;
        let path = self.places.relative(&span.file_name)?;
        if self.production.holds(&path, span.byte_start) {
            return None;
        }
        let source = self.sources.read(&path)?;
        let file = TestFile::new(&self.production, error.target.is_production(), &source)?;
        let code = code_of(&error.message).unwrap_or_default();
        Some(Case { message: &error.message, code, span, range: span.byte_start..span.byte_end, file })
    }

    fn judge(&self, case: &Case) -> bool {
        match case.code {
            "E0432" | "E0433" => is_missing_path(case),
            "E0405" | "E0412" | "E0422" | "E0425" | "E0531" | "E0574" => is_missing_name(case),
            "E0046" => case.file.place_touches(&case.range),
            code if MEMBER_CODES.contains(&code) => {
                self.names_ours(case)
                    || self.defined_in_production(case.message)
                    || case.file.receiver_touches(&case.range)
            }
            "E0107" => self.defined_in_production(case.message) || case.file.place_touches(&case.range),
            code if TYPE_CODES.contains(&code) => self.is_type_of_ours(case),
            "" => case.message.message.starts_with("cannot find macro ") && !offers_std(case.message),
            _ => false,
        }
    }

    /// Judges errors about arity, types and impls. If the message points to a definition, the definition decides;
    /// otherwise the types it names, or the expression around the error.
    fn is_type_of_ours(&self, case: &Case) -> bool {
        match self.definition(case.message) {
            Some(Definition::Production) => true,
            Some(Definition::Test) => self.names_ours(case) && case.code != "E0308" && case.code != "E0061",
            Some(Definition::Elsewhere) => self.names_ours(case) || case.file.place_touches(&case.range),
            None => {
                self.names_ours(case) || self.defined_in_production(case.message) || case.file.unit_touches(&case.range)
            }
        }
    }

    /// Where the notes say that the function or type is defined.
    fn definition(&self, message: &Diagnostic) -> Option<Definition> {
        let notes = message.children.iter().filter(|child| child.level == "note");
        let mut spans = notes.filter(|note| note.message.contains("defined here")).flat_map(|note| &note.spans);
        let span = spans.next()?;
        Some(match self.places.relative(&span.file_name) {
            None => Definition::Elsewhere,
            Some(path) if self.production.holds(&path, span.byte_start) => Definition::Production,
            Some(_) => Definition::Test,
        })
    }

    /// Whether any part of the message points into production code.
    fn defined_in_production(&self, message: &Diagnostic) -> bool {
        let own = message.spans.iter();
        let notes = message.children.iter().flat_map(|child| &child.spans);
        own.chain(notes).map(Span::outermost).any(|span| {
            let path = self.places.relative(&span.file_name);
            path.is_some_and(|path| self.production.holds(&path, span.byte_start))
        })
    }

    /// Whether the message names a production type or trait in backticks.
    fn names_ours(&self, case: &Case) -> bool {
        let label = case.span.label.as_deref().unwrap_or_default();
        quoted(&case.message.message).chain(quoted(label)).any(|quote| {
            paths(quote).any(|path| match path.split_once("::") {
                Some((first, _)) => self.production.is_crate(first),
                None => {
                    path.starts_with(char::is_uppercase)
                        && self.production.declares(path)
                        && case.file.leads_to_production(path)
                }
            })
        })
    }
}

enum Definition {
    Production,
    Test,
    Elsewhere,
}

/// Lexer errors that have a code.
const LEXER_CODES: [&str; 7] = ["E0748", "E0758", "E0762", "E0763", "E0765", "E0766", "E0768"];

/// Codes for a member that is missing or not visible, or that a trait lacks.
const MEMBER_CODES: [&str; 15] = [
    "E0599", "E0609", "E0560", "E0559", "E0026", "E0407", "E0437", "E0438", "E0576", "E0220", "E0603", "E0616",
    "E0624", "E0451", "E0423",
];

/// Codes for arity, types and impls that are not as the test expects.
const TYPE_CODES: [&str; 11] =
    ["E0061", "E0308", "E0277", "E0369", "E0618", "E0023", "E0050", "E0053", "E0185", "E0186", "E0532"];

/// `use rs::x`, `rs::x()`, `Game::new()`, `super::x()`: missing if the path begins in production.
fn is_missing_path(case: &Case) -> bool {
    let label = case.span.label.as_deref().unwrap_or_default();
    if case.code == "E0432" {
        let mut imports = quoted(&case.message.message).peekable();
        return imports.peek().is_some() && imports.all(|import| starts_in_production(case, first_segment(import)));
    }
    if label.starts_with("use of undeclared type") {
        return !offers_std(case.message) && case.file.could_bring_a_name(&case.range);
    }
    let (first, _) = case.file.path_at(&case.range);
    starts_in_production(case, &first)
}

/// Whether a name that is not in scope is missing from production. An undeclared lower-case variable is the test's own
/// mistake; so is a name that the standard library has, or that production could not bring into scope, because its
/// import was forgotten.
fn is_missing_name(case: &Case) -> bool {
    let (first, is_path) = case.file.path_at(&case.range);
    if is_path {
        return starts_in_production(case, &first);
    }
    let value = case.message.message.strip_prefix("cannot find value `");
    let local = value.is_some_and(|name| !name.starts_with(char::is_uppercase));
    let function = case.message.message.starts_with("cannot find function");
    !local && (function || !offers_std(case.message)) && case.file.could_bring_a_name(&case.range)
}

fn starts_in_production(case: &Case, first: &str) -> bool {
    !matches!(first, "std" | "core" | "alloc") && case.file.leads_to_production(first)
}

fn first_segment(path: &str) -> &str {
    path.split("::").next().unwrap_or(path)
}

/// Whether the compiler suggests importing the name from the standard library.
fn offers_std(message: &Diagnostic) -> bool {
    let offers = message.children.iter().flat_map(|child| &child.spans);
    let texts = offers.filter_map(|span| span.suggested_replacement.as_deref());
    texts
        .map(str::trim_start)
        .any(|text| ["use std::", "use core::", "use alloc::"].iter().any(|std| text.starts_with(std)))
}

/// The primary place, followed out of macros to the project file that calls them.
fn root_span(message: &Diagnostic) -> Option<&Span> {
    message.spans.iter().find(|span| span.is_primary).map(Span::outermost)
}

fn code_of(message: &Diagnostic) -> Option<&str> {
    message.code.as_ref().map(|code| code.code.as_str())
}

/// Whether the message begins like a parser error; those have no code.
fn reads_like_syntax(message: &str) -> bool {
    let beginnings =
        ["expected ", "unexpected ", "mismatched closing", "this file contains", "unclosed", "unknown start of token"];
    beginnings.iter().any(|beginning| message.starts_with(beginning))
}

/// The texts between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The paths in a type as the compiler writes it: `Option<rs::Thing>` contains `Option` and `rs::Thing`.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let in_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    text.split(move |c: char| !in_path(c)).map(|path| path.trim_matches(':')).filter(|path| !path.is_empty())
}

#[cfg(test)]
#[path = "diagnose_tests.rs"]
mod tests;
