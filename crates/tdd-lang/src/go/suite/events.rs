//! Reads the events that `go test -json` prints, by package and test.

use std::collections::BTreeMap;
use std::ops::Bound;

use serde::Deserialize;

/// One line of the output.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event {
    action: String,
    #[serde(default)]
    package: String,
    #[serde(default)]
    test: String,
    #[serde(default)]
    output: String,
    #[serde(default)]
    elapsed: f64,
    #[serde(default)]
    import_path: String,
    failed_build: Option<String>,
}

/// How a test or a package ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Pass,
    Fail,
    Skip,
}

/// A test or a subtest.
#[derive(Clone, Debug, Default)]
pub(super) struct Case {
    pub end: Option<End>,
    pub output: String,
    pub seconds: f64,
}

/// One package of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct PackageRun {
    /// By name, subtests included: `TestA/x`.
    pub cases: BTreeMap<String, Case>,
    pub output: String,
    pub end: Option<End>,
    /// Whether some of its tests ran in parallel.
    pub side_by_side: bool,
    /// The package whose build failed.
    pub failed_build: Option<String>,
}

impl PackageRun {
    /// The tests that began and did not end, or that ended because their process died.
    pub fn in_flight(&self) -> Vec<&str> {
        let at_end = self.says_its_end();
        let died = |name: &str, case: &Case| {
            let mut lines = self.parts(name).flat_map(|(_, case)| case.output.lines());
            let panicked = lines.any(|line| line.starts_with("panic: "));
            // The output of a parallel test may be attributed to another one.
            let is_silent = self.side_by_side && self.output_of(name).is_empty();
            !at_end && case.end == Some(End::Fail) && (panicked || is_silent)
        };
        let tests = self.cases.iter().filter(|(name, _)| !name.contains('/'));
        let open = tests.filter(|(name, case)| case.end.is_none() || died(name, case));
        open.map(|(name, _)| name.as_str()).collect()
    }

    /// Whether the package ran to its end, with no test still running.
    pub fn is_complete(&self) -> bool {
        self.end.is_some() && self.in_flight().is_empty() && self.says_its_end()
    }

    /// Whether the test binary itself printed that it is at its end.
    fn says_its_end(&self) -> bool {
        self.end == Some(End::Skip) || self.output.lines().any(|line| matches!(line, "PASS" | "FAIL"))
    }

    /// A test with its subtests.
    pub fn parts<'r>(&'r self, name: &'r str) -> impl Iterator<Item = (&'r str, &'r Case)> {
        let belongs =
            move |other: &str| other == name || other.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'));
        let from_name = self.cases.range::<str, _>((Bound::Included(name), Bound::Unbounded));
        let alike = from_name.take_while(move |(other, _)| other.starts_with(name));
        alike.filter(move |(other, _)| belongs(other)).map(|(name, case)| (name.as_str(), case))
    }

    /// The output of a test and its subtests, without the runner's own lines.
    pub fn output_of(&self, name: &str) -> String {
        let mut output = String::new();
        for (part, case) in self.parts(name) {
            let lines = case.output.lines().filter(|line| !is_frame(line));
            let text = lines.map(str::trim_end).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
            if !text.is_empty() {
                output += &if part == name { format!("{text}\n") } else { format!("{part}:\n{text}\n") };
            }
        }
        output.trim_end().to_owned()
    }
}

/// A whole run.
#[derive(Debug, Default)]
pub(super) struct Run {
    /// By import path.
    pub packages: BTreeMap<String, PackageRun>,
    /// The output of builds, by what was built.
    pub builds: BTreeMap<String, String>,
    /// Lines that are not events.
    pub strays: Vec<String>,
    /// The name of our canary test, which every package must report, if there is one.
    pub canary: Option<String>,
}

impl Run {
    /// Reads the output of a run.
    pub fn read(text: &str) -> Self {
        let mut run = Self::default();
        for (at, line) in text.lines().filter(|line| !line.trim().is_empty()).enumerate() {
            match serde_json::from_str::<Event>(line) {
                Ok(event) if at == 0 && event.action == "canary" => run.canary = Some(event.test),
                Ok(event) => run.add(event),
                Err(_) => run.strays.push(line.to_owned()),
            }
        }
        run
    }

    fn add(&mut self, event: Event) {
        if event.action.starts_with("build-") {
            *self.builds.entry(event.import_path).or_default() += &event.output;
            return;
        }
        let package = self.packages.entry(event.package).or_default();
        let end = match event.action.as_str() {
            "pass" => Some(End::Pass),
            "fail" => Some(End::Fail),
            "skip" => Some(End::Skip),
            _ => None,
        };
        if event.test.is_empty() {
            package.output += &event.output;
            package.end = end.or(package.end);
            package.failed_build = event.failed_build.or(package.failed_build.take());
            return;
        }
        package.side_by_side |= event.action == "pause";
        let case = package.cases.entry(event.test).or_default();
        case.output += &event.output;
        if let Some(end) = end {
            // A test that ends twice with different results has not passed.
            case.end = Some(if case.end.is_some_and(|known| known != end) { End::Fail } else { end });
            case.seconds = event.elapsed;
        }
    }
}

fn is_frame(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("=== ")
        || line.starts_with("--- PASS")
        || line.starts_with("--- FAIL")
        || line.starts_with("--- SKIP")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_ends_twice_has_not_passed() {
        let line = |action: &str| format!("{{\"Action\":\"{action}\",\"Package\":\"a\",\"Test\":\"TestA\"}}\n");
        for ends in [["fail", "pass"], ["pass", "fail"], ["skip", "pass"]] {
            let run = Run::read(&ends.map(line).concat());
            assert_eq!(run.packages["a"].cases["TestA"].end, Some(End::Fail), "{ends:?}");
        }
    }

    #[test]
    fn a_test_that_began_and_did_not_end_is_known() {
        let run = Run::read(
            "{\"Action\":\"run\",\"Package\":\"a\",\"Test\":\"TestA\"}\n{\"Action\":\"pass\",\"Package\":\"a\",\"Test\":\"TestA\",\"Elapsed\":0.5}\n\
             {\"Action\":\"run\",\"Package\":\"a\",\"Test\":\"TestB\"}\n{\"Action\":\"run\",\"Package\":\"a\",\"Test\":\"TestB/x\"}\n\
             {\"Action\":\"output\",\"Package\":\"a\",\"Test\":\"TestB/x\",\"Output\":\"=== RUN TestB/x\\n\"}\n\
             {\"Action\":\"output\",\"Package\":\"a\",\"Test\":\"TestB/x\",\"Output\":\"signal: killed\\n\"}\n{\"Action\":\"fail\",\"Package\":\"a\"}\ngo: a warning\n",
        );
        let package = &run.packages["a"];
        assert_eq!(package.in_flight(), ["TestB"]);
        assert_eq!(package.output_of("TestB"), "TestB/x:\nsignal: killed");
        assert!(!package.is_complete());
        assert_eq!(run.strays, ["go: a warning"]);
    }
}
