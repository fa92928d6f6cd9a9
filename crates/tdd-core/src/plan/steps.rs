//! Finds the steps of a plan (`<task>` blocks, headings, or a numbered list) and the tests that they name.

use serde::Serialize;

/// One step of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Its title.
    pub title: String,
    /// Its first line, from 1.
    pub line: usize,
    /// The test it is about.
    pub test_id: Option<Field>,
    /// The file that the test belongs in.
    pub test_file_path: Option<Field>,
    /// Its whole text.
    #[serde(skip)]
    pub text: String,
}

/// The value of a key in a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Field {
    /// The value.
    pub text: String,
    /// Its line, from 1.
    pub line: usize,
}

/// The steps in these lines; `first` is the line number of the first line.
///
/// If there are `<task>` blocks, they are the steps. Otherwise each heading that begins with `Step` or `Task` starts a
/// step. Without such headings, each numbered item at the beginning of a line does.
pub(super) fn read(body: &[&str], first: usize) -> Vec<Step> {
    let lines = unfenced(body, first);
    let ways: [fn(&str) -> Option<String>; 3] = [task, heading, item];
    let starts = ways.into_iter().find(|start| lines.iter().any(|(_, line)| start(line).is_some()));
    let Some(start) = starts else { return Vec::new() };
    let mut steps: Vec<Step> = Vec::new();
    let mut open = false;
    for (number, line) in lines {
        if let Some(title) = start(line) {
            steps.push(Step { title, line: number, ..Step::default() });
            open = true;
        }
        if let Some(step) = steps.last_mut().filter(|_| open) {
            step.take(line, number);
        }
        if line.contains("</task>") {
            open = false;
        }
    }
    let ends: Vec<usize> = steps.iter().skip(1).map(|step| step.line).collect();
    for (at, step) in steps.iter_mut().enumerate() {
        let end = ends.get(at).map_or(body.len(), |next| next - first);
        step.text = written(body.get(step.line - first..end).unwrap_or_default());
    }
    steps
}

/// The lines of a step, up to the end of its `<task>` block.
fn written(lines: &[&str]) -> String {
    let end = lines.iter().position(|line| line.contains("</task>")).map_or(lines.len(), |at| at + 1);
    lines[..end].join("\n").trim_end().to_owned()
}

/// The lines outside fenced blocks, with their numbers: fenced blocks are examples.
fn unfenced<'a>(body: &[&'a str], first: usize) -> Vec<(usize, &'a str)> {
    let mut fence = None;
    let mut lines = Vec::new();
    for (number, line) in body.iter().enumerate() {
        let mark = ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
            (None, None) => lines.push((first + number, *line)),
        }
    }
    lines
}

fn task(line: &str) -> Option<String> {
    let rest = line.trim_start().strip_prefix("<task")?;
    let begins = rest.starts_with('>') || rest.starts_with(char::is_whitespace);
    begins.then(|| tagged(line, "name").or_else(|| attribute(line, "name")).unwrap_or_default())
}

fn heading(line: &str) -> Option<String> {
    let title = line.trim_start_matches('#');
    let depth = line.len() - title.len();
    let first = title.split_whitespace().next().unwrap_or_default().to_lowercase();
    let is_step = first.starts_with("step") || first.starts_with("task");
    ((2..=4).contains(&depth) && title.starts_with(' ') && is_step).then(|| title.trim().to_owned())
}

fn item(line: &str) -> Option<String> {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let title = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))?;
    (rest.len() < line.len()).then(|| title.trim().to_owned())
}

impl Step {
    fn take(&mut self, line: &str, number: usize) {
        let field = |key: &str| value(line, key).map(|text| Field { text, line: number });
        self.test_id = self.test_id.take().or_else(|| field("test_id"));
        self.test_file_path = self.test_file_path.take().or_else(|| field("test_file_path"));
        if self.title.is_empty() {
            self.title = tagged(line, "name").unwrap_or_default();
        }
    }
}

/// The value of a key in a line: `key: value` (also in a list or in bold), `<key>value</key>`, or `key="value"`.
fn value(line: &str, key: &str) -> Option<String> {
    let plain = || {
        let rest = line.trim_start_matches([' ', '\t', '-', '*', '`', '_']).strip_prefix(key)?;
        let rest = rest.trim_start_matches(['*', '`', '_']).strip_prefix(':')?;
        let text = rest.trim_matches([' ', '\t', '*', '`', '"', '\'']);
        (!text.is_empty()).then(|| text.to_owned())
    };
    let in_tag = || if line.trim_start().starts_with("<task") { attribute(line, key) } else { None };
    tagged(line, key).or_else(in_tag).or_else(plain)
}

fn tagged(line: &str, key: &str) -> Option<String> {
    let (_, rest) = line.split_once(&format!("<{key}>"))?;
    let (text, _) = rest.split_once(&format!("</{key}>"))?;
    (!text.trim().is_empty()).then(|| text.trim().to_owned())
}

fn attribute(line: &str, key: &str) -> Option<String> {
    let (_, rest) = line.split_once(&format!(" {key}=\""))?;
    rest.split_once('"').map(|(text, _)| text.trim().to_owned())
}
