//! Parses a JUnit report, in the variants that different tools write.

use roxmltree::{Document, Node};

/// One test of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Case {
    /// The test's file, if the report names it.
    pub file: Option<String>,
    /// The class, module or package; empty if there is none.
    pub class: String,
    /// The test's name.
    pub name: String,
    /// How long the test took.
    pub duration_ms: u64,
    /// How the test ended.
    pub fate: Fate,
}

/// How a test ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// The report has no `<failure>`, `<error>` or `<skipped>` for it.
    Passed,
    /// An assertion failed.
    Failed(String),
    /// Something else went wrong.
    Broke(String),
    /// It was not run.
    Skipped(String),
}

/// The tests of a report, or the reason why the text is not a valid report.
pub(super) fn cases(xml: &str) -> Result<Vec<Case>, String> {
    let document = Document::parse(xml.trim_start_matches('\u{feff}')).map_err(|error| error.to_string())?;
    let root = document.root_element().tag_name().name();
    if root != "testsuites" && root != "testsuite" {
        return Err(format!("it begins with `<{root}>` and not with `<testsuites>` or `<testsuite>`"));
    }
    let suites = document.descendants().filter(|node| node.has_tag_name("testsuite"));
    suites.clone().try_for_each(counted)?;
    document.descendants().filter(|node| node.has_tag_name("testcase")).map(case).collect()
}

/// Checks that a suite lists as many tests as its `tests` attribute says.
fn counted(suite: Node<'_, '_>) -> Result<(), String> {
    let found = suite.descendants().filter(|node| node.has_tag_name("testcase")).count();
    match suite.attribute("tests").map(str::parse::<usize>) {
        Some(Ok(declared)) if declared != found => {
            let name = suite.attribute("name").unwrap_or_default();
            Err(format!("the suite `{name}` says that it has {declared} tests, and lists {found}"))
        }
        _ => Ok(()),
    }
}

fn case(node: Node<'_, '_>) -> Result<Case, String> {
    let name = node.attribute("name").filter(|name| !name.is_empty()).ok_or("it has a test without a name")?;
    let suites = || node.ancestors().filter(|outer| outer.has_tag_name("testsuite"));
    let file = node.attribute("file").or_else(|| suites().find_map(|suite| suite.attribute("file")));
    let class = node.attribute("classname").or_else(|| suites().find_map(|suite| suite.attribute("name")));
    let seconds = node.attribute("time").and_then(|time| time.parse::<f64>().ok()).unwrap_or_default();
    Ok(Case {
        file: file.map(|file| file.trim_start_matches("./").to_owned()),
        class: class.unwrap_or_default().to_owned(),
        name: name.to_owned(),
        duration_ms: u64::try_from(std::time::Duration::try_from_secs_f64(seconds).unwrap_or_default().as_millis())
            .unwrap_or(u64::MAX),
        fate: fate(node),
    })
}

/// The worst outcome that the report has for a test.
fn fate(node: Node<'_, '_>) -> Fate {
    let message_in = |tag: &str| node.children().find(|child| child.has_tag_name(tag)).map(words);
    let failed = message_in("failure").map(Fate::Failed);
    let broke = || message_in("error").map(Fate::Broke);
    let skipped = || message_in("skipped").map(Fate::Skipped);
    failed.or_else(broke).or_else(skipped).unwrap_or(Fate::Passed)
}

fn words(node: Node<'_, '_>) -> String {
    let message = node.attribute("message").unwrap_or_default().trim();
    let kind = node.attribute("type").unwrap_or_default();
    let text: String = node.descendants().filter(Node::is_text).filter_map(|text| text.text()).collect();
    let head = if message.is_empty() { kind } else { message };
    if text.contains(head) { text.trim().to_owned() } else { format!("{head}\n{}", text.trim()).trim().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_nest_and_say_where_their_tests_are() {
        let xml = "<?xml version=\"1.0\"?><testsuites><testsuite name=\"calc\" file=\"./test/calc.rb\" tests=\"4\">\
            <testcase name=\"adds\" time=\"0.25\"/>\
            <testcase classname=\"Calc\" name=\"fails\"><failure message=\"no\" type=\"E\">no\n at x</failure></testcase>\
            <testsuite name=\"inner\" tests=\"2\"><testcase name=\"breaks\"><error type=\"NPE\"/></testcase>\
            <testcase name=\"rests\" file=\"b.rb\"><skipped/></testcase></testsuite></testsuite></testsuites>";
        let told: Vec<String> = cases(xml)
            .unwrap()
            .into_iter()
            .map(|case| {
                let file = case.file.unwrap_or_default();
                format!("{file} {} {} {} {:?}", case.class, case.name, case.duration_ms, case.fate)
            })
            .collect();
        assert_eq!(
            told,
            [
                "test/calc.rb calc adds 250 Passed",
                "test/calc.rb Calc fails 0 Failed(\"no\\n at x\")",
                "test/calc.rb inner breaks 0 Broke(\"NPE\")",
                "b.rb inner rests 0 Skipped(\"\")"
            ]
        );
    }

    #[test]
    fn what_is_no_report_is_not_believed() {
        for (xml, why) in [
            ("", "root"),
            ("<html/>", "begins with `<html>`"),
            ("<testsuite><testcase/></testsuite>", "without a name"),
            (
                "<testsuite name=\"a\" tests=\"2\"><testcase name=\"x\"/></testsuite>",
                "says that it has 2 tests, and lists 1",
            ),
            ("<testsuite><testcase name=\"x\"></testsuite>", "expected"),
            ("<!DOCTYPE a [<!ENTITY b \"c\">]><testsuite/>", "DTD"),
        ] {
            let error = cases(xml).unwrap_err();
            assert!(error.contains(why), "{xml}: {error}");
        }
        assert_eq!(cases("\u{feff}<testsuites/>"), Ok(Vec::new()));
        assert_eq!(cases("<testsuite><testcase name=\"x\" time=\"-1e99\"/></testsuite>").unwrap()[0].duration_ms, 0);
    }
}
