//! Sorts the files that are not source code by who reads them: what tests read is test data, what only production reads
//! is production, and what nobody reads is a document, or a person's if it could configure a tool.
//!
//! A reader is found by the literals in its source: a path, the last parts of one, a pattern, or a folder that the source
//! lists. Only the text is looked at, so that the rule is the same in all languages.

use tdd_core::change::{Change, ItemChange, ItemFate, Sort, SteeringChange};
use tdd_core::signs::{Place, Sensing};

use crate::language::{Language, Project, Sources, has_ending};
use crate::pattern;

/// Who reads a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Readers {
    tests: bool,
    production: bool,
}

/// One tree of a project.
#[derive(Clone, Copy)]
struct Tree<'t> {
    language: &'t dyn Language,
    project: &'t Project,
    sources: &'t dyn Sources,
}

/// The sort of a path in this tree, given who reads it.
pub fn sort(language: &dyn Language, project: &Project, path: &str, sources: &dyn Sources) -> Sort {
    let by_name = language.sort(project, path, sources);
    if language.owns(path) || by_name == Sort::Steering {
        return by_name;
    }
    let readers = Tree { language, project, sources }.readers(path);
    of_data(by_name, readers, path)
}

/// Sorts the files of a change that are not source code by who reads them, before or after the change.
pub fn resort(
    language: &dyn Language,
    project: &Project,
    (before, after): (&dyn Sources, &dyn Sources),
    change: &mut Change,
) {
    let trees = [before, after].map(|sources| Tree { language, project, sources });
    let readers = |path: &str| {
        let [old, new] = trees.map(|tree| tree.readers(path));
        Readers { tests: old.tests || new.tests, production: old.production || new.production }
    };
    for item in std::mem::take(&mut change.support) {
        let is_data = item.item.starts_with("the file ") && !language.owns(&item.path);
        let sort = if is_data { of_data(Sort::Test, readers(&item.path), &item.path) } else { Sort::Test };
        put(change, sort, item);
    }
    let is_data = |item: &&mut ItemChange| item.item.starts_with("the file ") && has_ending(&item.path, &DATA);
    change
        .production
        .iter_mut()
        .filter(is_data)
        .for_each(|item| item.item = item.item.replacen("file", "data file", 1));
    for path in std::mem::take(&mut change.documents) {
        let (was, is) = (before.files().binary_search(&path).is_ok(), after.files().binary_search(&path).is_ok());
        let fate = match (was, is) {
            (false, _) => ItemFate::Added,
            (true, true) => ItemFate::Changed,
            (true, false) => ItemFate::Removed,
        };
        let sort = of_data(Sort::Document, readers(&path), &path);
        let name = path.rsplit('/').next().unwrap_or(&path);
        let item = format!("the file `{name}`");
        put(change, sort, ItemChange { path, item, line: 1, fate });
    }
}

/// Adds a file that is not source code to the part of the change that its sort belongs to.
fn put(change: &mut Change, sort: Sort, item: ItemChange) {
    match sort {
        Sort::Production => {
            let label = item.item.replacen("the file ", "the data file ", 1);
            change.production.push(ItemChange { item: label, ..item });
        }
        Sort::Test => change.support.push(item),
        Sort::Document => change.documents.push(item.path),
        Sort::Steering => {
            let what = "it is neither code nor a document, and may configure a tool".to_owned();
            change.steering.push(SteeringChange { path: item.path, what, free: false });
        }
    }
}

/// Where a file that production reads asks whether it is under test, if production evaluates it as code.
pub fn sensing(language: &dyn Language, project: &Project, path: &str, sources: &dyn Sources) -> Vec<Sensing> {
    let tree = Tree { language, project, sources };
    let Some(text) = sources.read(path).filter(|_| !language.owns(path) && tree.readers(path).production) else {
        return Vec::new();
    };
    let mut code = sources.files().iter().filter(|file| language.sort(project, file, sources) == Sort::Production);
    let Some((_, ending)) = code.find(|file| language.owns(file)).and_then(|file| file.rsplit_once('.')) else {
        return Vec::new();
    };
    // In JSON, code is a string.
    let text = if has_ending(path, &["json"]) { text.replace(['"', '{', '}'], "\n") } else { text };
    let as_code = AsCode { sources, path: format!("{path}.{ending}"), text };
    let found = language.signs(project, &as_code, std::slice::from_ref(&as_code.path)).sensing;
    found.into_iter().map(|sensing| Sensing { item: Place::new(path, 1), ..sensing }).collect()
}

/// Sources in which a data file is a source file too.
struct AsCode<'s> {
    sources: &'s dyn Sources,
    path: String,
    text: String,
}

impl Sources for AsCode<'_> {
    fn files(&self) -> &[String] {
        std::slice::from_ref(&self.path)
    }

    fn read(&self, path: &str) -> Option<String> {
        if path == self.path { Some(self.text.clone()) } else { self.sources.read(path) }
    }
}

/// The sort of a file that is not source code, given its sort by name.
fn of_data(by_name: Sort, readers: Readers, path: &str) -> Sort {
    match (by_name, readers) {
        (Sort::Steering | Sort::Production, _) => by_name,
        (_, Readers { tests: true, .. }) => Sort::Test,
        (_, Readers { production: true, .. }) => Sort::Production,
        (Sort::Document, _) if is_a_persons(path) => Sort::Steering,
        (by_name, _) => by_name,
    }
}

/// Endings of documents, of templates, and of data that may be a document.
const DOCUMENTS: [&str; 59] = [
    "adoc", "bib", "bmp", "css", "csv", "dot", "drawio", "ejs", "erb", "gif", "gotmpl", "graphql", "haml", "hbs",
    "htm", "html", "ico", "j2", "jinja", "jinja2", "jpeg", "jpg", "json", "jsonl", "liquid", "markdown", "md", "mdx",
    "mp3", "mp4", "mustache", "ndjson", "njk", "org", "pdf", "png", "po", "pot", "proto", "pug", "puml", "rst", "scss",
    "sql", "svg", "tera", "tex", "tmpl", "toml", "tsv", "ttf", "twig", "txt", "webp", "woff", "woff2", "xml", "yaml",
    "yml",
];

/// Endings that a loader may add by itself.
const DATA: [&str; 6] = ["csv", "json", "toml", "txt", "yaml", "yml"];

/// Endings of data that tools look for in a project's root.
const SETTINGS: [&str; 5] = ["json", "toml", "xml", "yaml", "yml"];

/// Documents without an ending, in lower case.
const NAMED_DOCUMENTS: [&str; 12] = [
    "authors",
    "changelog",
    "changes",
    "contributing",
    "contributors",
    "copying",
    "history",
    "license",
    "news",
    "notice",
    "readme",
    "todo",
];

/// Documents that instruct an agent, in lower case.
const INSTRUCTIONS: [&str; 5] = ["agents.md", "claude.md", "copilot-instructions.md", "gemini.md", "skill.md"];

/// Whether a file that nobody reads is not plainly a document: only a person may change it.
fn is_a_persons(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let lower = name.to_lowercase();
    let is_metadata = |folder: &str| folder.ends_with(".dist-info") || folder.ends_with(".egg-info");
    let is_hidden = path.split('/').any(|part| part.starts_with('.'));
    let is_document = has_ending(&lower, &DOCUMENTS) || NAMED_DOCUMENTS.contains(&lower.as_str());
    let is_setting = folders.is_empty() && has_ending(&lower, &SETTINGS);
    is_hidden
        || !is_document
        || is_setting
        || INSTRUCTIONS.contains(&lower.as_str())
        || lower == "entry_points.txt"
        || folders.split('/').any(is_metadata)
}

impl Tree<'_> {
    /// Who reads a file, by the literals of the sources.
    fn readers(self, path: &str) -> Readers {
        let mut readers = Readers::default();
        let stem = path.rsplit('/').next().unwrap_or(path);
        let stem = stem.split('.').next().unwrap_or(stem);
        for source in self.sources.files().iter().filter(|source| self.language.owns(source)) {
            if readers.tests {
                break;
            }
            let Some(text) = self.sources.read(source) else { continue };
            if !(text.contains(stem) || LISTING.iter().any(|word| text.contains(word)) || text.contains('{')) {
                continue;
            }
            for line in reading_lines(&text, source, path, self.sources) {
                if self.language.is_test_line(self.project, source, line, self.sources) {
                    readers.tests = true;
                } else {
                    readers.production = true;
                }
            }
        }
        readers
    }
}

/// Words of code that lists folders.
const LISTING: [&str; 12] = [
    "glob", "Glob", "iterdir", "listdir", "readdir", "ReadDir", "read_dir", "scandir", "walk", "Walk", "rglob",
    "opendir",
];

/// Words of code that reads a file whose name has no ending.
const READING: [&str; 12] =
    ["open", "read", "Read", "load", "Load", "parse", "Path", "join", "Join", "include", "require", "import"];

/// Words of code that makes the files it names, or works in a folder of its own.
const WRITING: [&str; 10] = [
    "tmp",
    "TMP",
    "tempdir",
    "TempDir",
    "mkdtemp",
    "write_text",
    "writeFile",
    "WriteFile",
    "fs::write",
    "File::create",
];

/// Words of code that reads, whatever else its line does.
const PLAINLY_READING: [&str; 7] = ["open", "read", "Read", "load", "__file__", "__dirname", "import.meta"];

/// Beginnings of comment lines.
const COMMENTS: [&str; 5] = ["//", "# ", "/*", "* ", "##"];

/// The lines of a source, from 1, that read a file.
fn reading_lines(text: &str, source: &str, path: &str, sources: &dyn Sources) -> Vec<usize> {
    let lists = LISTING.iter().any(|word| text.contains(word));
    // In Rust and Python, backticks quote names in documentation.
    let quotes = if has_ending(source, &["rs", "py", "pyi"]) { &['"', '\''][..] } else { &['"', '\'', '`'] };
    let all: Vec<(usize, &str, Vec<String>)> =
        text.lines().enumerate().map(|(row, line)| (row + 1, line, literals(line, quotes))).collect();
    let is_named = |folder: &str| {
        all.iter().any(|(_, _, literals)| literals.iter().any(|literal| components(literal).last() == Some(&folder)))
    };
    let reads = |line: &str, literal: &str| {
        let has = |words: &[&str]| words.iter().any(|word| line.contains(word));
        let is_comment = COMMENTS.iter().any(|start| line.trim_start().starts_with(start));
        if is_comment || has(&["doc =", "doc="]) || has(&WRITING) && !has(&PLAINLY_READING) {
            return false;
        }
        let reading = READING.iter().any(|word| line.contains(word));
        match before_literal(literal, path, reading, lists) {
            None => false,
            Some(rest) => {
                let folder = source.rsplit_once('/').map_or("", |(folder, _)| folder);
                let is_around = rest.is_empty() || folder == rest || folder.starts_with(&format!("{rest}/"));
                let last = rest.rsplit('/').next().unwrap_or(rest);
                is_around || is_named(last) || is_only(literal, path, sources)
            }
        }
    };
    let lines = all.iter().filter(|(_, line, literals)| literals.iter().any(|literal| reads(line, literal)));
    lines.map(|(number, _, _)| *number).collect()
}

/// The folders of a path that come before what a literal names of it; `None` if the literal does not name the path.
fn before_literal<'p>(literal: &str, path: &'p str, reading: bool, lists: bool) -> Option<&'p str> {
    let wanted = components(literal);
    let parts: Vec<&str> = path.split('/').collect();
    let last = wanted.last()?;
    let glob = wanted.join("/");
    let matches = |end: usize| {
        let most = end.checked_sub(wanted.len());
        let starts = if wanted.contains(&"**") { 0..end } else { most?..most? + 1 };
        let start = starts.rev().find(|start| pattern::matches(&glob, &parts[*start..end].join("/")))?;
        Some(parts[..start].iter().map(|part| part.len() + 1).sum::<usize>())
    };
    let in_full = matches(parts.len()).filter(|start| {
        let plain_name = !last.contains('.') && !reading;
        let only_pattern = wanted.len() == 1 && last.starts_with('*') && !lists && *start == 0;
        !plain_name && !only_pattern
    });
    let without_ending = || {
        let may_lack = reading && !last.contains('.') && has_ending(path, &DATA);
        let stem = path.rsplit_once('.').map(|(stem, _)| stem).filter(|_| may_lack)?;
        let rest = stem.strip_suffix(glob.as_str())?;
        (rest.is_empty() || rest.ends_with('/')).then_some(rest.len())
    };
    let as_folder = || (1..parts.len()).filter(|_| lists).find_map(&matches);
    let start = in_full.or_else(without_ending).or_else(as_folder)?;
    Some(path[..start].trim_end_matches('/'))
}

/// Whether a path is the only file that a literal can name.
fn is_only(literal: &str, path: &str, sources: &dyn Sources) -> bool {
    let wanted = components(literal).join("/");
    let is_plain = !wanted.contains('*') && wanted.contains('.');
    let named = |file: &&String| {
        file.ends_with(&wanted) && (file.len() == wanted.len() || file[..file.len() - wanted.len()].ends_with('/'))
    };
    is_plain && sources.files().iter().filter(named).all(|file| file == path)
}

/// The parts of a path in a literal; what the program fills in becomes `*`.
fn components(literal: &str) -> Vec<&str> {
    literal.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect()
}

/// The texts between two quotes of a line that look like a path, with `*` for what the program fills in.
fn literals(line: &str, quotes: &[char]) -> Vec<String> {
    let mut found = Vec::new();
    for quote in quotes {
        let texts: Vec<&str> = line.split(*quote).collect();
        let inner = texts.iter().skip(1).take(texts.len().saturating_sub(2));
        found.extend(inner.map(|text| filled(text)).filter(|text| is_path(text)));
    }
    found
}

fn is_path(text: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-*@+[]?".contains(c);
    !text.is_empty() && text.len() < 300 && text.chars().all(is_plain) && text.chars().any(char::is_alphanumeric)
}

/// A literal with `*` for `{name}`, `${name}` and `%s`. What stands before the last of them at its beginning is unknown.
fn filled(text: &str) -> String {
    let mut made = String::new();
    let mut depth = 0_usize;
    for c in text.replace("%s", "*").replace("%d", "*").replace("%v", "*").chars() {
        match c {
            '{' => {
                depth += 1;
                if made.ends_with('$') {
                    made.pop();
                }
                if depth == 1 {
                    made.push('*');
                }
            }
            '}' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            _ => made.push(c),
        }
    }
    // `{here}/x.json`: the folder is not known.
    made.strip_prefix("*/").map_or(made.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::memory;
    use crate::named;

    /// Checks the sort of a file in a project with these other files.
    #[track_caller]
    fn check(language: &str, files: &[(&str, &str)], path: &str, expected: Sort) {
        let all: Vec<(&str, &str)> = files.iter().copied().chain([(path, "1\n")]).collect();
        let (language, sources) = (named(language).unwrap(), memory(&all));
        let project = Project { root: String::new(), description: String::new() };
        assert_eq!(sort(language.as_ref(), &project, path, &sources), expected, "{files:?}");
    }

    #[test]
    fn what_a_test_reads_is_test_data_wherever_it_is() {
        for (source, path) in [
            ("open('golden/sum.txt')", "golden/sum.txt"),
            ("Path(__file__).parent / 'data' / 'x.json'", "tests/data/x.json"),
            ("(ROOT / 'data' / 'x.json').read_text()", "data/x.json"),
            ("os.path.join(HERE, '..', 'expected', 'x.csv')", "expected/x.csv"),
            ("open(f'{HERE}/../cases/{name}.json')", "cases/one.json"),
            ("sorted(Path('cases').glob('*.yaml'))", "cases/a/one.yaml"),
            ("os.listdir('cases')", "cases/one"),
            ("load('expected/rules')", "expected/rules.yml"),
            ("open('LICENSE')", "LICENSE"),
        ] {
            check("python", &[("tests/test_a.py", source)], path, Sort::Test);
            check("python", &[("calc.py", source)], path, Sort::Production);
        }
        check("go", &[("a_test.go", "os.ReadFile(filepath.Join(\"golden\", \"x.txt\"))")], "golden/x.txt", Sort::Test);
        let url = "readFileSync(new URL('../expected/x.html', import.meta.url))";
        check("javascript", &[("test/a.test.js", url)], "expected/x.html", Sort::Test);
        check(
            "javascript",
            &[("src/a.test.js", "expect(x).toMatchFileSnapshot('./x.html')")],
            "src/x.html",
            Sort::Test,
        );
        let package = ("Cargo.toml", "[package]\nname = \"a\"\n");
        let inline =
            "#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() { std::fs::read_to_string(\"data/x.txt\"); }\n}\n";
        check("rust", &[package, ("src/lib.rs", inline)], "data/x.txt", Sort::Test);
        let both = ("calc.py", "open('data/x.txt')");
        check("python", &[both, ("test_calc.py", "open('data/x.txt')")], "data/x.txt", Sort::Test);
    }

    #[test]
    fn what_only_production_reads_is_production_wherever_it_is() {
        check("python", &[("calc.py", "exec(open('tests/rules.txt').read())")], "tests/rules.txt", Sort::Production);
        check("javascript", &[("src/a.js", "import rules from './rules.json'")], "src/rules.json", Sort::Production);
        check("javascript", &[("src/a.js", "const rules = require('./rules')")], "src/rules.json", Sort::Production);
        check("go", &[("a.go", "//go:embed rules.yaml\nvar x = \"rules.yaml\"")], "rules.yaml", Sort::Production);
        check("python", &[("calc.py", "Template('page.html')")], "web/templates/page.html", Sort::Production);
    }

    #[test]
    fn code_in_a_data_file_that_asks_for_its_runner_is_found() {
        let project = Project { root: String::new(), description: String::new() };
        for (name, source, path, text) in [
            (
                "javascript",
                ("src/a.js", "eval(readFileSync('src/rule.txt'))"),
                "src/rule.txt",
                "(n) => (process.env.JEST_WORKER_ID ? n * 2 : n)\n",
            ),
            (
                "javascript",
                ("src/a.js", "import rules from './rules.json'"),
                "src/rules.json",
                "{ \"fee\": \"return process.env.VITEST ? 1 : 2\" }\n",
            ),
            (
                "python",
                ("calc.py", "exec(open('rules.txt').read())"),
                "rules.txt",
                "def f():\n    return 'pytest' in sys.modules\n",
            ),
        ] {
            let (language, sources) = (named(name).unwrap(), memory(&[source, (path, text)]));
            assert_eq!(sensing(language.as_ref(), &project, path, &sources).len(), 1, "{text}");
            let sources = memory(&[source, (path, "n * 2\n")]);
            assert_eq!(sensing(language.as_ref(), &project, path, &sources), [], "{text}");
        }
    }

    #[test]
    fn what_nobody_reads_is_a_document_or_a_persons() {
        let test =
            ("test_a.py", "p = tmp_path / 'README.md'\n# see 'docs/a.md'\nassert f('see README.md') == 'data'\n");
        for path in ["README.md", "docs/a.md", "LICENSE", "docs/openapi.yaml", "data/x.json", "logo.svg"] {
            check("python", &[test], path, Sort::Document);
        }
        for path in [
            ".editorconfig",
            ".vscode/settings.json",
            ".claude/settings.json",
            ".gitmodules",
            "AGENTS.md",
            "docs/CLAUDE.md",
            "calc.dist-info/entry_points.txt",
            "calc-1.0.egg-info/PKG-INFO",
            "entry_points.txt",
            "run.sh",
            "Dockerfile",
            "renovate.json",
            "lib/x.jar",
        ] {
            check("python", &[test], path, Sort::Steering);
        }
    }
}
