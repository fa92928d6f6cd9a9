//! Reads exercises: instructions and a stub for the model, and tests that it never sees.

use std::fs;
use std::path::{Path, PathBuf};

use tdd_core::change::Sort;
use tdd_core::digest::Digest;
use tdd_exec::text;
use tdd_lang::language::Language;

use crate::error::{Broken, EvalError};
use crate::exercism;
use crate::folder::{self, Files, InMemory, MAX_FILE};

/// An exercise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exercise {
    /// The name of its folder.
    pub name: String,
    /// Its language, as `tdd.yaml` spells it.
    pub language: &'static str,
    /// What to build.
    pub instructions: String,
    /// The files that the model starts from.
    pub stub: Files,
    /// The tests that judge the solution.
    pub hidden: Files,
}

/// The exercises of a folder, and what in it is no exercise.
#[derive(Debug, Default)]
pub struct Exercises {
    /// The exercises, by name.
    pub usable: Vec<Exercise>,
    /// Folders that are no usable exercises.
    pub broken: Vec<Broken>,
}

/// Prefixes of lines that declare something which the hidden tests may use.
const DECLARES: [&str; 9] =
    ["pub fn ", "pub struct ", "pub enum ", "pub trait ", "impl ", "def ", "class ", "func ", "export "];

/// Reads a folder of exercises, or a folder that is one exercise itself.
pub fn read_all(path: &Path, only: &[String]) -> Result<Exercises, EvalError> {
    let mut found = Exercises::default();
    for folder in folders(path).map_err(|source| EvalError::Folder { path: path.to_owned(), source })? {
        match Exercise::read(&folder) {
            Ok(exercise) => found.usable.push(exercise),
            Err(reason) => found.broken.push(Broken { exercise: name_of(&folder), reason }),
        }
    }
    let known: Vec<String> = found.usable.iter().map(|exercise| exercise.name.clone()).collect();
    let is_named = |name: &String| only.is_empty() || only.contains(name);
    let is_known = |name: &&String| known.contains(name) || found.broken.iter().any(|broken| broken.exercise == **name);
    if let Some(name) = only.iter().find(|name| !is_known(name)) {
        return Err(EvalError::NoSuchExercise { name: name.clone(), known });
    }
    found.usable.retain(|exercise| is_named(&exercise.name));
    found.broken.retain(|broken| is_named(&broken.exercise));
    if found.usable.is_empty() {
        return Err(EvalError::NoExercises { path: path.to_owned(), broken: found.broken });
    }
    Ok(found)
}

/// The folder itself if it is an exercise, or else the folders in it, sorted.
fn folders(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    // Canonical, because an exercise is called like its folder, and `.` is no name.
    let path = path.canonicalize()?;
    if is_exercise(&path) {
        return Ok(vec![path]);
    }
    let mut folders = Vec::new();
    for entry in fs::read_dir(&path)? {
        let entry = entry?;
        if entry.path().is_dir() && !entry.file_name().to_string_lossy().starts_with('.') {
            folders.push(entry.path());
        }
    }
    folders.sort();
    Ok(folders)
}

fn is_exercise(folder: &Path) -> bool {
    folder.join("instructions.md").is_file() || folder.join(exercism::CONFIG).is_file()
}

fn name_of(folder: &Path) -> String {
    folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

impl Exercise {
    /// Reads one exercise; the error says what is wrong with the folder.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let name = name_of(folder);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if !name.chars().all(is_plain) {
            return Err("has a name with other characters than letters, digits, `-`, `_` and `.`".to_owned());
        }
        let (instructions, stub, hidden) = if folder.join(exercism::CONFIG).is_file() {
            exercism::read(folder)?
        } else if folder.join("instructions.md").is_file() {
            (text_of(folder, "instructions.md")?, files_in(folder, "stub")?, files_in(folder, "hidden")?)
        } else {
            return Err(format!("has neither `instructions.md` nor `{}`", exercism::CONFIG));
        };
        let language = language_of(&stub).ok_or("has no stub in a language that this version knows")?;
        let exercise = Self { name, language: language.name(), instructions, stub, hidden };
        if exercise.solution_files().is_empty() {
            return Err("has a stub without production code".to_owned());
        }
        let files = exercise.files();
        if let Some(twice) = exercise.hidden.keys().find(|path| exercise.stub.contains_key(*path)) {
            return Err(format!("has `{twice}` both in the stub and in the hidden tests"));
        }
        if language.detect(&InMemory::new(&files)).is_none() {
            return Err(format!("has a stub that is no {} project", language.name()));
        }
        Ok(exercise)
    }

    /// Identifies the exercise's content.
    pub fn digest(&self) -> Digest {
        let content = (&self.language, &self.instructions, &self.stub, &self.hidden);
        // Strings always serialize.
        Digest::of(serde_json::to_vec(&content).unwrap_or_default())
    }

    /// The language.
    pub fn speaks(&self) -> Box<dyn Language> {
        // The name is that of a language we know.
        tdd_lang::named(self.language).unwrap_or_else(|| Box::new(tdd_lang::other::Other))
    }

    /// Whether the stub brings its own manifest.
    pub fn has_manifest(&self) -> bool {
        let language = self.speaks();
        self.stub.keys().any(|path| language.is_manifest(path))
    }

    /// The project that the model starts from: the stub, and what a new project has besides.
    pub fn files(&self) -> Files {
        let language = self.speaks();
        let mut files = language.scaffold(&language.package_name(&self.name));
        if self.has_manifest() {
            files.retain(|path, _| path == ".gitignore");
        }
        files.extend(self.stub.clone());
        files
    }

    /// The files of the stub that hold production code.
    pub fn solution_files(&self) -> Vec<&str> {
        let files = self.files();
        let paths = self.stub.keys().filter(|path| self.sort(path, &files) == Sort::Production);
        paths.map(String::as_str).collect()
    }

    /// The sort of a path in a project with these files.
    pub fn sort(&self, path: &str, files: &Files) -> Sort {
        let (language, sources) = (self.speaks(), InMemory::new(files));
        let project = language.detect(&sources);
        let sort = project.map(|project| language.sort(&project, path, &sources));
        match sort {
            // A language sorts by place; a manual is no production code, wherever it is.
            Some(Sort::Production) if !language.owns(path) => Sort::Document,
            Some(sort) => sort,
            None => Sort::Document,
        }
    }

    /// The instructions as a kata, with the places and declarations that the hidden tests rely on.
    pub fn kata(&self) -> String {
        // The machine takes no requirements from such a section.
        let mut kata = self.instructions.trim_end().to_owned() + "\n\n## Setup\n";
        for path in self.solution_files() {
            let lines = self.stub.get(path).into_iter().flat_map(|text| text.lines()).map(str::trim);
            let lines = lines.filter(|line| DECLARES.iter().any(|start| line.starts_with(start)));
            let declared: Vec<String> =
                lines.map(|line| format!("`{}`", line.trim_end_matches([' ', '{', ':']))).collect();
            let what = if declared.is_empty() { String::new() } else { format!(", which has {}", declared.join(", ")) };
            kata += &format!("\nThe code belongs in `{path}`{what}. Keep these names and signatures.\n");
        }
        kata
    }
}

fn text_of(folder: &Path, name: &str) -> Result<String, String> {
    text::read(&folder.join(name), MAX_FILE).map_err(|error| format!("cannot be used: {error}"))
}

fn files_in(folder: &Path, name: &str) -> Result<Files, String> {
    let path = folder.join(name);
    let files = if path.is_dir() { folder::read(&path)? } else { Files::new() };
    if files.is_empty() { Err(format!("has no files in `{name}/`")) } else { Ok(files) }
}

/// The language that owns most of the files. TypeScript counts only with a file of its own, because it owns JavaScript's.
fn language_of(files: &Files) -> Option<Box<dyn Language>> {
    let is_typed = files.keys().any(|path| ["ts", "tsx"].contains(&folder::ending(path)));
    let other = if is_typed { "javascript" } else { "typescript" };
    let known = tdd_lang::names().into_iter().filter(|name| *name != other).filter_map(tdd_lang::named);
    let owned = |language: &dyn Language| files.keys().filter(|path| language.owns(path)).count();
    known.filter(|language| owned(language.as_ref()) > 0).max_by_key(|language| owned(language.as_ref()))
}

#[cfg(test)]
mod tests {
    use tdd_core::requirements::Requirements;

    use super::*;

    /// Writes an exercise and returns the reason why it cannot be used.
    fn check(files: &[(&str, &str)], expected: &str) {
        let folder = tempfile::tempdir().unwrap();
        let exercise = folder.path().join("odd-one");
        let files: Files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        std::fs::create_dir(&exercise).unwrap();
        folder::write(&exercise, &files).unwrap();
        let reason = Exercise::read(&exercise).map(|exercise| exercise.language.to_owned());
        assert_eq!(reason.unwrap_or_else(|reason| reason), expected);
    }

    const TEST: (&str, &str) = ("hidden/tests/test_a.py", "from a import f\n\ndef test_f():\n    assert f() == 1\n");

    #[test]
    fn what_is_wrong_with_an_exercise_is_named() {
        let instructions = ("instructions.md", "Answer one.\n");
        let stub = ("stub/a.py", "def f():\n    pass\n");
        check(&[instructions, stub, TEST], "python");
        check(&[stub, TEST], "has neither `instructions.md` nor `.meta/config.json`");
        check(&[instructions, TEST], "has no files in `stub/`");
        check(&[instructions, stub], "has no files in `hidden/`");
        check(&[instructions, ("stub/a.cob", "x"), TEST], "has no stub in a language that this version knows");
        let same = ("hidden/a.py", "def f():\n    return 1\n");
        check(&[instructions, stub, same], "has `a.py` both in the stub and in the hidden tests");
    }

    #[test]
    fn the_kata_names_the_place_and_the_declarations() {
        let exercise = Exercise {
            name: "a".to_owned(),
            language: "python",
            instructions: "Answer one.\n\n".to_owned(),
            stub: Files::from([("a.py".to_owned(), "LIMIT = 3\n\ndef f(x, y):\n    pass\n".to_owned())]),
            hidden: Files::new(),
        };
        let expected = "Answer one.\n\n## Setup\n\nThe code belongs in `a.py`, which has `def f(x, y)`. Keep these names and signatures.\n";
        assert_eq!(exercise.kata(), expected);
    }

    #[test]
    fn the_place_and_the_declarations_are_no_requirement_of_the_kata() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("exercises");
        for exercise in read_all(&folder, &[]).unwrap().usable {
            let (own, kata) = (Requirements::of(&exercise.instructions), Requirements::of(&exercise.kata()));
            assert_eq!(kata.list(), own.list(), "{}", exercise.name);
            assert!(!own.is_empty(), "{} has no requirement", exercise.name);
            let prose = "# Years\n\nTell whether a year is a leap year. A year that 4 divides is one.\n";
            let exercise = Exercise { instructions: prose.to_owned(), ..exercise };
            assert_eq!(Requirements::of(&exercise.kata()).list(), Requirements::of(prose).list());
        }
    }

    #[test]
    fn the_digest_changes_with_every_part() {
        let exercise = |instructions: &str, hidden: &str| Exercise {
            name: "a".to_owned(),
            language: "python",
            instructions: instructions.to_owned(),
            stub: Files::new(),
            hidden: Files::from([("t.py".to_owned(), hidden.to_owned())]),
        };
        assert_eq!(exercise("a", "b").digest(), exercise("a", "b").digest());
        assert_ne!(exercise("a", "b").digest(), exercise("b", "b").digest());
        assert_ne!(exercise("a", "b").digest(), exercise("a", "c").digest());
    }
}
