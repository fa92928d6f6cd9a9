//! Merges an answer that holds some items of a file into that file: items of the same name are replaced, others are
//! added, imports are combined, and everything that the answer does not mention stays.

use std::collections::BTreeMap;
use std::ops::Range;

use tdd_core::merge::{MergeError, Merged};

use crate::syntax::{FlatTree, splice};

/// How a language classifies the children of a file, a class or another container.
pub(crate) struct Shape {
    /// Classifies a child.
    pub part: fn(&FlatTree<'_>, usize) -> Part,
    /// Formats an import of these names from a module.
    pub import: fn(&str, &[String]) -> String,
    /// Text between two items of a file, and between two items of a container.
    pub gap: (&'static str, &'static str),
}

/// What a child of a file or container is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A comment that belongs to the next item.
    Comment,
    /// An attribute that belongs to the next item.
    Attribute,
    /// The beginning of the file: package clause, documentation of the whole file.
    Header,
    /// An import from another file.
    Import(Import),
    /// A named item; `body` is the node that holds items of its own.
    Item {
        /// A unique key, which people see too: "fn `add`".
        key: String,
        /// The node with its own items.
        body: Option<usize>,
    },
    /// Any other code.
    Code,
    /// Brackets and separators.
    Nothing,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Import {
    /// Names from a module; they can be combined with others from it.
    Names {
        /// The module.
        module: String,
        /// The names, as written.
        names: Vec<String>,
    },
    /// Any other import; it is added unless it is already there.
    Whole,
}

/// Merges `answer` into `file`; both are trees of the same language.
pub(crate) fn merge(shape: &Shape, file: &FlatTree<'_>, answer: &FlatTree<'_>) -> Result<Merged, MergeError> {
    for (which, tree) in [("the file", file), ("the answer", answer)] {
        if let Some(node) = (0..tree.len()).find(|node| tree.is_broken(*node)) {
            return Err(MergeError::Broken { which, line: tree.line(node) });
        }
    }
    let mut merger = Merger { shape, file, answer, edits: Vec::new(), merged: Merged::default() };
    merger.container(0, 0, "")?;
    let Merger { edits, merged, .. } = merger;
    if file.source().trim().is_empty() {
        return Ok(Merged { text: answer.source().to_owned(), ..merged });
    }
    Ok(Merged { text: with_end(splice(file.source(), edits)), ..merged })
}

fn with_end(text: String) -> String {
    if text.is_empty() || text.ends_with('\n') { text } else { text + "\n" }
}

struct Merger<'m, 's> {
    shape: &'m Shape,
    file: &'m FlatTree<'s>,
    answer: &'m FlatTree<'s>,
    edits: Vec<(Range<usize>, String)>,
    merged: Merged,
}

/// A child with its leading comments and attributes.
struct Child {
    part: Part,
    node: usize,
    /// Start of its line, or of the line of its first comment or attribute.
    start: usize,
    end: usize,
    has_attributes: bool,
    has_lead: bool,
}

impl Merger<'_, '_> {
    fn container(&mut self, file: usize, answer: usize, outer: &str) -> Result<(), MergeError> {
        let ours = children(self.shape, self.file, file);
        let theirs = children(self.shape, self.answer, answer);
        let mut added = String::new();
        let gap = if outer.is_empty() { self.shape.gap.0 } else { self.shape.gap.1 };
        self.imports(&ours, &theirs);
        for child in &theirs {
            let text = self.answer.source().get(child.start..child.end).unwrap_or_default();
            match &child.part {
                Part::Item { key, body } => {
                    let label = if outer.is_empty() { key.clone() } else { format!("{key} in {outer}") };
                    only(&theirs, key, &label)?;
                    match (only(&ours, key, &label)?, body) {
                        (None, _) => {
                            added += &format!("{gap}{text}\n");
                            self.merged.added.push(label);
                        }
                        (Some(own), Some(inner)) if body_of(own).is_some() => {
                            self.container(body_of(own).unwrap_or(own.node), *inner, &label)?;
                        }
                        (Some(own), _) => self.replace(own, child, label),
                    }
                }
                Part::Code => {
                    let is_there = |own: &Child| tokens(self.file, own.node) == tokens(self.answer, child.node);
                    if !ours.iter().any(is_there) {
                        added += &format!("{gap}{text}\n");
                    }
                }
                Part::Comment | Part::Attribute | Part::Header | Part::Import(_) | Part::Nothing => {}
            }
        }
        for own in &ours {
            if let Part::Item { key, .. } = &own.part
                && !theirs.iter().any(|child| matches!(&child.part, Part::Item { key: other, .. } if other == key))
            {
                self.merged.kept.push(if outer.is_empty() { key.clone() } else { format!("{key} in {outer}") });
            }
        }
        if !added.is_empty() {
            self.append(file, &ours, &added);
        }
        Ok(())
    }

    /// Replaces an item. Its comments stay if the answer has none for it.
    fn replace(&mut self, own: &Child, child: &Child, label: String) {
        if tokens(self.file, own.node) != tokens(self.answer, child.node) {
            self.merged.replaced.push(label);
        }
        let keeps_comments = own.has_lead && !own.has_attributes && !child.has_lead;
        let start = if keeps_comments { line_start(self.file, own.node) } else { own.start };
        let text = self.answer.source().get(child.start..child.end).unwrap_or_default();
        self.edits.push((start..own.end, text.to_owned()));
    }

    fn imports(&mut self, ours: &[Child], theirs: &[Child]) {
        let mut united: BTreeMap<usize, (String, Vec<String>)> = BTreeMap::new();
        let mut added = String::new();
        for child in theirs {
            let Part::Import(import) = &child.part else { continue };
            let text = self.answer.text(child.node);
            let is_same = |own: &&Child| tokens(self.file, own.node) == tokens(self.answer, child.node);
            if ours.iter().any(|own| is_same(&own)) {
                continue;
            }
            let Import::Names { module, names } = import else {
                added += &format!("{text}\n");
                continue;
            };
            let known =
                |own: &&Child| matches!(&own.part, Part::Import(Import::Names { module: own, .. }) if own == module);
            let all: Vec<&Child> = ours.iter().filter(known).collect();
            let has = |name: &&String| {
                all.iter()
                    .any(|own| matches!(&own.part, Part::Import(Import::Names { names, .. }) if names.contains(name)))
            };
            let new: Vec<String> = names.iter().filter(|name| !has(name)).cloned().collect();
            match all.first() {
                _ if new.is_empty() => {}
                None => added += &format!("{text}\n"),
                Some(own) => {
                    let Part::Import(Import::Names { names, .. }) = &own.part else { continue };
                    let entry = united.entry(own.node).or_insert_with(|| (module.clone(), names.clone()));
                    entry.1.extend(new);
                }
            }
        }
        for (node, (module, names)) in united {
            self.edits.push((self.file.range(node), (self.shape.import)(&module, &names)));
        }
        if !added.is_empty() {
            let (at, text) = self.import_place(ours, &added);
            self.edits.push((at..at, text));
        }
    }

    /// Where to insert imports: after the last import, else after the header, else at the beginning.
    fn import_place(&self, ours: &[Child], added: &str) -> (usize, String) {
        let last = |wanted: fn(&Part) -> bool| ours.iter().rev().find(|own| wanted(&own.part));
        let (source, added) = (self.file.source(), added.trim_end_matches('\n'));
        if let Some(own) = last(|part| matches!(part, Part::Import(_))) {
            return (own.end, format!("\n{added}"));
        }
        if let Some(own) = last(|part| *part == Part::Header) {
            return (own.end, format!("\n\n{added}"));
        }
        let rest = if source.trim().is_empty() { "" } else { self.shape.gap.0 };
        (0, format!("{added}\n{rest}"))
    }

    /// Inserts items after the last child of a container, or at its beginning.
    fn append(&mut self, container: usize, ours: &[Child], added: &str) {
        let source = self.file.source();
        let added = added.trim_end_matches('\n');
        if let Some(last) = ours.iter().rev().find(|own| own.part != Part::Nothing) {
            self.edits.push((last.end..last.end, format!("\n{added}")));
            return;
        }
        let range = self.file.range(container);
        let opens = source.get(range.clone()).is_some_and(|text| text.starts_with('{'));
        let at = if opens { range.start + 1 } else { range.end };
        let added = added.trim_start_matches('\n');
        let text = if opens { format!("\n{added}\n") } else { format!("{added}\n") };
        self.edits.push((at..at, text));
    }
}

fn body_of(child: &Child) -> Option<usize> {
    match &child.part {
        Part::Item { body, .. } => *body,
        Part::Comment | Part::Attribute | Part::Header | Part::Import(_) | Part::Code | Part::Nothing => None,
    }
}

/// The only item with this key, if any; an error if there are several.
fn only<'c>(children: &'c [Child], key: &str, label: &str) -> Result<Option<&'c Child>, MergeError> {
    let mut found = children.iter().filter(|child| matches!(&child.part, Part::Item { key: own, .. } if own == key));
    let first = found.next();
    if found.next().is_some() { Err(MergeError::Ambiguous(label.to_owned())) } else { Ok(first) }
}

fn children(shape: &Shape, tree: &FlatTree<'_>, container: usize) -> Vec<Child> {
    let mut found = Vec::new();
    let mut lead: Option<usize> = None;
    let (mut has_attributes, mut end_before) = (false, usize::MAX);
    for node in tree.children(container) {
        let part = (shape.part)(tree, node);
        let start = line_start(tree, node);
        match part {
            Part::Nothing => {}
            // A comment on the line of the previous child belongs to that child.
            Part::Comment if tree.line(node) == end_before => {
                if let Some(last) = found.last_mut() {
                    let last: &mut Child = last;
                    last.end = trimmed_end(tree, node);
                }
            }
            Part::Comment | Part::Attribute => {
                has_attributes |= part == Part::Attribute;
                lead.get_or_insert(start);
            }
            Part::Header | Part::Import(_) | Part::Item { .. } | Part::Code => {
                let end = trimmed_end(tree, node);
                found.push(Child {
                    part,
                    node,
                    start: lead.unwrap_or(start),
                    end,
                    has_attributes,
                    has_lead: lead.is_some(),
                });
                (lead, has_attributes) = (None, false);
                end_before = tree.line(node) + tree.text(node).trim_end().matches('\n').count();
            }
        }
    }
    found
}

/// A node's end, without the trailing white space that some grammars include, and with a `;` or `,` after it.
fn trimmed_end(tree: &FlatTree<'_>, node: usize) -> usize {
    let range = tree.range(node);
    let end = range.start + tree.text(node).trim_end().len();
    let rest = tree.source().get(end..).unwrap_or_default();
    if rest.starts_with([';', ',']) { end + 1 } else { end }
}

/// The start of a node's line if only white space precedes the node there, else the node's start.
fn line_start(tree: &FlatTree<'_>, node: usize) -> usize {
    let start = tree.range(node).start;
    let before = tree.source().get(..start).unwrap_or_default();
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    if before.get(line..).is_some_and(|text| text.trim().is_empty()) { line } else { start }
}

/// The tokens of a node without its comments.
fn tokens<'a>(tree: &FlatTree<'a>, node: usize) -> Vec<&'a str> {
    let is_token = |inner: &usize| tree.is_leaf(*inner) && !tree.kind(*inner).contains("comment");
    tree.subtree(node).filter(is_token).map(|inner| tree.text(inner).trim()).filter(|text| !text.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use crate::go::Go;
    use crate::javascript::JavaScript;
    use crate::language::Language;
    use crate::python::Python;
    use crate::rust::Rust;

    /// A file, an answer, what is to come of them, and what is said of it: `+` added, `~` replaced, `=` kept.
    #[track_caller]
    fn check(language: &dyn Language, path: &str, [file, answer, expected]: [&str; 3], said: &str) {
        let merged = language.merge(path, file, answer).unwrap().unwrap();
        assert_eq!(merged.text, expected, "{path}");
        let all = [("+", merged.added), ("~", merged.replaced), ("=", merged.kept)];
        let told = all.into_iter().flat_map(|(sign, names)| names.into_iter().map(move |name| format!("{sign}{name}")));
        assert_eq!(told.collect::<Vec<_>>().join(", "), said, "{path}");
    }

    #[test]
    fn a_new_test_is_added_and_the_older_ones_stay() {
        let go = [
            "package calc\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {\n\tt.Fatal()\n}\n",
            "package calc\n\nimport (\n\t\"strings\"\n\t\"testing\"\n)\n\nfunc TestB(t *testing.T) {\n\tstrings.ToUpper(\"\")\n}\n",
            "package calc\n\nimport (\n\t\"testing\"\n\t\"strings\"\n)\n\nfunc TestA(t *testing.T) {\n\tt.Fatal()\n}\n\n\
             func TestB(t *testing.T) {\n\tstrings.ToUpper(\"\")\n}\n",
        ];
        check(&Go, "a_test.go", go, "+func `TestB`, =func `TestA`");
        let javascript = [
            "import test from 'node:test';\nimport { add } from '../src/calc.js';\n\ntest('adds', () => {\n  add(1);\n});\n",
            "import { add, sub } from '../src/calc.js';\nimport test from 'node:test';\n\ntest('subs', () => {\n  sub(1);\n});\n",
            "import test from 'node:test';\nimport { add, sub } from '../src/calc.js';\n\ntest('adds', () => {\n  add(1);\n});\n\n\
             test('subs', () => {\n  sub(1);\n});\n",
        ];
        check(&JavaScript::Typed, "a.test.ts", javascript, "+test `subs`, =test `adds`");
        let python = [
            "import pytest\nfrom calc import add\n\n\ndef test_adds():\n    assert add(1) == 1\n",
            "from calc import add, sub\nimport math\n\ndef test_subs():\n    assert sub(1) == 1\n",
            "import pytest\nfrom calc import add, sub\nimport math\n\n\ndef test_adds():\n    assert add(1) == 1\n\n\n\
             def test_subs():\n    assert sub(1) == 1\n",
        ];
        check(&Python, "a.py", python, "+def `test_subs`, =def `test_adds`");
        let rust = [
            "use calc::add;\n\n#[test]\nfn adds() {\n    assert_eq!(add(1, 1), 2);\n}\n",
            "use calc::{add, sub};\n\n// Two.\n#[test]\nfn subs() {\n    assert_eq!(sub(1, 1), 0);\n}\n",
            "use calc::{add, sub};\n\n#[test]\nfn adds() {\n    assert_eq!(add(1, 1), 2);\n}\n\n\
             // Two.\n#[test]\nfn subs() {\n    assert_eq!(sub(1, 1), 0);\n}\n",
        ];
        check(&Rust, "a.rs", rust, "+fn `subs`, =fn `adds`");
    }

    #[test]
    fn an_item_of_the_same_name_is_replaced_in_its_place_and_a_new_one_added_to_its_container() {
        let go = [
            "package a\n\n// T is.\ntype T struct{}\n\n// F is.\nfunc (t *T) F() int { return 1 }\n\nfunc F() int { return 1 }\n",
            "package a\n\nfunc (t *T) F() int { return 2 }\n\ntype T struct{ a int }\n",
            "package a\n\n// T is.\ntype T struct{ a int }\n\n// F is.\nfunc (t *T) F() int { return 2 }\n\nfunc F() int { return 1 }\n",
        ];
        check(&Go, "a.go", go, "~method `T.F`, ~`T`, =func `F`");
        let groups = [
            "const { a } = require('./a');\n\ndescribe('a', () => {\n  beforeEach(() => a());\n\n  it('one', () => {});\n});\n",
            "const { a, b } = require('./a');\n\ndescribe('a', () => {\n  beforeEach(() => a());\n\n  it('two', () => {\n    b();\n  });\n});\n",
            "const { a, b } = require('./a');\n\ndescribe('a', () => {\n  beforeEach(() => a());\n\n  it('one', () => {});\n\n  \
             it('two', () => {\n    b();\n  });\n});\n",
        ];
        check(&JavaScript::Typed, "a.test.ts", groups, "+test `two` in group `a`, =test `one` in group `a`");
        let class = [
            "export class A {\n  b() {\n    return 1;\n  }\n}\n\nexport const X = 1;\n",
            "export class A {\n  get c() {\n    return 2;\n  }\n}\n\nexport const X = 2;\nexport function f() {}\n",
            "export class A {\n  b() {\n    return 1;\n  }\n\n  get c() {\n    return 2;\n  }\n}\n\nexport const X = 2;\n\n\
             export function f() {}\n",
        ];
        let said = "+method `get c` in class `A`, +function `f`, ~`X`, =method `b` in class `A`";
        check(&JavaScript::Typed, "a.ts", class, said);
        let python = [
            "\"\"\"Carts.\"\"\"\n\n\nclass Cart:\n    \"\"\"A cart.\"\"\"\n\n    def a(self):\n        return 1\n\n    \
             def b(self):\n        return 2\n\n\nLIMIT = 3\n",
            "class Cart:\n    def b(self):\n        return 4\n\n    @property\n    def c(self):\n        return 5\n\n\nLIMIT = 6\n",
            "\"\"\"Carts.\"\"\"\n\n\nclass Cart:\n    \"\"\"A cart.\"\"\"\n\n    def a(self):\n        return 1\n\n    \
             def b(self):\n        return 4\n\n    @property\n    def c(self):\n        return 5\n\n\nLIMIT = 6\n",
        ];
        let said = "+def `c` in class `Cart`, ~def `b` in class `Cart`, ~`LIMIT`, =def `a` in class `Cart`";
        check(&Python, "a.py", python, said);
        let rust = [
            "/// Adds.\npub fn add(a: i32) -> i32 {\n    a\n}\n\npub struct A;\n\nimpl A {\n    fn b(&self) {}\n\n    fn c(&self) {}\n}\n",
            "pub fn add(a: i32) -> i32 {\n    a + 1\n}\n\nimpl A {\n    fn c(&self) -> u8 {\n        1\n    }\n\n    fn d(&self) {}\n}\n",
            "/// Adds.\npub fn add(a: i32) -> i32 {\n    a + 1\n}\n\npub struct A;\n\nimpl A {\n    fn b(&self) {}\n\n    \
             fn c(&self) -> u8 {\n        1\n    }\n\n    fn d(&self) {}\n}\n",
        ];
        let said = "+fn `d` in `impl A`, ~fn `add`, ~fn `c` in `impl A`, =fn `b` in `impl A`, =type `A`";
        check(&Rust, "a.rs", rust, said);
    }
}
