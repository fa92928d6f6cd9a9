//! Every rule of the gate, from both sides.

use super::*;

fn upsert(path: &str, content: &str) -> Edit {
    Edit { path: path.to_owned(), action: Action::Upsert { content: content.to_owned() } }
}

fn check(edits: &[Edit], expected: Option<Rule>) {
    let rule = match judge_edits(edits, "docs/kata.md") {
        Verdict::Permit(permit) => {
            assert_eq!(permit.into_edits().len(), edits.len());
            None
        }
        Verdict::Refuse(refusal) => {
            assert!(!refusal.reason.is_empty() && !refusal.next.is_empty());
            Some(refusal.rule)
        }
    };
    assert_eq!(rule, expected, "{edits:?}");
}

#[test]
fn edits_of_the_projects_files_are_permitted() {
    let rename = Edit { path: "src/a.rs".into(), action: Action::Rename { to: "src/b.rs".into() } };
    check(&[upsert("src/lib.rs", "x"), rename, Edit { path: "c".into(), action: Action::Delete }], None);
}

#[test]
fn one_bad_edit_refuses_them_all() {
    check(&[upsert("src/lib.rs", "x"), upsert("../x", "x")], Some(Rule::PathConfined));
}

#[test]
fn protected_paths_are_refused_as_source_and_as_target() {
    check(&[upsert(".git/config", "x")], Some(Rule::ProtectedPath));
    check(&[upsert("tdd.yaml", "x")], Some(Rule::ProtectedPath));
    check(&[upsert("docs/Kata.md", "x")], Some(Rule::ProtectedPath));
    let rename = Edit { path: "src/a.rs".into(), action: Action::Rename { to: ".tdd/x".into() } };
    check(&[rename], Some(Rule::ProtectedPath));
}

#[test]
fn binary_and_huge_content_is_refused() {
    check(&[upsert("a", "x\0y")], Some(Rule::PlainText));
    check(&[upsert("a", &"x".repeat(MAX_FILE))], None);
    check(&[upsert("a", &"x".repeat(MAX_FILE + 1))], Some(Rule::SizeLimit));
    let many: Vec<_> = (0..9).map(|n| upsert(&format!("f{n}"), &"x".repeat(MAX_FILE))).collect();
    check(&many, Some(Rule::SizeLimit));
}

#[test]
fn a_file_named_twice_is_refused_whatever_its_case() {
    check(&[upsert("src/lib.rs", "x"), upsert("src/Lib.rs", "y")], Some(Rule::OneEditPerPath));
    let rename = Edit { path: "a".into(), action: Action::Rename { to: "b".into() } };
    check(&[rename, upsert("b", "x")], Some(Rule::OneEditPerPath));
}

#[test]
fn a_replacement_of_nothing_is_refused() {
    let edit = Edit { path: "a".into(), action: Action::Replace { find: String::new(), content: "x".to_owned() } };
    check(&[edit], Some(Rule::EditApplies));
}

#[test]
fn init_may_add_the_configuration_but_not_reach_git_or_the_ledger() {
    assert!(matches!(permit_scaffold([("tdd.yaml", "x"), ("kata.md", "y")]), Verdict::Permit(_)));
    assert!(matches!(permit_scaffold([(".git/config", "x")]), Verdict::Refuse(_)));
    assert!(matches!(permit_scaffold([(".tdd/events.jsonl", "x")]), Verdict::Refuse(_)));
}
