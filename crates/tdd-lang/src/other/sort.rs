//! Sorts the paths of a project in an unknown language, by common names.

use tdd_core::change::Sort;

/// File extensions of code.
const CODE: [&str; 40] = [
    "c", "cc", "cpp", "cxx", "h", "hh", "hpp", "cs", "fs", "vb", "java", "kt", "kts", "scala", "groovy", "clj",
    "swift", "m", "mm", "rb", "php", "pl", "pm", "lua", "ex", "exs", "erl", "hs", "ml", "mli", "dart", "r", "jl",
    "nim", "zig", "sh", "sql", "rs", "py", "go",
];

/// Files that are runner configuration.
const STEERING: [&str; 28] = [
    "makefile",
    "gnumakefile",
    "cmakelists.txt",
    "meson.build",
    "pom.xml",
    "build.xml",
    "gemfile",
    "gemfile.lock",
    "rakefile",
    "composer.json",
    "composer.lock",
    "package.json",
    "mix.exs",
    "mix.lock",
    "rebar.config",
    "package.swift",
    "build.sbt",
    "build.zig",
    "gradlew",
    "mvnw",
    "phpunit.xml",
    "phpunit.xml.dist",
    ".rspec",
    "stack.yaml",
    "cabal.project",
    "pubspec.yaml",
    "dockerfile",
    "justfile",
];

const STEERING_ENDINGS: [&str; 12] =
    ["gradle", "kts", "csproj", "fsproj", "sln", "props", "targets", "cmake", "gemspec", "cabal", "nimble", "mk"];

const STEERING_FOLDERS: [&str; 7] = [".github", ".gitlab", ".circleci", ".ci", ".mvn", "gradle", ".config"];

const TEST_FOLDERS: [&str; 9] =
    ["test", "tests", "spec", "specs", "__tests__", "testdata", "fixtures", "androidtest", "unittest"];

/// The sort of a path, whether or not the file exists.
pub(super) fn sort(path: &str) -> Sort {
    let lower = path.to_lowercase();
    let (folders, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    let ending = ending(name);
    let is_runner_configuration = STEERING.contains(&name)
        || (STEERING_ENDINGS.contains(&ending) && name != ending)
        || folders.split('/').any(|folder| STEERING_FOLDERS.contains(&folder));
    if is_runner_configuration {
        Sort::Steering
    } else if is_test(path) {
        Sort::Test
    } else if CODE.contains(&ending) {
        Sort::Production
    } else {
        Sort::Document
    }
}

/// Whether a file holds test code.
pub(super) fn is_test_source(path: &str) -> bool {
    sort(path) == Sort::Test && CODE.contains(&ending(&path.to_lowercase()))
}

/// Whether a path is a test, by its folder or its name: `CalcTest.java`, `calc_test.rb`, `test_calc.lua`,
/// `calc.spec.dart`.
fn is_test(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_folder = |folder: &str| {
        TEST_FOLDERS.contains(&folder.to_lowercase().as_str()) || folder.ends_with("Tests") || folder.ends_with(".Test")
    };
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let by_words =
        stem.split(['_', '-', '.']).any(|word| matches!(word.to_lowercase().as_str(), "test" | "tests" | "spec"));
    let by_case =
        ["Test", "Tests", "Spec", "TestCase", "IT"].iter().any(|end| stem.len() > end.len() && stem.ends_with(end));
    folders.split('/').any(is_folder) || by_words || by_case
}

fn ending(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, ending)| ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_a_file_is() {
        for (path, expected) in [
            ("src/main/java/Calc.java", Sort::Production),
            ("src/test/java/CalcTest.java", Sort::Test),
            ("Calc/CalcTests.cs", Sort::Test),
            ("spec/calc_spec.rb", Sort::Test),
            ("lib/calc.rb", Sort::Production),
            ("lib/contest.rb", Sort::Production),
            ("pom.xml", Sort::Steering),
            ("app/build.gradle", Sort::Steering),
            ("Makefile", Sort::Steering),
            (".github/workflows/ci.yml", Sort::Steering),
            ("README.md", Sort::Document),
            ("tests/data.json", Sort::Test),
        ] {
            assert_eq!(sort(path), expected, "{path}");
        }
        assert!(is_test_source("spec/calc_spec.rb") && !is_test_source("tests/data.json"));
    }
}
