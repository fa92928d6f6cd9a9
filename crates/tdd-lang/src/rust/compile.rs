//! Reads cargo's stream of build messages: what was built, and the compiler's errors.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;
use tdd_core::command::Captured;

/// The messages of one build.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Build {
    /// Everything that was built, fresh or not.
    pub artifacts: Vec<Artifact>,
    /// The build scripts' requests.
    pub scripts: Vec<BuildScript>,
    /// The compiler's errors, without duplicates.
    pub errors: Vec<TargetError>,
    /// Whether cargo says that the build succeeded; `None` if its last message is missing.
    pub success: Option<bool>,
}

/// A target of a package, as cargo names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct Target {
    /// `lib`, `bin`, `test`, `proc-macro`, `example`, `bench`, `custom-build`, or a crate type.
    pub kind: Vec<String>,
    /// The target's name.
    pub name: String,
    /// The target's root file, absolute.
    pub src_path: String,
    /// Whether cargo tests it by default; an example is not.
    #[serde(default)]
    pub test: bool,
    /// Whether its doctests are run.
    #[serde(default)]
    pub doctest: bool,
}

/// Something that cargo built.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Artifact {
    /// The package's id.
    pub package_id: String,
    /// The package's manifest, absolute.
    pub manifest_path: String,
    /// The package's target.
    pub target: Target,
    /// The build profile.
    pub profile: Profile,
    /// The files that were built.
    #[serde(default)]
    pub filenames: Vec<String>,
    /// The program, if it is one.
    pub executable: Option<String>,
}

/// The part of a build profile that matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Profile {
    /// Whether it was built with the test harness.
    pub test: bool,
}

/// The requests of a package's build script.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct BuildScript {
    /// The package's id.
    pub package_id: String,
    /// The script's output folder.
    pub out_dir: String,
    /// Environment variables for the package's compilation and tests.
    #[serde(default)]
    pub env: Vec<(String, String)>,
    /// Folders with native libraries, some with a `kind=` prefix.
    #[serde(default)]
    pub linked_paths: Vec<String>,
}

/// An error, with the target that it keeps from being built.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct TargetError {
    /// The package's id.
    pub package_id: String,
    /// The package's manifest, absolute.
    #[serde(default)]
    pub manifest_path: String,
    /// The package's target.
    pub target: Target,
    /// The compiler's message.
    pub message: Diagnostic,
}

/// A message of the compiler.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Diagnostic {
    /// The message's text.
    pub message: String,
    /// `error`, `warning`, `note`, …
    pub level: String,
    /// The error code or, for a lint, its name.
    pub code: Option<Code>,
    /// The places it refers to.
    pub spans: Vec<Span>,
    /// Notes and suggestions.
    #[serde(default)]
    pub children: Vec<Diagnostic>,
    /// The whole message, as on a terminal.
    pub rendered: Option<String>,
}

/// The code of an error or the name of a lint.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Code {
    /// `E0425`, `unconditional_panic`.
    pub code: String,
}

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Span {
    /// Relative to the workspace's root, or absolute.
    pub file_name: String,
    /// First byte.
    pub byte_start: usize,
    /// One after the last byte.
    pub byte_end: usize,
    /// First line, from 1.
    pub line_start: usize,
    /// Whether the error is here; other spans only explain it.
    pub is_primary: bool,
    /// The compiler's label for this place.
    pub label: Option<String>,
    /// The replacement text, if this is part of a suggestion.
    #[serde(default)]
    pub suggested_replacement: Option<String>,
    /// The macro call that this place was expanded from.
    pub expansion: Option<Box<Expansion>>,
}

/// A macro call.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Expansion {
    /// Where the macro was called.
    pub span: Span,
}

/// Why a stream of build messages cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadStream {
    /// A line is not a message of cargo's.
    #[error("line {line} of cargo's output is not a build message: {text}")]
    Line {
        /// The line's number, from 1.
        line: usize,
        /// The beginning of the line.
        text: String,
    },
    /// Bytes are missing.
    #[error("{0} bytes of cargo's build messages are lost")]
    Hole(u64),
}

impl Span {
    /// The place in a project file where a chain of macro calls began.
    pub fn outermost(&self) -> &Self {
        let mut span = self;
        while let Some(expansion) = &span.expansion {
            span = &expansion.span;
        }
        span
    }
}

impl Target {
    /// Whether this is production code with its unit tests: a library, a program or a macro crate.
    pub fn is_production(&self) -> bool {
        !self.kind.iter().any(|kind| matches!(kind.as_str(), "test" | "bench" | "example" | "custom-build"))
    }

    /// Whether the target has this kind.
    pub fn is(&self, kind: &str) -> bool {
        self.kind.iter().any(|own| own == kind)
    }
}

/// Reads the stream. An empty one is not an error: cargo gave up before building anything, and [`Build::success`] is
/// unknown.
pub fn read(stdout: &Captured) -> Result<Build, BadStream> {
    if stdout.dropped > 0 {
        return Err(BadStream::Hole(stdout.dropped));
    }
    let mut build = Build::default();
    let mut seen = BTreeSet::new();
    for (index, line) in stdout.text().lines().enumerate() {
        if !line.trim().is_empty() {
            let bad = || BadStream::Line { line: index + 1, text: line.chars().take(80).collect() };
            take(&mut build, &mut seen, line).ok_or_else(bad)?;
        }
    }
    Ok(build)
}

/// Reads one message; `None` if it is malformed.
fn take(build: &mut Build, seen: &mut BTreeSet<(String, String)>, line: &str) -> Option<()> {
    let message: Value = serde_json::from_str(line).ok()?;
    match message.get("reason")?.as_str()? {
        "compiler-artifact" => build.artifacts.push(serde_json::from_value(message).ok()?),
        "build-script-executed" => build.scripts.push(serde_json::from_value(message).ok()?),
        "build-finished" => build.success = Some(message.get("success")?.as_bool()?),
        "compiler-message" => {
            let error: TargetError = serde_json::from_value(message).ok()?;
            let shown = error.message.rendered.clone().unwrap_or_default();
            // A library with tests is compiled twice, and its errors are reported twice.
            if is_error(&error.message) && seen.insert((error.target.src_path.clone(), shown)) {
                build.errors.push(error);
            }
        }
        // Ignore unknown messages, which newer versions of cargo may add.
        _ => {}
    }
    Some(())
}

fn is_error(message: &Diagnostic) -> bool {
    message.level.starts_with("error") && !message.message.starts_with("aborting due to")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rust::captured::{build_messages, files};

    #[test]
    fn every_captured_stream_is_read_to_its_end() {
        for name in files("cargo__") {
            let build = read(&Captured::whole(build_messages(&name))).unwrap();
            let stopped_before_building = name == "cargo__no_such_target";
            assert_eq!(build.success.is_none(), stopped_before_building, "{name}");
        }
    }

    #[test]
    fn a_test_binary_is_told_from_the_library_it_tests() {
        let build = read(&Captured::whole(build_messages("cargo__pass"))).unwrap();
        let programs: Vec<_> = build.artifacts.iter().filter(|artifact| artifact.profile.test).collect();
        assert_eq!(programs.len(), 1);
        assert_eq!(programs[0].target.src_path, "/project/rs/tests/t.rs");
        assert!(programs[0].executable.is_some() && !programs[0].target.is_production());
    }

    #[test]
    fn warnings_are_not_errors_and_an_error_counts_once() {
        let text = build_messages("cargo__inline_missing_fn");
        let twice = format!("{text}{text}");
        assert_eq!(read(&Captured::whole(twice)).unwrap().errors.len(), 1);
    }

    #[test]
    fn a_cut_or_foreign_line_is_not_believed() {
        let text = build_messages("cargo__pass");
        assert!(read(&Captured::whole(&text[..300])).is_err());
        assert!(read(&Captured::whole("hello\n")).is_err());
        assert!(read(&Captured { bytes: text.into_bytes(), cut_at: 0, dropped: 1 }).is_err());
    }

    #[test]
    fn a_build_script_tells_what_tests_need() {
        let line = r#"{"reason":"build-script-executed","package_id":"p","linked_libs":[],"linked_paths":["native=/x"],"cfgs":[],"env":[["A","b"]],"out_dir":"/o"}"#;
        let build = read(&Captured::whole(line)).unwrap();
        assert_eq!(build.scripts[0].env, [("A".to_owned(), "b".to_owned())]);
        assert_eq!((build.scripts[0].out_dir.as_str(), build.success), ("/o", None));
    }
}
