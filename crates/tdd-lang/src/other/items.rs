//! Finds tests line by line, by the words that test frameworks use.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use tdd_core::change::Mark;
use tdd_core::digest::Digest;

use crate::analysis::compare::Piece;
use crate::item::{Assertion, Items, TestItem};

/// A line that marks what follows as a test.
static MARKER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^\s*(@(Test|ParameterizedTest|RepeatedTest|TestFactory|Property)\b|\[(Test|TestCase|TestMethod|Fact|Theory|DataTestMethod)\b|#\[test\])").ok()
});
/// A function, with its name.
static FUNCTION: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(\w+|`[^`]+`)\s*\(").ok());
/// A test that needs no mark, with its name.
static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?x)
        ^\s*(?:(?:public|private|static|async|override|final|function|func|fun|def|sub|void|local|-\s*\(void\))\s+)+(?<function>test\w+)
        | ^\s*(?:it|test|specify|scenario|example|TEST_CASE|SCENARIO|testWidgets|xit|fit|fdescribe)\s*\(?\s*(?:"(?<double>(?:[^"\\]|\\.)+)"|'(?<single>(?:[^'\\]|\\.)+)')
        | ^\s*(?<shell>test_\w+)\s*\(\)\s*\{
        | ^\s*TEST(?:_F|_P)?\s*\(\s*(?<suite>\w+)\s*,\s*(?<case>\w+)\s*\)
        "#,
    )
    .ok()
});
/// Words that assert.
static ASSERTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)(\bassert|\bexpect|\bshould|\bverify\b|\brequire\b|\bcheck(_|\b)|\braises?\b|\bmust_|\brefute|\bfail\b|\bshouldBe)").ok()
});
/// Words that skip a test.
static SKIPS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(@(Ignore|Disabled|Pending|Skip)\b|\[Ignore|Skip\s*=|^\s*(xit|xtest|xspecify)\b|^\s*(skip|pending|t\.skip|markTestSkipped)\b|\.skip\b|->markTest(Skipped|Incomplete)|GTEST_SKIP|DISABLED_)").ok()
});
static ANNOTATION: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"@tdd-test-id:\s*(\S+)").ok());

/// The tests of a test file. Each extends to the beginning of the next one.
pub(super) fn items(source: &str) -> Items {
    let lines = lines(source);
    let starts = starts(&lines);
    let mut tests = Vec::new();
    for (nth, (first, line, name)) in starts.iter().enumerate() {
        let end = starts.get(nth + 1).map_or(lines.len(), |(next, _, _)| *next);
        tests.push(test(
            &lines[*first..end],
            *line,
            name,
            lines.get(first.saturating_sub(3)..*first).unwrap_or_default(),
        ));
    }
    let whole = 0..source.len();
    Items { tests, test_ranges: [whole].into(), parses: true, ..Items::default() }
}

/// Everything before the first test.
pub(super) fn head(source: &str, first: Option<&TestItem>) -> Option<Piece> {
    let end = first.map_or(source.len(), |test| test.span.start);
    let text = source.get(..end)?;
    let digest = digest(text.lines());
    (digest != Digest::of([])).then(|| Piece {
        for_tests: true,
        of_test: false,
        label: "what stands before the tests".to_owned(),
        name: String::new(),
        line: 1,
        digest,
        span: 0..end,
    })
}

/// Whether a test still does everything that it did: all of its lines are there in order, and new lines assert.
pub(super) fn is_kept((before, old): (&str, &TestItem), (after, new): (&str, &TestItem)) -> bool {
    let of = |source: &str, test: &TestItem| -> Vec<String> {
        let text = source.get(test.span.clone()).unwrap_or_default();
        let lines = lines(text);
        let own = lines[..without_closing(&lines)].iter();
        own.map(|line| squeezed(line.text)).filter(|line| !line.is_empty()).collect()
    };
    let (old, new) = (of(before, old), of(after, new));
    let mut left = old.iter().peekable();
    let only_asserts = new.iter().all(|line| {
        let kept = left.peek() == Some(&line);
        if kept {
            left.next();
        }
        kept || says(&ASSERTS, line)
    });
    only_asserts && left.next().is_none()
}

/// The file without a test; `None` if other code would go with it.
pub(super) fn without(source: &str, test: &TestItem) -> Option<String> {
    let own = source.get(test.span.clone())?;
    let opens = own.matches(['{', '(']).count();
    let closes = own.matches(['}', ')']).count();
    // The text of a class's last test also holds the bracket that closes the class.
    (opens == closes && opens > 0).then(|| {
        let mut left = source.to_owned();
        left.replace_range(test.span.clone(), "");
        left
    })
}

struct Line<'s> {
    text: &'s str,
    range: Range<usize>,
}

fn lines(source: &str) -> Vec<Line<'_>> {
    let mut at = 0;
    let mut lines = Vec::new();
    for text in source.split_inclusive('\n') {
        lines.push(Line { text, range: at..at + text.len() });
        at += text.len();
    }
    lines
}

/// How many lines a test has without the closing brackets at its end: after the last test of a class they also close
/// the class, and another test would change that.
fn without_closing(lines: &[Line<'_>]) -> usize {
    let closes =
        |line: &Line<'_>| matches!(line.text.trim().trim_end_matches([';', ',']), "" | "}" | ")" | "})" | "]" | "end");
    lines.iter().rposition(|line| !closes(line)).map_or(0, |last| last + 1)
}

/// Where tests begin: the first line, with comments and annotations above; the line of the name; and the name.
fn starts(lines: &[Line<'_>]) -> Vec<(usize, usize, String)> {
    let mut found: Vec<(usize, usize, String)> = Vec::new();
    let mut marked = None;
    for (at, line) in lines.iter().enumerate() {
        if says(&MARKER, line.text) {
            marked = marked.or(Some(at));
        }
        let name = match marked {
            Some(_) => function(line.text),
            None => named(line.text),
        };
        if let Some(name) = name {
            let over = found.last().map_or(0, |(_, last, _)| last + 1);
            let first = marked.take().unwrap_or(at);
            let above = (over..first).rev().take_while(|nth| belongs(lines[*nth].text)).last().unwrap_or(first);
            found.push((above, at, name));
        }
    }
    found
}

/// Whether a line is a comment or an annotation, which belongs to the test below it.
fn belongs(text: &str) -> bool {
    let text = text.trim();
    ["//", "#", "@", "[", "*", "/*", "--", ";"].iter().any(|start| text.starts_with(start))
}

/// The name of the function on a line; it may follow a marker.
fn function(text: &str) -> Option<String> {
    let rest = match MARKER.as_ref()?.find(text) {
        Some(marker) => text.get(marker.end()..)?,
        None => text,
    };
    if rest.trim_start().starts_with(['@', '[', '(', '"', ']', ',']) && !rest.contains("void ") {
        return None;
    }
    let name = FUNCTION.as_ref()?.captures(rest)?.get(1)?.as_str();
    Some(name.trim_matches('`').to_owned())
}

fn named(text: &str) -> Option<String> {
    let found = NAMED.as_ref()?.captures(text)?;
    if let (Some(suite), Some(case)) = (found.name("suite"), found.name("case")) {
        return Some(format!("{}.{}", suite.as_str(), case.as_str()));
    }
    let name = ["function", "shell", "double", "single"].iter().find_map(|group| found.name(group))?;
    Some(name.as_str().to_owned())
}

fn test(lines: &[Line<'_>], named_at: usize, name: &str, above: &[Line<'_>]) -> TestItem {
    let texts = || lines[..without_closing(lines)].iter().map(|line| line.text);
    let assertion = |line: &Line<'_>| Assertion {
        kind: "assertion".to_owned(),
        span: line.range.clone(),
        digest: digest([line.text]),
        in_closure: false,
    };
    let nameless: Vec<String> = texts().map(|text| text.replace(name, "")).collect();
    let annotated = above.iter().chain(lines).find_map(|line| {
        let found = ANNOTATION.as_ref()?.captures(line.text)?;
        Some(found.get(1)?.as_str().to_owned())
    });
    TestItem {
        name: name.to_owned(),
        annotation: annotated,
        span: lines.first().map_or(0, |line| line.range.start)..lines.last().map_or(0, |line| line.range.end),
        line: named_at + 1,
        digest: digest(texts()),
        body: digest(nameless.iter().map(String::as_str)),
        assertions: lines.iter().filter(|line| says(&ASSERTS, line.text)).map(assertion).collect(),
        ignored: texts()
            .find(|text| says(&SKIPS, text))
            .map(|text| Mark { text: text.trim().to_owned(), always: false }),
        cfg: Vec::new(),
        should_panic: false,
        expected_panic: None,
        returns_result: false,
        cases: Vec::new(),
    }
}

fn says(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

/// Digest of the words of these lines; indentation does not count.
fn digest<'l>(lines: impl IntoIterator<Item = &'l str>) -> Digest {
    let mut bytes = Vec::new();
    for line in lines.into_iter().map(squeezed).filter(|line| !line.is_empty()) {
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
    }
    Digest::of(bytes)
}

fn squeezed(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(source: &str) -> Vec<String> {
        items(source)
            .tests
            .into_iter()
            .map(|test| format!("{}:{} {}", test.name, test.line, test.assertions.len()))
            .collect()
    }

    #[test]
    fn tests_of_many_frameworks_are_found() {
        let java = "class CalcTest {\n  @Test\n  void adds() {\n    assertEquals(3, add(1, 2));\n  }\n\n  @ParameterizedTest\n  @ValueSource(ints = {1})\n  public void doubles(int n) {\n    assertEquals(2, n * 2);\n    assertTrue(true);\n  }\n}\n";
        assert_eq!(names(java), ["adds:3 1", "doubles:9 2"]);
        let kotlin = "@Test fun `adds two`() {\n  assertEquals(3, add(1, 2))\n}\n";
        assert_eq!(names(kotlin), ["adds two:1 1"]);
        let ruby = "describe 'calc' do\n  it 'adds' do\n    expect(add(1, 2)).to eq(3)\n  end\nend\n\ndef test_x\n  assert_equal 1, x\nend\n";
        assert_eq!(names(ruby), ["adds:2 1", "test_x:7 1"]);
        let cpp = "TEST(Calc, Adds) {\n  EXPECT_EQ(3, add(1, 2));\n}\nTEST_CASE(\"doubles\") {\n  REQUIRE(twice(2) == 4);\n}\n";
        assert_eq!(names(cpp), ["Calc.Adds:1 1", "doubles:4 1"]);
        let php = "class T extends TestCase {\n  public function testAdds(): void {\n    $this->assertSame(3, add(1, 2));\n  }\n}\n";
        assert_eq!(names(php), ["testAdds:2 1"]);
        let cs = "[Fact]\npublic void Adds() {\n  Assert.Equal(3, Add(1, 2));\n}\n";
        assert_eq!(names(cs), ["Adds:2 1"]);
    }

    #[test]
    fn a_marker_that_skips_is_seen_and_an_annotation_too() {
        let source = "// @tdd-test-id: calc-adds\n@Disabled\n@Test\nvoid adds() {\n  assertEquals(3, add(1, 2));\n}\n";
        let test = items(source).tests.remove(0);
        assert_eq!((test.annotation.as_deref(), test.skipped().as_deref()), (Some("calc-adds"), Some("@Disabled")));
        assert_eq!(test.span, 0..source.len());
    }

    #[test]
    fn a_test_that_gained_an_assertion_is_kept_and_one_that_lost_a_line_is_not() {
        let of = |body: &str| format!("@Test\nvoid adds() {{\n{body}}}\n");
        let (old, more) = (
            of("  assertEquals(3, add(1, 2));\n"),
            of("  assertEquals(3, add(1, 2));\n  assertEquals(0, add(0, 0));\n"),
        );
        let kept =
            |before: &str, after: &str| is_kept((before, &items(before).tests[0]), (after, &items(after).tests[0]));
        assert!(kept(&old, &more) && kept(&old, &old.replace("  assert", "      assert")));
        let in_class = |tests: &str| format!("class T {{\n{tests}}}\n");
        assert!(kept(&in_class(&old), &in_class(&(old.clone() + &more))));
        assert!(!kept(&more, &old) && !kept(&old, &of("  return;\n  assertEquals(3, add(1, 2));\n")));
    }
}
