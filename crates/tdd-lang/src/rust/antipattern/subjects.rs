//! Finds the subjects of a test's assertions, and the literal values in them.

use std::collections::BTreeSet;
use std::ops::Range;

use tdd_core::signs::Sample;

use crate::item::TestItem;
use crate::rust::change::file::File;

use super::code::{Code, Word, is_name};
use super::scan::{Bindings, arguments, before, bindings, until, value, with_values};

/// A test's assertions.
pub(super) struct Assertions<'c> {
    code: &'c Code,
    file: &'c File,
    bindings: Bindings<'c>,
    spans: Vec<Range<usize>>,
}

impl<'c> Assertions<'c> {
    pub fn of(code: &'c Code, file: &'c File, test: &TestItem) -> Self {
        let spans = test.assertions.iter().map(|assertion| file.inside(&assertion.span)).collect();
        Self { code, file, bindings: bindings(file, file.inside(&test.span)), spans }
    }

    /// One name for each independent group of production calls. Calls in the same assertion belong to one group.
    pub fn subjects(&self) -> Vec<String> {
        let mut groups: Vec<BTreeSet<String>> = Vec::new();
        for span in &self.spans {
            let mut group = self.calls(span.clone());
            if group.is_empty() {
                continue;
            }
            groups.retain(|other| {
                let apart = other.is_disjoint(&group);
                if !apart {
                    group.extend(other.iter().cloned());
                }
                apart
            });
            groups.push(group);
        }
        groups.into_iter().filter_map(|group| group.into_iter().next()).collect()
    }

    /// The production functions, or the types they belong to, that are called in these tokens.
    fn calls(&self, tokens: Range<usize>) -> BTreeSet<String> {
        let parts = with_values(self.file, tokens, &self.bindings);
        parts.into_iter().flatten().filter_map(|at| self.call(at)).collect()
    }

    fn call(&self, at: usize) -> Option<String> {
        let (file, name) = (self.file, self.file.text(at));
        let is_call = is_name(file, at) && matches!(file.text(at + 1), "(" | "{") && before(file, at) != ".";
        let is_type = |text: &str| text.starts_with(|c: char| c.is_uppercase());
        let owner = at.checked_sub(2).map(|at| file.text(at)).filter(|text| before(file, at) == "::" && is_type(text));
        let subject = owner.unwrap_or(name);
        let meanings = self.code.meanings(&Word::plain(subject.to_owned()), None);
        let is_production = meanings.iter().any(|node| !self.code.nodes[*node].for_tests);
        let is_helper = meanings.iter().any(|node| self.code.nodes[*node].for_tests);
        (is_call && is_production && !is_helper).then(|| subject.to_owned())
    }

    /// The literal inputs and expected outputs of each comparison with a production value.
    pub fn samples(&self) -> Vec<Sample> {
        self.spans.iter().filter_map(|span| self.sample(span)).collect()
    }

    fn sample(&self, span: &Range<usize>) -> Option<Sample> {
        let file = self.file;
        let bang = span.clone().find(|at| file.text(*at) == "!")?;
        let parts = arguments(file, bang + 1, span.end);
        let sides = match (file.text(bang.checked_sub(1)?), parts.as_slice()) {
            ("assert_eq", [left, right, ..]) => (left.clone(), right.clone()),
            ("assert", [condition, ..]) => {
                let middle = until(file, condition.start, condition.end, &["=="]);
                if middle == condition.end {
                    let answer = if file.text(condition.start) == "!" { "false" } else { "true" };
                    let expected = BTreeSet::from([answer.to_owned()]);
                    return Some(Sample { inputs: self.values(condition.clone()), expected });
                }
                (condition.start..middle, middle + 1..condition.end)
            }
            _ => return None,
        };
        let is_asking = |side: &Range<usize>| !self.calls(side.clone()).is_empty();
        let (asking, expected) = if is_asking(&sides.0) { sides } else { (sides.1, sides.0) };
        Some(Sample { inputs: self.values(asking), expected: self.values(expected) })
    }

    fn values(&self, tokens: Range<usize>) -> BTreeSet<String> {
        let parts = with_values(self.file, tokens, &self.bindings);
        parts.into_iter().flatten().filter_map(|at| value(self.file, at)).collect()
    }
}
