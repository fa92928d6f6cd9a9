//! Finds the tests of a Rust file, and all else in it that the machine asks about.

use std::ops::Range;

use crate::item::{Items, ModuleItem, TestItem};

use super::assertion::{assertions, of_attribute};
use super::attribute::{Attribute, Truth};
use super::comment;
use super::syntax::Tree;
use super::word;

/// An annotation stands at most this many lines above its test.
const REACH: usize = 3;

/// The items of the file at `path`.
///
/// Tests are looked for where the compiler looks: in the file and its inline modules, not inside of
/// functions. A function with a test's attribute in the arguments of a macro (`proptest!`, `cfg_if!`)
/// counts, whatever the macro does with it: if it is swallowed, the run will miss it.
pub fn items(path: &str, source: &str) -> Items {
    let Some(tree) = Tree::parse(source) else { return Items::default() };
    let mut items = Walk::new(&tree).run();
    items.parses = tree.parses();
    items.doc_tests_possible = documents_an_example(&tree);
    if in_test_folder(path) {
        items.test_ranges = std::iter::once(0..source.len()).collect();
        items.functions = 0;
    }
    items
}

/// Whether the file is below the `tests` or `benches` folder of a package. Below `src` there is none.
fn in_test_folder(path: &str) -> bool {
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    let first = folders.split('/').find(|folder| matches!(*folder, "src" | "tests" | "benches"));
    matches!(first, Some("tests" | "benches"))
}

fn documents_an_example(tree: &Tree<'_>) -> bool {
    (0..tree.len()).any(|node| match tree.kind(node) {
        "line_comment" | "block_comment" => comment::documents_an_example(tree.text(node)),
        "attribute" if tree.text(node).contains("doc") => {
            read(tree, node..tree.past(node)).iter().any(Attribute::documents_an_example)
        }
        _ => false,
    })
}

fn read(tree: &Tree<'_>, nodes: Range<usize>) -> Vec<Attribute> {
    let tokens: Vec<&str> = tree.tokens(nodes).map(|node| tree.text(node)).collect();
    Attribute::read(&tokens)
}

/// A walk over the places where items can be, in the order of the text.
struct Walk<'t, 's> {
    tree: &'t Tree<'s>,
    scopes: Vec<Scope>,
    lead: Lead,
    /// The lines and slugs of annotations that no test has taken yet.
    annotations: Vec<(usize, String)>,
    items: Items,
}

/// Something that holds items: the file, a module, a macro's arguments.
#[derive(Clone, Debug, Default)]
struct Scope {
    nodes: Range<usize>,
    /// The name of a module, and what its `#[path]` says.
    module: Option<(String, Option<String>)>,
    bound: Bound,
    content: Content,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Content {
    /// The parser has read it.
    #[default]
    Items,
    /// Tokens in a macro's arguments.
    Tokens { every_function_is_a_test: bool },
}

/// The conditions under which something is compiled.
#[derive(Clone, Debug, Default)]
struct Bound {
    /// Those that may not hold in a test build.
    cfg: Vec<String>,
    /// The one that never does.
    never: Option<String>,
    test_only: bool,
}

/// The attributes and doc comments that stand before an item.
#[derive(Default)]
struct Lead {
    first: Option<usize>,
    attributes: Vec<(Range<usize>, Attribute)>,
}

/// A function that the walk has come to.
struct Function {
    /// From `fn`, or what stands before it in the tree, to its body.
    nodes: Range<usize>,
    name: usize,
    returns: bool,
}

impl<'t, 's> Walk<'t, 's> {
    fn new(tree: &'t Tree<'s>) -> Self {
        let file = Scope { nodes: 0..tree.len(), ..Scope::default() };
        Self { tree, scopes: vec![file], lead: Lead::default(), annotations: Vec::new(), items: Items::default() }
    }

    fn run(mut self) -> Items {
        let mut node = 1;
        while node < self.tree.len() {
            while self.scope().nodes.end <= node && self.scopes.len() > 1 {
                self.scopes.pop();
            }
            node = match self.scope().content {
                Content::Items => self.visit(node),
                Content::Tokens { .. } => self.visit_token(node),
            };
        }
        self.items
    }

    /// Takes note of a node; the next one to visit.
    fn visit(&mut self, node: usize) -> usize {
        match self.tree.kind(node) {
            "line_comment" | "block_comment" => self.comment(node),
            "attribute_item" => self.attribute(node..self.tree.past(node)),
            "inner_attribute_item" => self.inner_attribute(node),
            "mod_item" => return self.module_item(node),
            "impl_item" | "trait_item" => return self.body(node),
            "function_item" => self.function_item(node),
            "macro_invocation" => return self.macro_invocation(node),
            "expression_statement" | "ERROR" => return node + 1,
            _ => self.other(node),
        }
        self.tree.past(node)
    }

    fn visit_token(&mut self, node: usize) -> usize {
        let mut following = self.tree.siblings(self.tree.past(node), self.scope().nodes.end);
        let (next, after) = (following.next(), following.next());
        drop(following);
        let kind = |node: Option<usize>| node.map_or("", |node| self.tree.kind(node));
        match (self.tree.kind(node), kind(next), kind(after)) {
            ("line_comment" | "block_comment", ..) => self.comment(node),
            ("#", "token_tree", _) => return self.token_attribute(node, next.unwrap_or(node)),
            ("fn", "identifier", _) => return self.token_function(node, next.unwrap_or(node)),
            ("mod", "identifier", ";" | "token_tree") => {
                return self.token_module(node, next.unwrap_or(node), after.unwrap_or(node));
            }
            ("token_tree", ..) if self.is_block(node) => return self.enter(node, None),
            (";", ..) => drop(self.lead.take()),
            _ => {}
        }
        self.tree.past(node)
    }

    fn comment(&mut self, node: usize) {
        let text = self.tree.text(node);
        if comment::is_outer_doc(text) {
            self.lead.first.get_or_insert(node);
        }
        let line = self.tree.line(node);
        self.annotations.extend(comment::annotations(text).map(|(below, slug)| (line + below, slug)));
    }

    /// Takes note of `#[…]`; what is between the brackets begins with the fourth node in a macro's
    /// arguments as well as outside of them.
    fn attribute(&mut self, nodes: Range<usize>) {
        self.lead.first.get_or_insert(nodes.start);
        let inner = nodes.start + 3..nodes.end - 1;
        let read = read(self.tree, inner).into_iter().map(|attribute| (nodes.clone(), attribute));
        self.lead.attributes.extend(read);
    }

    /// `#![cfg(…)]` binds all that is around it.
    fn inner_attribute(&mut self, node: usize) {
        let attributes = read(self.tree, node + 4..self.tree.past(node) - 1);
        let bound = Bound::of(&attributes);
        let was_test_only = self.scope().bound.test_only;
        if bound.test_only && !was_test_only {
            let range = self.tree.range(self.scope().nodes.start);
            self.items.test_ranges.push(range);
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.bound = std::mem::take(&mut scope.bound).and(bound);
        }
    }

    fn module_item(&mut self, node: usize) -> usize {
        let Some(name) = self.tree.child(node, "name").map(|name| self.tree.text(name)) else { return node + 1 };
        let Some(body) = self.tree.child(node, "body") else {
            self.declare(node..self.tree.past(node), name);
            return self.tree.past(node);
        };
        self.open(node, body, Some(name))
    }

    /// Goes into the methods of an `impl` or a `trait`.
    fn body(&mut self, node: usize) -> usize {
        match self.tree.child(node, "body") {
            Some(body) => self.open(node, body, None),
            None => self.tree.past(node),
        }
    }

    fn macro_invocation(&mut self, node: usize) -> usize {
        let Some(arguments) = self.tree.children(node).find(|child| self.tree.kind(*child) == "token_tree") else {
            return self.tree.past(node);
        };
        let name = self.tree.child(node, "macro").map_or("", |name| self.tree.text(name));
        let every_function_is_a_test = name.rsplit("::").next() == Some("quickcheck");
        let next = self.open(node, arguments, None);
        if let Some(scope) = self.scopes.last_mut() {
            scope.content = Content::Tokens { every_function_is_a_test };
        }
        next
    }

    fn other(&mut self, node: usize) {
        let lead = self.lead.take();
        self.mark(&lead, node..self.tree.past(node));
    }

    fn function_item(&mut self, node: usize) {
        let Some(name) = self.tree.child(node, "name") else { return self.other(node) };
        let returned = self.tree.child(node, "return_type").map_or("()", |returned| self.tree.text(returned));
        let returns = !matches!(returned, "()" | "!");
        self.function(Function { nodes: node..self.tree.past(node), name, returns });
    }

    fn token_attribute(&mut self, node: usize, brackets: usize) -> usize {
        let past = self.tree.past(brackets);
        if self.tree.text(brackets).starts_with('[') {
            self.attribute(node..past);
        }
        past
    }

    fn token_function(&mut self, node: usize, name: usize) -> usize {
        let rest: Vec<usize> = self
            .tree
            .siblings(self.tree.past(name), self.scope().nodes.end)
            .take_while(|node| self.tree.kind(*node) != ";")
            .collect();
        let Some(body) = rest.iter().position(|node| self.is_block(*node)) else {
            self.lead.take();
            return self.tree.past(name);
        };
        let returned = rest[..body].iter().skip_while(|node| self.tree.kind(**node) != "->").nth(1);
        let returns = returned.is_some_and(|node| !matches!(self.tree.text(*node), "()" | "!"));
        let past = self.tree.past(rest[body]);
        self.function(Function { nodes: node..past, name, returns });
        past
    }

    fn token_module(&mut self, node: usize, name: usize, body: usize) -> usize {
        let text = self.tree.text(name);
        if self.is_block(body) {
            return self.enter(body, Some(text));
        }
        let past = self.tree.past(body);
        self.declare(node..past, text);
        past
    }

    /// Goes into a block of tokens.
    fn enter(&mut self, block: usize, name: Option<&str>) -> usize {
        let content = self.scope().content;
        let next = self.open(block, block, name);
        if let Some(scope) = self.scopes.last_mut() {
            scope.content = content;
        }
        next
    }

    /// Goes into the body of an item.
    fn open(&mut self, item: usize, body: usize, name: Option<&str>) -> usize {
        let lead = self.lead.take();
        self.mark(&lead, item..self.tree.past(item));
        let module = name.map(|name| (name.to_owned(), lead.files().next().flatten()));
        let bound = Bound { test_only: self.scope().bound.test_only, ..Bound::default() }.and(lead.bound());
        self.scopes.push(Scope { nodes: body..self.tree.past(body), module, bound, content: Content::Items });
        body + 1
    }

    /// Takes note of a module that stands in another file; with a `#[path]` that depends on a
    /// condition, of every file that it may be.
    fn declare(&mut self, nodes: Range<usize>, name: &str) {
        let lead = self.lead.take();
        self.mark(&lead, nodes);
        let (folder, folder_from_path) = self.folder();
        let test_only = self.scope().bound.test_only || lead.bound().test_only;
        let name = self.full_name(name);
        self.items.modules.extend(lead.files().map(|path| ModuleItem {
            name: name.clone(),
            path,
            folder: folder.clone(),
            folder_from_path,
            test_only,
        }));
    }

    fn function(&mut self, function: Function) {
        let lead = self.lead.take();
        let is_test = lead.attributes.iter().any(|(_, attribute)| attribute.is_test());
        let by_macro = Content::Tokens { every_function_is_a_test: true };
        if is_test || self.scope().content == by_macro {
            let test = self.test(&lead, &function);
            if !self.scope().bound.test_only {
                self.items.test_ranges.push(test.span.clone());
            }
            self.items.tests.push(test);
        } else if !self.mark(&lead, function.nodes) {
            self.items.functions += 1;
        }
    }

    fn test(&mut self, lead: &Lead, function: &Function) -> TestItem {
        let first = lead.first.unwrap_or(function.nodes.start);
        let (cfg, never) = self.conditions(&lead.bound());
        let find = |wanted: fn(&Attribute) -> bool| lead.attributes.iter().map(|(_, found)| found).find(|a| wanted(a));
        let mut found: Vec<_> = lead.attributes.iter().filter(|(_, attribute)| attribute.expects()).collect();
        found.dedup_by_key(|(nodes, _)| nodes.start);
        let mut asserted: Vec<_> = found.into_iter().map(|(nodes, _)| of_attribute(self.tree, nodes.clone())).collect();
        asserted.extend(assertions(self.tree, function.nodes.clone()));
        TestItem {
            name: self.full_name(self.tree.text(function.name)),
            annotation: self.annotation(self.tree.line(first)),
            span: self.span(first..function.nodes.end),
            line: self.tree.line(function.name),
            digest: self.tree.digest(first..function.nodes.end),
            assertions: asserted,
            ignored: find(Attribute::is_ignore).map(|attribute| attribute.text.clone()).or(never),
            cfg,
            should_panic: find(Attribute::is_should_panic).is_some(),
            expected_panic: find(Attribute::is_should_panic).and_then(Attribute::expected),
            returns_result: function.returns,
        }
    }

    /// The last annotation that no other test has taken and that is near enough.
    fn annotation(&mut self, first_line: usize) -> Option<String> {
        let (line, slug) = std::mem::take(&mut self.annotations).pop()?;
        (line + REACH >= first_line).then_some(slug)
    }

    /// Takes note of an item that exists only for tests; whether it is one.
    fn mark(&mut self, lead: &Lead, nodes: Range<usize>) -> bool {
        if self.scope().bound.test_only {
            return true;
        }
        let test_only = lead.bound().test_only;
        if test_only {
            let span = self.span(lead.first.unwrap_or(nodes.start)..nodes.end);
            self.items.test_ranges.push(span);
        }
        test_only
    }

    fn conditions(&self, own: &Bound) -> (Vec<String>, Option<String>) {
        let bounds = || self.scopes.iter().map(|scope| &scope.bound).chain([own]);
        let cfg = bounds().flat_map(|bound| bound.cfg.iter().cloned()).collect();
        (cfg, bounds().find_map(|bound| bound.never.clone()))
    }

    fn full_name(&self, name: &str) -> String {
        let modules = self.scopes.iter().filter_map(|scope| scope.module.as_ref().map(|(name, _)| name.as_str()));
        modules.chain([name]).map(word::printed).collect::<Vec<_>>().join("::")
    }

    fn folder(&self) -> (String, bool) {
        let modules: Vec<_> = self.scopes.iter().filter_map(|scope| scope.module.as_ref()).collect();
        let from_path = modules.first().is_some_and(|(_, path)| path.is_some());
        let folder = |(name, path): &&(String, Option<String>)| match path {
            Some(path) => format!("{path}/"),
            None => format!("{}/", word::bare(name)),
        };
        (modules.iter().map(folder).collect(), from_path)
    }

    fn span(&self, nodes: Range<usize>) -> Range<usize> {
        self.tree.range(nodes.start).start..self.tree.range(nodes.end - 1).end
    }

    fn is_block(&self, node: usize) -> bool {
        self.tree.kind(node) == "token_tree" && self.tree.text(node).starts_with('{')
    }

    fn scope(&self) -> &Scope {
        &self.scopes[self.scopes.len() - 1]
    }
}

impl Lead {
    fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    fn bound(&self) -> Bound {
        let attributes: Vec<_> = self.attributes.iter().map(|(_, attribute)| attribute.clone()).collect();
        Bound::of(&attributes)
    }

    /// What `#[path]` says, and `None` if it may say nothing.
    fn files(&self) -> impl Iterator<Item = Option<String>> {
        let named = self.attributes.iter().filter(|(_, attribute)| attribute.file().is_some());
        let (maybe, surely): (Vec<_>, Vec<_>) = named.partition(|(_, attribute)| attribute.is_conditional());
        let usual = if surely.is_empty() { Some(None) } else { None };
        let files: Vec<_> = surely.iter().chain(&maybe).map(|(_, attribute)| attribute.file()).collect();
        files.into_iter().chain(usual)
    }
}

impl Bound {
    fn of(attributes: &[Attribute]) -> Self {
        let mut bound = Self::default();
        for attribute in attributes {
            let (with, without) = (attribute.holds(true), attribute.holds(false));
            if with != Truth::Yes {
                bound.cfg.extend(attribute.condition());
            }
            if with == Truth::No {
                bound.never.get_or_insert_with(|| attribute.text.clone());
            }
            bound.test_only |= without == Truth::No && with != Truth::No;
        }
        bound
    }

    fn and(mut self, other: Self) -> Self {
        self.cfg.extend(other.cfg);
        Self { cfg: self.cfg, never: self.never.or(other.never), test_only: self.test_only || other.test_only }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(source: &str) -> Items {
        items("src/lib.rs", source)
    }

    fn only(source: &str) -> TestItem {
        let mut tests = of(source).tests;
        assert_eq!(tests.len(), 1, "{source}");
        tests.remove(0)
    }

    fn names(source: &str) -> Vec<String> {
        of(source).tests.into_iter().map(|test| test.name).collect()
    }

    #[test]
    fn tests_are_named_by_the_modules_around_them() {
        let source = "#[test] fn a() {}\nmod tests { use super::*; mod deep { #[tokio::test] async fn b() {} }\n\
                      #[rstest] #[case(1)] pub(crate) fn c() {} }\n#[test]\nfn d() {}\nmod r#type { #[test] fn r#e() {} }";
        assert_eq!(names(source), ["a", "tests::deep::b", "tests::c", "d", "r#type::e"]);
    }

    #[test]
    fn what_only_looks_like_a_test_is_none() {
        for source in [
            "// #[test]\n// fn a() {}",
            "/* #[test] fn a() {} */",
            "const A: &str = \"#[test] fn a() {}\";",
            "const A: &str = r#\"#[test] fn a() {}\"#;",
            "/// #[test]\nfn a() {}",
            "#[cfg(test)] fn helper() {}",
            "fn outer() { #[test] fn a() {} }",
            "macro_rules! m { () => { #[test] fn a() {} } }",
            "#[test] const A: u8 = 1; fn a() {}",
            "proptest! { #[derive(Debug)] struct A; fn a() {} }",
            "",
            "\u{feff}",
        ] {
            assert_eq!(names(source), [""; 0], "{source}");
        }
    }

    #[test]
    fn tests_in_the_arguments_of_macros_are_found() {
        for (source, expected) in [
            ("proptest! { #![proptest_config(c())] /// d\n #[test] fn a(x in 0..9) { } fn b(y in 1..) {} }", vec!["a"]),
            ("mod p { proptest! { #[test] fn a(x in 0..9) {} #[test] fn b() {} } }", vec!["p::a", "p::b"]),
            ("quickcheck! { fn a(x: u8) -> bool { true } fn b(x: u8) -> bool { true } }", vec!["a", "b"]),
            (
                "cfg_if! { if #[cfg(unix)] { mod m { #[test] fn a() {} } } else { #[test] fn b() {} } }",
                vec!["m::a", "b"],
            ),
            ("rusty_fork_test!(#[test] fn a() { #[test] fn inner() {} });", vec!["a"]),
        ] {
            assert_eq!(names(source), expected, "{source}");
        }
    }

    #[test]
    fn a_span_goes_from_the_doc_comment_to_the_closing_brace() {
        let source = "use a;\n// free\n/// Doc.\n#[test]\n// why\n#[ignore]\nfn a() {\n}\nfn b() {}";
        let test = only(source);
        assert_eq!(&source[test.span], "/// Doc.\n#[test]\n// why\n#[ignore]\nfn a() {\n}");
        assert_eq!(test.line, 7);
        let source = "proptest! { fn b() {} #[test] fn a(x in 1..2) { x } }";
        assert_eq!(&source[only(source).span], "#[test] fn a(x in 1..2) { x }");
    }

    #[test]
    fn a_digest_covers_attributes_and_body_but_no_comment() {
        let plain = only("#[test] fn a() { b(\"x y\") }").digest;
        assert_eq!(plain, only("/// Doc.\r\n#[test]\r\nfn a() {\r\n // c\r\n b(\"x y\") }").digest);
        for other in ["#[test] #[ignore] fn a() { b(\"x y\") }", "#[test] fn a() { b(\"x  y\") }", "#[test] fn c() {}"]
        {
            assert_ne!(plain, only(other).digest, "{other}");
        }
    }

    #[test]
    fn an_annotation_is_taken_from_three_lines_above_or_nearer() {
        for (source, expected) in [
            ("// @tdd-test-id: x\n#[test] fn a() {}", Some("x")),
            ("// @tdd-test-id: x\n\n\n#[test] fn a() {}", Some("x")),
            ("// @tdd-test-id: x\n\n\n\n#[test] fn a() {}", None),
            ("/* @tdd-test-id: x */\n/// Doc.\n///\n/// More.\n/// And.\n#[test]\nfn a() {}", Some("x")),
            ("#[test]\n// @tdd-test-id: x\nfn a() {}", Some("x")),
            ("/// @tdd-test-id: x\n#[test]\nfn a() {}", Some("x")),
            ("/*\n * @tdd-test-id: x\n */\n#[test]\nfn a() {}", Some("x")),
            ("// @tdd-test-id: y\r\n// @tdd-test-id: x\r\n#[test]\r\nfn a() {}", Some("x")),
            ("proptest! {\n// @tdd-test-id: x\n#[test]\nfn a(x in 1..2) {} }", Some("x")),
            ("// @tdd-test-id:\n#[test] fn a() {}", Some("")),
            ("fn b() { /* @tdd-test-id: x */ }\n#[test] fn a() {}", None),
            ("const A: &str = \"// @tdd-test-id: x\";\n#[test] fn a() {}", None),
            ("#[test] fn a() {\n// @tdd-test-id: x\n}", None),
        ] {
            assert_eq!(only(source).annotation.as_deref(), expected, "{source}");
        }
    }

    #[test]
    fn an_annotation_belongs_to_one_test() {
        let tests = of("// @tdd-test-id: x\n#[test] fn a() {}\n#[test] fn b() {}").tests;
        assert_eq!(tests.iter().map(|test| test.annotation.as_deref()).collect::<Vec<_>>(), [Some("x"), None]);
    }

    #[test]
    fn what_keeps_a_test_from_running_is_on_record() {
        for (source, ignored, cfg) in [
            ("#[test] fn a() {}", None, vec![]),
            ("#[test] #[ignore] fn a() {}", Some("#[ignore]"), vec![]),
            ("#[ignore = \"why\"] #[test] fn a() {}", Some("#[ignore = \"why\"]"), vec![]),
            ("#[test] #[cfg_attr(x, ignore)] fn a() {}", Some("#[cfg_attr(x, ignore)]"), vec![]),
            ("#[test] #[cfg(any())] fn a() {}", Some("#[cfg(any())]"), vec!["any()"]),
            ("#[cfg(not(test))] mod m { #[test] fn a() {} }", Some("#[cfg(not(test))]"), vec!["not(test)"]),
            ("#[cfg(unix)] mod m { #[cfg(feature=\"f\")] #[test] fn a() {} }", None, vec!["unix", "feature = \"f\""]),
            ("#[cfg(test)] mod m { #[test] fn a() {} }", None, vec![]),
            ("#[cfg(all(test, unix))] mod m { #[test] fn a() {} }", None, vec!["all(test, unix)"]),
            ("#![cfg(unix)]\n#[test] fn a() {}", None, vec!["unix"]),
            ("mod m { #![cfg(any())]\n#[test] fn a() {} }", Some("#[cfg(any())]"), vec!["any()"]),
            ("#[cfg_attr(not(miri), test)] fn a() {}", None, vec!["not(miri)"]),
            ("proptest! { #[test] #[ignore] fn a(x in 1..2) {} }", Some("#[ignore]"), vec![]),
            ("#[cfg(unix)] proptest! { #[test] fn a(x in 1..2) {} }", None, vec!["unix"]),
        ] {
            let test = only(source);
            assert_eq!(
                (test.ignored.as_deref(), test.cfg),
                (ignored, cfg.into_iter().map(str::to_owned).collect()),
                "{source}"
            );
        }
    }

    #[test]
    fn an_expected_panic_and_a_returned_result_are_on_record() {
        let test = only("#[test] #[should_panic(expected = \"zero\")] fn a() {}");
        assert_eq!(
            (test.should_panic, test.expected_panic.as_deref(), test.returns_result),
            (true, Some("zero"), false)
        );
        for (source, returns) in [
            ("#[test] fn a() {}", false),
            ("#[test] fn a() -> () {}", false),
            ("#[test] fn a() -> anyhow::Result<()> { Err(1)? }", true),
            ("quickcheck! { fn a(x: u8) -> bool { true } }", true),
            ("proptest! { #[test] fn a(x in 1..2) {} }", false),
        ] {
            assert_eq!(only(source).returns_result, returns, "{source}");
        }
    }

    #[test]
    fn assertions_stand_in_the_body_or_in_a_case() {
        let test = only("#[test_case(1 => 2)] #[test_case(2 => 3)] fn a(x: u8) -> u8 { assert!(x > 0); x + 1 }");
        let kinds: Vec<_> = test.assertions.iter().map(|found| found.kind.as_str()).collect();
        assert_eq!(kinds, ["test_case", "test_case", "assert!"]);
        let test = only("proptest! { #[test] fn a(x in 1..2) { prop_assert!(x > 0); let f = || assert!(x); } }");
        let seen: Vec<_> = test.assertions.iter().map(|found| (found.kind.as_str(), found.in_closure)).collect();
        assert_eq!(seen, [("prop_assert!", false), ("assert!", true)]);
    }

    #[test]
    fn ranges_cover_what_exists_only_for_tests() {
        for (source, expected) in [
            (
                "fn a() {}\n#[cfg(test)]\nmod tests { #[cfg(test)] fn b() {} }",
                vec!["#[cfg(test)]\nmod tests { #[cfg(test)] fn b() {} }"],
            ),
            ("#[cfg(all(test, unix))] use a::b;\nfn c() {}", vec!["#[cfg(all(test, unix))] use a::b;"]),
            ("#[cfg(any(test, unix))] fn a() {}", vec![]),
            ("#[cfg(not(test))] fn a() {}", vec![]),
            ("impl A { #[cfg(test)] fn b() {} fn c() {} }", vec!["#[cfg(test)] fn b() {}"]),
            ("#[test] fn a() {}", vec!["#[test] fn a() {}"]),
            ("#[cfg(test)] mod a;\nmod b;", vec!["#[cfg(test)] mod a;"]),
            ("mod a {#![cfg(test)]\nfn b() {} }", vec!["{#![cfg(test)]\nfn b() {} }"]),
            ("#[cfg(test)] proptest! { #[test] fn a() {} }", vec!["#[cfg(test)] proptest! { #[test] fn a() {} }"]),
        ] {
            let ranges: Vec<_> = of(source).test_ranges.into_iter().map(|range| &source[range]).collect();
            assert_eq!(ranges, expected, "{source}");
        }
    }

    #[test]
    fn a_file_below_tests_or_benches_is_for_tests_as_a_whole() {
        for (path, expected) in [
            ("tests/a.rs", true),
            ("benches/a.rs", true),
            ("crates/x/tests/suite/a.rs", true),
            ("tests/src/a.rs", true),
            ("src/tests/a.rs", false),
            ("src/tests.rs", false),
            ("tests.rs", false),
        ] {
            let whole = std::iter::once(0..9).collect::<Vec<_>>();
            let found = items(path, "fn a() {}");
            assert_eq!((found.test_ranges == whole, found.functions == 0), (expected, expected), "{path}");
        }
    }

    #[test]
    fn functions_outside_of_tests_are_counted() {
        for (source, expected) in [
            ("//! Doc.", 0),
            ("fn a() {} impl B { fn c() {} } trait D { fn e(); fn f() {} } mod g { fn h() {} }", 4),
            ("#[cfg(test)] mod tests { fn a() {} impl B { fn c() {} } }", 0),
            ("#[test] fn a() {} #[cfg(test)] fn b() {}", 0),
            ("make! { fn a() {} }", 1),
        ] {
            assert_eq!(of(source).functions, expected, "{source}");
        }
    }

    #[test]
    fn modules_in_other_files_are_declared() {
        let source = "mod a;\n#[cfg(test)] mod b { mod c; #[path = \"x/d.rs\"] pub mod d; }\n#[path = \"p\"] mod e { mod r#fn; }\n\
                      #[cfg_attr(unix, path = \"u.rs\")] mod f;\ncfg_if! { if #[cfg(unix)] { mod g; } }";
        let found = of(source);
        let seen: Vec<_> = found
            .modules
            .iter()
            .map(|m| (m.name.as_str(), m.path.as_deref(), m.folder.as_str(), m.folder_from_path, m.test_only))
            .collect();
        let expected = [
            ("a", None, "", false, false),
            ("b::c", None, "b/", false, true),
            ("b::d", Some("x/d.rs"), "b/", false, true),
            ("e::r#fn", None, "p/", true, false),
            ("f", Some("u.rs"), "", false, false),
            ("f", None, "", false, false),
            ("g", None, "", false, false),
        ];
        assert_eq!(seen, expected);
        assert_eq!(found.test_modules().collect::<Vec<_>>(), ["b::c", "b::d"]);
    }

    #[test]
    fn examples_in_the_documentation_may_be_tests() {
        for (source, expected) in [
            ("/// ```\n/// a();\n/// ```\nfn a() {}", true),
            ("//!     a();\n", true),
            ("struct A { #[doc = \"```\"] b: u8 }", true),
            ("#![doc = include_str!(\"../README.md\")]", true),
            ("#[cfg_attr(doc, doc = include_str!(\"../README.md\"))] fn a() {}", true),
            ("/// Plain.\nfn a() {} // ```", false),
            ("#[doc(hidden)] fn a() { \"/// ```\" }", false),
        ] {
            assert_eq!(of(source).doc_tests_possible, expected, "{source}");
        }
    }

    #[test]
    fn tests_are_found_in_a_file_that_does_not_parse() {
        let found = of("#[test] fn a() {}\nfn ) {\n#[test] fn b() {}");
        assert!(!found.parses);
        assert_eq!(found.tests[0].name, "a");
    }

    #[test]
    fn a_large_file_and_deep_nesting_are_no_matter() {
        let large = "#[test]\nfn adds() { assert_eq!(add(1, 2), 3, \"hello\"); }\n".repeat(18_000);
        assert_eq!(of(&large).tests.len(), 18_000);
        let (open, close) = ("mod a {".repeat(10_000), "}".repeat(10_000));
        assert_eq!(of(&format!("{open} #[test] fn x() {{}} {close}")).tests.len(), 1);
        let (open, close) = ("(".repeat(10_000), ")".repeat(10_000));
        assert_eq!(only(&format!("#[test] fn x() {{ {open}assert!(a){close} }}")).assertions.len(), 1);
        assert_eq!(only(&format!("proptest! {{ #[test] fn x() {{ {open}assert!(a){close} }} }}")).assertions.len(), 1);
        let (open, close) = ("{".repeat(10_000), "}".repeat(10_000));
        assert_eq!(names(&format!("m! {{ {open} #[test] fn x() {{}} {close} }}")), ["x"]);
    }

    /// Text made of pieces of Rust, so that the walk meets every kind of half-written code.
    fn pieces() -> impl Strategy<Value = String> {
        let pieces = [
            "#[test]",
            "#[cfg(test)]",
            "#[cfg_attr(x, ",
            "#![cfg(",
            "fn a",
            "() ",
            "{",
            "}",
            "mod b",
            ";",
            "(",
            ")",
            "]",
            "proptest! {",
            "quickcheck! {",
            "assert!(",
            "|x| ",
            "\"",
            "'",
            "r#",
            "// @tdd-test-id: é\n",
            "/// ```\r\n",
            "/*",
            "*/",
            "é",
            "\u{feff}",
            "#",
            "!",
            "panic!()",
            "if ",
            " else ",
            "impl A",
            "-> ",
            "macro_rules! m",
        ];
        prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..40).prop_map(|pieces| pieces.concat())
    }

    fn check_bounds(source: &str) {
        let found = items("src/lib.rs", source);
        let asserted = found.tests.iter().flat_map(|test| &test.assertions).map(|assertion| &assertion.span);
        let spans = found.tests.iter().map(|test| &test.span).chain(&found.test_ranges).chain(asserted);
        for span in spans {
            assert!(source.get(span.clone()).is_some(), "{span:?} in {source:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_has_items_within_its_bounds(source in any::<String>()) {
            check_bounds(&source);
        }

        #[test]
        fn half_written_code_has_items_within_its_bounds(source in pieces()) {
            check_bounds(&source);
        }
    }
}
