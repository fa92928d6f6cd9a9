//! Writes a program that runs copies of a test without `go test`: the package's test files become ordinary files, and
//! what they know as `testing` is a package of ours that leaves no trace of a test run.

use tdd_core::test_id::TestId;

use super::items::is_test_file;
use super::project::module_path;
use super::syntax::Tree;
use super::test_command::TestCommand;
use super::{Go, owns};
use crate::language::{Language, join};
use crate::plain::{Again, Copies, File, PlainProgram, Start, without_sources};
use crate::syntax::splice;

/// The package that takes the place of `testing`.
const TESTING: &str = include_str!("testing.go");

/// What a test names if it needs its sources, the repository or the go command at run time.
const NEEDS_REPOSITORY: [&str; 9] =
    ["os/exec", "go.mod", ".go\"", ".go`", "runtime.Caller", "os.Executable", "\".\"", "\"..\"", "\"./\""];

/// Flags of `go test` that `go build` has too.
const BUILD_FLAGS: [&str; 7] = ["tags", "mod", "modfile", "race", "gcflags", "ldflags", "asmflags"];

/// The program; `None` if only `go test` can run the test.
pub(super) fn plainly(copies: &Copies<'_>) -> Option<PlainProgram> {
    let Copies { project, settings, sources, path, twins, root, products } = *copies;
    let command = TestCommand::parse(&Go.test_command(settings)).ok()?;
    let mut writer = Writer::new(copies)?;
    let (mut files, tests) = writer.files(copies)?;
    let is_short = command.flags.iter().any(|flag| flag.trim_start_matches('-').starts_with("short"));
    files.extend(writer.own_files(is_short));
    let needs_repository = NEEDS_REPOSITORY.iter().any(|name| tests.contains(name));
    let is_source = |file: &str| owns(file) || matches!(split(file).1, "go.mod" | "go.sum" | "go.work" | "go.work.sum");
    let list = if needs_repository { None } else { without_sources(sources, is_source) };
    let listed = list.as_ref().map(|_| format!("{}.list", writer.name));
    let written: Vec<String> = files.iter().map(|(file, _)| file.clone()).collect();
    files.extend(listed.clone().map(|file| (file, list)));
    let executable = format!("{products}/plain/{}", writer.name);
    let mut build = [&command.go, "build", "-o", &executable].map(str::to_owned).to_vec();
    // The program must not find its sources. `-trimpath` itself would compile all of Go's own packages again.
    build.extend(listed.iter().map(|_| format!("-gcflags={}/...=-trimpath={root}=>/src", writer.module)));
    build.extend(build_flags(&command));
    let package = project.relative_path(&writer.main_folder).unwrap_or_default();
    build.push(format!("./{package}"));
    let mut build = project.command(build, settings);
    if !sources.files().iter().any(|file| file.ends_with("go.work")) {
        build = build.with_env("GOWORK", "off");
    }
    let named = |id: TestId| Some((id.clone(), plain_name(id.name()?)));
    Some(PlainProgram {
        files,
        sources: written,
        build,
        executable: Some(executable),
        tests: twins.ids().into_iter().filter_map(named).collect(),
        copy: twins.copy.clone(),
        again: Again::Repeated,
        start: Start {
            folder: split(path).0.to_owned(),
            listed,
            script: None,
            env: Vec::new(),
            timeout: settings.timeout,
        },
    })
}

/// The flags of the test command that also matter to a build.
fn build_flags(command: &TestCommand) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = command.flags.iter();
    while let Some(flag) = words.next() {
        let name = flag.trim_start_matches('-').split('=').next().unwrap_or(flag);
        if BUILD_FLAGS.contains(&name) {
            kept.push(flag.clone());
            kept.extend((!flag.contains('=') && name != "race").then(|| words.next().cloned()).flatten());
        }
    }
    kept
}

/// The name of a copy in the program: nothing in it tells of a test.
fn plain_name(name: &str) -> String {
    name.replacen("Test_", "do_", 1)
}

/// A path as folder and name.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Where the tests are, in relation to production.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// In the package that they test.
    Inside,
    /// In the package that they test, which is a program.
    InProgram,
    /// In a package of their own: `calc_test`.
    Outside,
}

/// Writes the files of the program.
struct Writer<'c> {
    /// A name that nobody could know, for everything that is added.
    name: String,
    /// The module's import path.
    module: String,
    kind: Kind,
    /// The test's file.
    path: &'c str,
    /// The folder of the package that is built.
    main_folder: String,
    /// The folder of the package that takes the place of `testing`, and its import path.
    testing: (String, String),
    /// The import path of the package under test.
    tested: String,
    /// The copies' names.
    copies: Vec<String>,
    /// Whether the test files have a `TestMain`.
    has_main: bool,
}

impl<'c> Writer<'c> {
    fn new(copies: &Copies<'c>) -> Option<Self> {
        let Copies { project, sources, path, twins, .. } = *copies;
        let names: Vec<String> = twins.ids().iter().filter_map(|id| id.name().map(str::to_owned)).collect();
        let name = format!("x{}", twins.copy.name()?.strip_prefix("Test_")?.get(..8)?);
        let manifest = sources.read(&join(&project.root, "go.mod"))?;
        let module = module_path(&manifest)?;
        let folder = split(path).0;
        let below = project.relative_path(path).map(|path| split(path).0)?;
        let tree = Tree::parse(&twins.source)?;
        let kind = match tree.package() {
            "main" => Kind::InProgram,
            package if package.ends_with("_test") => Kind::Outside,
            _ => Kind::Inside,
        };
        let tested = if below.is_empty() { module.to_owned() } else { format!("{module}/{below}") };
        let testing = (join(&project.root, &format!("{name}t")), format!("{module}/{name}t"));
        let main_folder = if kind == Kind::InProgram { folder.to_owned() } else { join(folder, &name) };
        Some(Self {
            name,
            module: module.to_owned(),
            kind,
            path,
            main_folder,
            testing,
            tested,
            copies: names,
            has_main: false,
        })
    }

    /// The project's files that differ, and the text of all test files.
    fn files(&mut self, copies: &Copies<'_>) -> Option<(Vec<File>, String)> {
        let (mut files, mut tests) = (Vec::new(), String::new());
        let sources = copies.sources;
        for path in sources.files().iter().filter(|path| owns(path) && copies.project.relative_path(path).is_some()) {
            let is_here = split(path).0 == split(self.path).0;
            if is_test_file(path) && !is_here {
                continue;
            }
            let source = if path == self.path { copies.twins.source.clone() } else { sources.read(path)? };
            if is_test_file(path) {
                tests += &source;
                files.extend(self.test_file(path, &source)?);
            } else if source.contains("\"testing\"") || (is_here && self.kind == Kind::InProgram) {
                files.push((path.clone(), Some(self.rewritten(&source, None)?)));
            }
        }
        Some((files, tests))
    }

    /// A test file under another name, as an ordinary file.
    fn test_file(&mut self, path: &str, source: &str) -> Option<Vec<File>> {
        let (folder, name) = split(path);
        let gone = (path.to_owned(), None);
        let is_outside = Tree::parse(source)?.package().ends_with("_test");
        if is_outside && self.kind != Kind::Outside {
            return Some(vec![gone]);
        }
        let name = format!("{}_{}.go", self.name, name.strip_suffix("_test.go")?);
        let folder = if is_outside { &self.main_folder } else { folder };
        let mut text = self.rewritten(source, is_outside.then_some("main"))?;
        if path == self.path {
            text += &self.calls();
        }
        if is_outside == (self.kind == Kind::Outside) && source.contains("func TestMain(") {
            self.has_main = true;
            text += &format!("\nfunc Around{0}(m *{0}t.M) {{ TestMain(m) }}\n", self.name);
        }
        for copy in &self.copies {
            text = text.replace(copy.as_str(), &plain_name(copy));
        }
        Some(vec![gone, (join(folder, &name), Some(text))])
    }

    /// A function that calls a copy by its name.
    fn calls(&self) -> String {
        let cases = self.copies.iter().map(|copy| format!("\tcase \"{copy}\":\n\t\t{copy}(t)\n"));
        format!(
            "\nfunc Call{0}(name string, t *{0}t.T) {{\n\tswitch name {{\n{1}\t}}\n}}\n",
            self.name,
            cases.collect::<String>()
        )
    }

    /// A file that imports our package in the place of `testing`.
    fn rewritten(&self, source: &str, package: Option<&str>) -> Option<String> {
        let tree = Tree::parse(source)?;
        let mut edits = Vec::new();
        for node in 0..tree.len() {
            match tree.kind(node) {
                "import_spec" if tree.named(node, "path") == "\"testing\"" => {
                    let path = tree.child(node, "path")?;
                    let alias = if tree.child(node, "name").is_some() { "" } else { "testing " };
                    edits.push((tree.range(path), format!("{alias}\"{}\"", self.testing.1)));
                }
                "package_clause" => {
                    let name = tree.parts(node).last()?;
                    let clause =
                        format!("{}; import {}t \"{}\"", package.unwrap_or(tree.text(name)), self.name, self.testing.1);
                    edits.push((tree.range(name), clause));
                }
                "identifier" if self.kind == Kind::InProgram && tree.text(node) == "main" => {
                    edits.push((tree.range(node), format!("main{}", self.name)));
                }
                _ => {}
            }
        }
        let used = format!("\n\nvar _ = {}t.Short\n", self.name);
        Some(splice(source, edits) + &used)
    }

    /// The files that belong to nobody else.
    fn own_files(&self, is_short: bool) -> Vec<File> {
        let (name, here) = (&self.name, self.kind != Kind::Inside);
        let (import, prefix) =
            if here { (String::new(), "") } else { (format!("import tested \"{}\"\n", self.tested), "tested.") };
        let around = if self.has_main { format!("{prefix}Around{name}") } else { "nil".to_owned() };
        let main = format!(
            "package main\n\nimport {name}t \"{}\"\n{import}\nfunc main() {{ {name}t.Start({prefix}Call{name}, {around}) }}\n",
            self.testing.1
        );
        let testing = TESTING.replace("@PACKAGE@", &format!("{name}t")).replace("@SHORT@", &is_short.to_string());
        vec![
            (format!("{}/{name}.go", self.testing.0), Some(testing)),
            (join(&self.main_folder, &format!("{name}_main.go")), Some(main)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(line: &str) -> String {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        build_flags(&TestCommand::parse(&words).unwrap()).join(" ")
    }

    #[test]
    fn a_build_gets_the_flags_that_change_what_is_built() {
        assert_eq!(flags("go test -race -short -tags integration -run X ./..."), "-race -tags integration");
        assert_eq!(flags("go test ./..."), "");
    }

    #[test]
    fn nothing_in_the_name_of_a_copy_tells_of_a_test() {
        assert_eq!(plain_name("Test_12ab"), "do_12ab");
    }
}
