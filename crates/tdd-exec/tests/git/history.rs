//! Tests of HEAD, commit messages and diffs.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use tdd_exec::git::{ChangeKind, FileKind, GitError, Repo};

use crate::sandbox::{Sandbox, path};

#[test]
fn an_unborn_head_has_a_branch_and_the_empty_tree() {
    let head = Sandbox::unborn().repo().head().expect("a HEAD");
    assert_eq!((head.commit, head.branch.as_deref()), (None, Some("main")));
    assert_eq!(head.tree.0, "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
}

#[test]
fn messages_are_read_along_the_first_parents() {
    let sandbox = Sandbox::with(&[("a", "1")]);
    sandbox.git(&["checkout", "-q", "-b", "side"]);
    sandbox.git(&["commit", "-q", "--allow-empty", "-m", "on the side"]);
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.git(&["commit", "-q", "--allow-empty", "-m", "second", "-m", "TDD-Step: 4"]);
    sandbox.git(&["merge", "-q", "--no-ff", "-m", "merged", "side"]);
    let repo = sandbox.repo();
    let all: Vec<_> = repo.first_parent_messages(9).expect("a history").map(|it| it.expect("a commit").1).collect();
    assert_eq!(all, ["merged\n", "second\n\nTDD-Step: 4\n", "first\n"]);
    assert_eq!(repo.first_parent_messages(2).expect("a history").count(), 2);
    assert_eq!(repo.last_message().expect("readable").as_deref(), Some("merged\n"));
    assert_eq!(Sandbox::unborn().repo().last_message().expect("readable"), None);
}

#[test]
fn the_last_diff_is_that_of_git() {
    let sandbox = Sandbox::with(&[("a", "one\ntwo\n"), ("b", "x\n")]);
    assert_eq!(
        sandbox.repo().last_diff(9_999).expect("a diff").trim_end(),
        sandbox.git(&["show", "--format=", "HEAD"])
    );
    sandbox.write("a", "one\n2\n");
    sandbox.remove("b");
    sandbox.write("binary", "\0\0");
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "second"]);
    let diff = sandbox.repo().last_diff(9_999).expect("a diff");
    assert_eq!(diff.trim_end(), sandbox.git(&["show", "--format=", "--no-renames", "HEAD"]));
    assert!(diff.contains("Binary files /dev/null and b/binary differ"), "{diff}");
    assert_eq!(Sandbox::unborn().repo().last_diff(9).expect("a diff"), "");
}

#[test]
fn a_long_diff_is_cut_between_characters_and_says_so() {
    let sandbox = Sandbox::with(&[("a", &"é".repeat(500))]);
    let repo = sandbox.repo();
    let whole = repo.last_diff(99_999).expect("a diff");
    for max in [300, 301] {
        let cut = repo.last_diff(max).expect("a diff");
        let (kept, note) = cut.trim_end().rsplit_once('\n').expect("a last line");
        assert!(whole.starts_with(kept) && !kept.contains('\u{fffd}'));
        assert_eq!(note, format!("[{} of {} bytes left out]", whole.len() - kept.len(), whole.len()));
    }
}

#[test]
fn trees_are_compared_by_path_and_kind() {
    let body = "a line that is long enough to be recognised\n".repeat(5);
    let sandbox = Sandbox::with(&[("changed", "1"), ("gone", "2"), ("old name", &body), ("run", "x"), ("link", "y")]);
    let repo = sandbox.repo();
    let before = repo.tree_id().expect("a tree");
    sandbox.write("changed", "3");
    sandbox.remove("gone");
    sandbox.remove("link");
    symlink("run", sandbox.root.join("link")).expect("a link");
    fs::rename(sandbox.root.join("old name"), sandbox.root.join("new name")).expect("a rename");
    fs::set_permissions(sandbox.root.join("run"), fs::Permissions::from_mode(0o755)).expect("a mode");
    sandbox.write("added", "4");
    let after = repo.tree_id().expect("a tree");
    let changes = repo.diff_trees(&before, &after).expect("changes");
    let seen: Vec<_> =
        changes.iter().map(|it| (it.path.as_str().expect("text"), &it.kind, it.before, it.after)).collect();
    let (file, renamed) = (Some(FileKind::File), ChangeKind::Renamed { from: path("old name") });
    let expected = [
        ("added", &ChangeKind::Added, None, file),
        ("changed", &ChangeKind::Modified, file, file),
        ("gone", &ChangeKind::Deleted, file, None),
        ("link", &ChangeKind::Modified, file, Some(FileKind::Symlink)),
        ("new name", &renamed, file, file),
        ("run", &ChangeKind::Modified, file, Some(FileKind::Executable)),
    ];
    assert_eq!(seen, expected);
    assert_eq!(repo.blob(&before, &path("changed")).expect("readable"), Some(b"1".to_vec()));
    assert_eq!(repo.blob(&after, &path("link")).expect("readable"), Some(b"run".to_vec()));
    assert_eq!(repo.blob(&after, &path("gone")).expect("readable"), None);
}

/// Finds exactly the paths that git finds different, whatever their names.
#[test]
fn trees_are_compared_as_git_compares_them() {
    let same: Vec<(String, &str)> = (0..30).map(|n| (format!("same/{}/{n}", n % 5), "0")).collect();
    let mut files: Vec<(&str, &str)> = same.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    files.extend([("a*", "1"), ("ab", "2"), ("deep/[x]/y", "3"), ("deep/x/y", "4"), ("file", "5"), ("folder/in", "6")]);
    files.extend([("gone/one", "7"), ("gone/two", "8"), ("same/9/:(top)z", "9"), ("!a", "10")]);
    let sandbox = Sandbox::with(&files);
    let repo = sandbox.repo();
    let mut before = repo.tree_id().expect("a tree");
    let mut check = |change: &dyn Fn()| {
        change();
        let after = repo.tree_id().expect("a tree");
        let paths =
            repo.diff_trees(&before, &after).expect("changes").into_iter().flat_map(|change| match change.kind {
                ChangeKind::Renamed { from } => vec![from, change.path],
                ChangeKind::Added | ChangeKind::Modified | ChangeKind::Deleted => vec![change.path],
            });
        let mut paths: Vec<String> = paths.map(|path| path.as_str().expect("text").to_owned()).collect();
        paths.sort();
        let gits = sandbox.git(&["diff-tree", "-r", "-z", "--name-only", "--no-renames", &before.0, &after.0]);
        let mut expected: Vec<String> = gits.split_terminator('\0').map(str::to_owned).collect();
        expected.sort();
        assert_eq!(paths, expected);
        let listed: Vec<String> = repo.tree_files(&after).expect("files").names().to_vec();
        let gits = sandbox.git(&["ls-tree", "-r", "-z", "--name-only", &after.0]);
        assert_eq!(listed, gits.split_terminator('\0').map(str::to_owned).collect::<Vec<_>>());
        before = after;
        paths.len()
    };
    assert_eq!(check(&|| {}), 0);
    assert_eq!(check(&|| sandbox.write("a*", "x")), 1);
    assert_eq!(check(&|| sandbox.write("deep/[x]/y", "x")), 1);
    assert_eq!(check(&|| sandbox.write("same/9/:(top)z", "x")), 1);
    assert_eq!(check(&|| sandbox.write("!a", "x")), 1);
    assert_eq!(check(&|| fs::remove_dir_all(sandbox.root.join("gone")).expect("gone")), 2);
    let swap = || {
        sandbox.remove("file");
        sandbox.write("file/in/it", "x");
        fs::remove_dir_all(sandbox.root.join("folder")).expect("gone");
        sandbox.write("folder", "x");
    };
    assert_eq!(check(&swap), 4);
    assert_eq!(check(&|| (0..1_500).for_each(|n| sandbox.write(format!("many/{n}"), format!("{n}")))), 1_500);
    assert_eq!(check(&|| fs::remove_dir_all(sandbox.root.join("many")).expect("gone")), 1_500);
}

/// Git never makes such a tree, but anybody can.
#[test]
fn a_change_is_seen_in_a_tree_that_has_a_name_twice() {
    let sandbox = Sandbox::with(&[("a", "1"), ("b", "2"), ("c", "3")]);
    let repo = sandbox.repo();
    let blob = |name: &str| sandbox.git(&["rev-parse", &format!("HEAD:{name}")]);
    let twice = |first: &str, second: &str| {
        let mut tree = Vec::new();
        for id in [first, second].map(blob) {
            tree.extend_from_slice(b"100644 x\0");
            let byte = |at: usize| u8::from_str_radix(&id[at..at + 2], 16).expect("two digits");
            tree.extend((0..id.len()).step_by(2).map(byte));
        }
        sandbox.write("raw", tree);
        let id = sandbox.git(&["hash-object", "-t", "tree", "-w", "--literally", "raw"]);
        tdd_core::digest::TreeId(id)
    };
    let (before, after) = (twice("a", "b"), twice("c", "b"));
    assert_ne!(before, after);
    assert_ne!(repo.diff_trees(&before, &after).expect("changes"), []);
}

#[test]
fn a_repository_is_found_from_below_and_missing_where_there_is_none() {
    let sandbox = Sandbox::with(&[("deep/down/a", "1")]);
    let found = Repo::discover(&sandbox.root.join("deep/down")).expect("readable").expect("a repository");
    assert_eq!(found.root().canonicalize().expect("a path"), sandbox.root.canonicalize().expect("a path"));
    let empty = tempfile::TempDir::new().expect("a folder");
    assert!(Repo::discover(empty.path()).expect("readable").is_none());
}

#[test]
fn a_bare_repository_is_refused_with_a_hint() {
    let sandbox = Sandbox::unborn();
    sandbox.git(&["init", "-q", "--bare", "bare.git"]);
    let error = Repo::discover(&sandbox.root.join("bare.git")).expect_err("a refusal");
    assert!(matches!(error, GitError::Bare { .. }) && error.hint().is_some(), "{error}");
}

#[test]
fn a_repository_of_another_user_is_refused_with_the_fix() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let sandbox = Sandbox::with(&[("a", "1")]);
    for path in [".git", ""] {
        std::os::unix::fs::chown(sandbox.root.join(path), Some(65_534), Some(65_534)).expect("another owner");
    }
    sandbox.write("deep/down/a", "");
    let trusted = format!("safe.directory {}`", sandbox.root.display());
    for folder in [sandbox.root.clone(), sandbox.root.join("deep/down")] {
        let error = Repo::discover(&folder).expect_err("a refusal");
        assert!(matches!(error, GitError::ForeignOwner { .. }), "{error}");
        assert!(error.hint().is_some_and(|hint| hint.contains(&trusted)), "{:?}", error.hint());
    }
}

#[test]
fn what_a_shallow_clone_left_out_is_not_taken_for_nothing() {
    let sandbox = Sandbox::with(&[("a", "1")]);
    for text in ["2", "3"] {
        sandbox.write("a", text);
        sandbox.commit(&["a"]).expect("a commit");
    }
    let origin = format!("file://{}", sandbox.root.display());
    sandbox.git(&["clone", "-q", "--depth", "2", &origin, "clone"]);
    let repo = Repo::discover(&sandbox.root.join("clone")).expect("a repository").expect("one");
    let head = repo.head().expect("a HEAD").commit.expect("a commit");
    let parent = repo.base_of(&head).expect("an answer").expect("a parent");
    let error = repo.base_of(&parent).expect_err("a refusal");
    assert!(error.hint().is_some_and(|hint| hint.contains("--unshallow")), "{error}");
    let whole = sandbox.repo();
    let first = whole.first_parent(&parent).expect("an answer").expect("a parent");
    assert_eq!(whole.base_of(&first).expect("an answer"), None);
}

#[test]
fn init_makes_a_repository_once() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let repo = Repo::init(&folder.path().join("new")).expect("a repository");
    let head = repo.head().expect("a HEAD");
    assert_eq!(head.commit, None);
    assert!(head.branch.is_some());
    Repo::init(&folder.path().join("new")).expect_err("there is one already");
}

#[test]
fn commits_are_found_by_what_people_call_them() {
    let sandbox = Sandbox::with(&[("a", "1")]);
    sandbox.git(&["commit", "-q", "--allow-empty", "-m", "second"]);
    sandbox.git(&["tag", "-a", "v1", "-m", "a tag"]);
    let repo = sandbox.repo();
    let head = repo.head().expect("a HEAD").commit;
    for rev in ["HEAD", "main", "v1", "@", &sandbox.git(&["rev-parse", "--short", "HEAD"])] {
        assert_eq!(repo.resolve(rev).expect("readable"), head, "{rev}");
    }
    let first = repo.resolve("HEAD^").expect("readable").expect("a parent");
    assert_eq!(repo.first_parent(&head.expect("a commit")).expect("readable").as_ref(), Some(&first));
    assert_eq!(repo.first_parent(&first).expect("readable"), None);
    for rev in ["HEAD^^", "nonsense", "", "..", "HEAD:a"] {
        assert_eq!(repo.resolve(rev).expect("an answer"), None, "{rev}");
    }
}

#[test]
fn the_files_of_a_tree_are_listed() {
    let sandbox = Sandbox::with(&[("b", "1"), ("a/ü x", "2"), ("a/c/d", "3")]);
    let repo = sandbox.repo();
    let head = repo.head().expect("a HEAD");
    let listed = repo.tree_files(&head.tree).expect("a list");
    assert_eq!(**listed.names(), ["a/c/d", "a/ü x", "b"]);
    assert_eq!(repo.commit_tree(head.commit.as_ref()).expect("a tree"), head.tree);
    let empty = repo.commit_tree(None).expect("a tree");
    assert_eq!(**repo.tree_files(&empty).expect("a list").names(), [""; 0]);
    assert_eq!(repo.tree_files(&head.tree).expect("a list").names(), listed.names());
}

#[test]
fn added_lines_are_those_that_were_not_there() {
    let text = "one\ntwo\nthree\nfour\n";
    let sandbox = Sandbox::with(&[("changed", text), ("gone", text), ("old", "a\nb\nc\nd\ne\n"), ("same", text)]);
    let before = sandbox.repo().tree_id().expect("a tree");
    sandbox.write("changed", "zero\none\nthree\nand a half\nfour\n");
    sandbox.write("new", "1\n2");
    sandbox.remove("gone");
    sandbox.remove("old");
    sandbox.write("other", "a\nb\nC\nd\ne\n");
    let repo = sandbox.repo();
    let added = repo.added_lines(&before, &repo.tree_id().expect("a tree")).expect("lines");
    let shown: Vec<(&str, Vec<usize>)> =
        added.iter().map(|(path, lines)| (path.as_str(), lines.iter().copied().collect())).collect();
    assert_eq!(shown, [("changed", vec![1, 4]), ("new", vec![1, 2]), ("other", vec![3])]);
}
