//! The names that Go code uses, what they refer to through imports, and what is used implicitly.

use std::ops::Range;

use crate::analysis::compare::Piece;
use crate::code::{ReachedBy, Role};
use crate::lookup::{FileNames, Import, Origin};
use crate::syntax::FlatTree;
use crate::uses::{Use, UseSyntax, registered};

use super::known::{PackageIndex, folder, imports};
use super::syntax::Tree;

/// How to find the uses of names in Go.
pub(super) const USE_SYNTAX: UseSyntax = UseSyntax { used, binds, text, route };

/// The methods of interfaces in the standard library and common packages. If a type has all methods of a row, code that
/// is not ours may call them, so no test needs to name them.
const INTERFACES: [&[&str]; 47] = [
    &["As"],
    &["Close"],
    &["Deadline", "Done", "Err"],
    &["Enabled", "Handle", "WithAttrs", "WithGroup"],
    &["Error"],
    &["Flush"],
    &["Format"],
    &["GoString"],
    &["GobDecode"],
    &["GobEncode"],
    &["Header", "Write", "WriteHeader"],
    &["Is"],
    &["Len", "Less", "Swap"],
    &["Lock", "Unlock"],
    &["LogValue"],
    &["MarshalBinary"],
    &["MarshalJSON"],
    &["MarshalText"],
    &["MarshalXML"],
    &["MarshalYAML"],
    &["Name", "Size", "Mode", "ModTime", "IsDir", "Sys"],
    &["Open"],
    &["Pop"],
    &["Push"],
    &["Read"],
    &["ReadAt"],
    &["ReadByte"],
    &["ReadFrom"],
    &["ReadRune"],
    &["RoundTrip"],
    &["Scan"],
    &["Seek"],
    &["ServeHTTP"],
    &["Set", "String"],
    &["String"],
    &["Timeout"],
    &["UnmarshalBinary"],
    &["UnmarshalJSON"],
    &["UnmarshalText"],
    &["UnmarshalXML"],
    &["UnmarshalYAML"],
    &["Unwrap"],
    &["Value"],
    &["Visit"],
    &["Write"],
    &["WriteString"],
    &["WriteTo"],
];

fn used(tree: &FlatTree<'_>, node: usize) -> Option<Use> {
    let (parent, name) = (tree.parent(node), || tree.text(node).to_owned());
    let of = |field: &str| {
        let of = tree.child(parent, field).map(|of| tree.text(of));
        of.filter(|of| of.chars().all(|c| c.is_alphanumeric() || c == '_')).map(str::to_owned)
    };
    match (tree.kind(node), tree.kind(parent), tree.field(node)) {
        ("field_identifier", "selector_expression", _) => Some(Use::Member(of("operand"), name())),
        ("type_identifier", "qualified_type", _) => Some(Use::Member(of("package"), name())),
        ("identifier", "function_declaration", Some("name")) | ("type_identifier", "type_spec", Some("name")) => None,
        ("identifier" | "type_identifier", _, _) => Some(Use::Name(name())),
        _ => None,
    }
}

/// The scope of a name that is declared in a function or block.
fn binds(tree: &FlatTree<'_>, node: usize) -> Option<usize> {
    if tree.kind(node) != "identifier" {
        return None;
    }
    let parent = tree.parent(node);
    let list = if tree.kind(parent) == "expression_list" { parent } else { node };
    let holder = tree.parent(list);
    let is_declared = match tree.kind(holder) {
        "short_var_declaration" | "range_clause" => tree.field(list) == Some("left"),
        "parameter_declaration" | "variadic_parameter_declaration" | "var_spec" | "const_spec" => {
            tree.field(node) == Some("name")
        }
        _ => false,
    };
    let is_scope = |outer: &usize| {
        matches!(
            tree.kind(*outer),
            "function_declaration"
                | "method_declaration"
                | "func_literal"
                | "block"
                | "if_statement"
                | "for_statement"
                | "expression_switch_statement"
                | "type_switch_statement"
                | "expression_case"
                | "communication_case"
        )
    };
    tree.ancestors(node).find(is_scope).filter(|_| is_declared)
}

fn text<'a>(tree: &FlatTree<'a>, node: usize) -> Option<&'a str> {
    let is_text = matches!(tree.kind(node), "interpreted_string_literal" | "raw_string_literal");
    is_text.then(|| tree.text(node).trim_matches(['"', '`']))
}

fn route<'a>(tree: &FlatTree<'a>, node: usize) -> Option<&'a str> {
    if tree.kind(node) != "call_expression" {
        return None;
    }
    let function = tree.child(node, "function")?;
    let list = tree.child(node, "arguments")?;
    let first = tree.children(list).find_map(|child| text(tree, child))?;
    let receiver = tree.child(function, "operand").map_or("", |operand| tree.text(operand));
    let name = tree.child(function, "field").unwrap_or(function);
    registered(receiver, tree.text(name), first)
}

/// The role of an item; `methods` lists the methods of all types as (type, method).
pub(super) fn role(tree: &Tree<'_>, piece: &Piece, nodes: &Range<usize>, methods: &[(String, String)]) -> Role {
    let mut role = Role::plain(&piece.name);
    let method = piece.label.strip_prefix("func `").and_then(|label| label.strip_suffix('`')?.split_once('.'));
    if let Some((owner, name)) = method {
        role.owner = Some(owner.to_owned());
        let has = |wanted: &&str| methods.iter().any(|(of, method)| of == owner && method == wanted);
        let hands = |row: &&&[&str]| row.contains(&name) && row.iter().all(has);
        if INTERFACES.iter().any(|row| hands(&row)) {
            role.reached_by = ReachedBy::Owner;
        }
    }
    if matches!(piece.name.as_str(), "init" | "_") {
        role.reached_by = ReachedBy::File;
        role.is_idle = piece.name == "_";
    }
    let parent = tree.parent(nodes.start);
    if piece.label.starts_with("const ") && matches!(tree.kind(parent), "const_declaration") {
        role.names.extend(counting(tree, nodes.start));
    }
    let also =
        tree.children(nodes.start).filter(|child| tree.field(*child) == Some("name")).map(|name| tree.text(name));
    role.names.extend(also.filter(|name| *name != piece.name).map(str::to_owned));
    role
}

/// The constants that count on from this one with `iota`.
fn counting(tree: &Tree<'_>, spec: usize) -> Vec<String> {
    let declaration = tree.parent(spec);
    if !tree.subtree(declaration).any(|node| tree.kind(node) == "iota") {
        return Vec::new();
    }
    let later = tree.children(declaration).filter(|other| *other > spec && tree.kind(*other) == "const_spec");
    later.flat_map(|other| tree.names(other).take(1).map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// What the names of a file refer to.
pub(super) fn file_names(tree: &Tree<'_>, path: &str, known: &PackageIndex) -> FileNames {
    let here = folder(path).to_owned();
    let mut names = FileNames { namespace: here.clone(), programs: programs(path, tree), ..FileNames::default() };
    for (local, import) in imports(tree) {
        let from = match known.folder_of(import) {
            Some(folder) => Origin::Files(vec![folder]),
            None if known.is_ours(import) => Origin::Unknown,
            None if known.may_be_production(import) => Origin::Starter,
            None => Origin::Foreign,
        };
        let package = known.package_in(&from).filter(|_| local == import.rsplit('/').next().unwrap_or(import));
        if local == "." {
            names.wildcard_imports.push(from);
        } else {
            let local = package.unwrap_or(local).to_owned();
            names.imports.entry(local).or_default().push(Import { from, name: None });
        }
    }
    names
}

/// The words by which the program in a file's folder is started.
fn programs(path: &str, tree: &Tree<'_>) -> Vec<String> {
    let (folder, file) = (folder(path), path.rsplit('/').next().unwrap_or(path));
    let is_main = tree.package() == "main";
    let last = folder.rsplit('/').next().unwrap_or(folder);
    let words = [folder, last, file].into_iter().filter(|word| is_main && !word.is_empty());
    words.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use crate::fixture;
    use crate::go::signs::with_finder;

    /// The production items that no test reaches.
    fn left(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<_> = [("go.mod", "module calc\n")].into_iter().chain(files.iter().copied()).collect();
        fixture::left(&files, |project, sources, look| with_finder(project, sources, look))
    }

    /// Checks which items of a package its test does not reach.
    fn check(package: &str, test: &str, expected: &[&str]) {
        let package = format!("package calc\n{package}");
        let test = format!(
            "package calc\nimport (\n\"testing\"\n\"os/exec\"\n)\nfunc TestA(t *testing.T) {{\nif {test} {{ t.Fail() }}\n}}\n"
        );
        assert_eq!(left(&[("calc.go", &package), ("calc_test.go", &test)]), expected, "{package}");
    }

    #[test]
    fn what_no_test_names_is_left() {
        check("func Add() {}\nfunc Sub() {}\n", "Add()", &["func `Sub`"]);
        check("type A struct{}\nfunc (A) B() {}\nfunc (A) C() {}\n", "A{}.B()", &["func `A.C`"]);
        check(
            "func Add() {}\ntype B struct{}\nconst Limit = 1\nvar v = 1\n",
            "Add()",
            &["type `B`", "const `Limit`", "var `v`"],
        );
        check("func Add() { total := 1; _ = total }\nfunc total() {}\n", "Add()", &["func `total`"]);
        check(
            "type B struct{}\nfunc (B) ToUpper() {}\nfunc Add() { strings.ToUpper() }\n",
            "Add()",
            &["type `B`", "func `B.ToUpper`"],
        );
        check("type A struct{}\nfunc (A) Put() {}\nfunc (A) Len() {}\n", "A{}.Put()", &["func `A.Len`"]);
    }

    #[test]
    fn what_is_used_without_a_name_comes_along() {
        check("type A struct{}\nfunc (A) String() string { return b }\nconst b = 1\n", "fmt.Sprint(A{})", &[]);
        check(
            "type a []int\nfunc (a) Len() {}\nfunc (a) Less() {}\nfunc (a) Swap() {}\nfunc Sort() { sort.Sort(a{}) }\n",
            "Sort()",
            &[],
        );
        check(
            "type a struct{}\nfunc (*a) Set() {}\nfunc (*a) String() {}\nfunc Parse() { flag.Var(&a{}) }\n",
            "Parse()",
            &[],
        );
        check(
            "var _ Shape = Square{}\ntype Shape interface{ Area() }\ntype Square struct{}\nfunc (Square) Area() {}\nfunc Of(s Shape) { s.Area() }\n",
            "Of(Square{})",
            &[],
        );
        check(
            "var _ Shape = Other{}\ntype Shape interface{ Area() }\ntype Other struct{}\nfunc Of(s Shape) {}\n",
            "Of(nil)",
            &["type `Other`"],
        );
        check("type base struct{}\nfunc (base) Name() {}\ntype A struct{ base }\n", "A{}.Name()", &[]);
        check("type Level int\nconst (\nLow Level = iota\nMid\nHigh\n)\n", "High", &[]);
        check("var low, high = 1, 2\nfunc Add() { _ = high }\n", "Add()", &[]);
    }

    #[test]
    fn what_registers_itself_comes_along() {
        check("func init() { register(a) }\nfunc register(f func()) {}\nfunc a() {}\nfunc Make() {}\n", "Make()", &[]);
        let server = "func New() {\nmux.HandleFunc(\"/hello\", hello)\nmux.HandleFunc(\"DELETE /users/{id}\", wipe)\n}\nfunc hello() {}\nfunc wipe() {}\n";
        check(server, "get(New(), \"/hello\")", &["func `wipe`"]);
        check(server, "get(New(), \"/hello\", \"/users/1\")", &[]);
    }

    #[test]
    fn packages_tell_items_of_one_name_apart() {
        let files = |test| {
            left(&[
                ("calc.go", "package calc\nfunc Add() {}\n"),
                ("tax/tax.go", "package tax\nfunc Add() {}\n"),
                ("calc_test.go", test),
            ])
        };
        let inside = "package calc\nfunc TestA(t *testing.T) {\nif Add() { t.Fail() }\n}\n";
        assert_eq!(files(inside), ["func `Add`"]);
        let outside = "package calc_test\nimport \"calc\"\nfunc TestA(t *testing.T) {\nif calc.Add() { t.Fail() }\n}\n";
        assert_eq!(files(outside), ["func `Add`"]);
        let both = "package calc_test\nimport (\n\"calc\"\nvat \"calc/tax\"\n)\nfunc TestA(t *testing.T) {\nif calc.Add() || vat.Add() { t.Fail() }\n}\n";
        assert_eq!(files(both), [""; 0]);
    }

    #[test]
    fn what_is_exported_for_tests_leads_on() {
        let files = [
            ("calc.go", "package calc\nfunc carry() {}\nfunc other() {}\n"),
            ("export_test.go", "package calc\nvar Carry = carry\nvar Other = other\n"),
            (
                "calc_test.go",
                "package calc_test\nimport \"calc\"\nfunc TestA(t *testing.T) {\nif calc.Carry() { t.Fail() }\n}\n",
            ),
        ];
        assert_eq!(left(&files), ["func `other`"]);
    }

    #[test]
    fn a_program_is_started_by_its_folder() {
        let program = ("cmd/hello/main.go", "package main\nfunc main() { hi() }\nfunc hi() {}\n");
        let calc = ("calc.go", "package calc\nfunc Add() {}\n");
        let files = |body: &str| {
            let test = format!(
                "package calc\nimport \"os/exec\"\nfunc TestA(t *testing.T) {{\nif Add() || {body} {{ t.Fail() }}\n}}\n"
            );
            left(&[program, calc, ("calc_test.go", &test)])
        };
        assert_eq!(files("exec.Command(\"go\", \"run\", \"./cmd/hello\")"), [""; 0]);
        assert_eq!(files("exec.Command(binary)"), [""; 0]);
        assert_eq!(files("false"), ["func `main`", "func `hi`"]);
    }

    #[test]
    fn the_methods_of_a_suite_lead_on() {
        let test = "package calc\nimport \"testing\"\ntype Suite struct{ suite.Suite }\nfunc TestA(t *testing.T) { suite.Run(t, new(Suite)) }\nfunc (s *Suite) TestAdd() { s.Equal(1, Add()) }\n";
        assert_eq!(left(&[("calc.go", "package calc\nfunc Add() {}\n"), ("calc_test.go", test)]), [""; 0]);
    }
}
