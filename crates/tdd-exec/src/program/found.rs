//! Finds the programs of a repository and the problems that keep them from running.

use std::collections::BTreeMap;

use tdd_core::program::definition::{Definition, MAX_PROGRAM, Problem, markers_left};
use tdd_core::program::{FOLDER, strategy};

use super::error::ProgramError;
use crate::git::Repo;
use crate::text;

/// A program in the repository.
#[derive(Debug)]
pub struct ProgramFiles {
    /// The program's name.
    pub name: String,
    /// The program's file, from the repository's root.
    pub file: String,
    /// The parsed file.
    pub definition: Definition,
    /// The strategy's files, by path from the program's folder.
    pub strategy: BTreeMap<String, String>,
    /// Everything that keeps the program from running.
    pub problems: Vec<Problem>,
}

/// All programs by name, each with its file: `<name>/program.md` or `<name>.md`.
pub fn names(repo: &Repo) -> Result<BTreeMap<String, String>, ProgramError> {
    let mut names = BTreeMap::new();
    for file in repo.files()? {
        let below = file.strip_prefix(FOLDER).and_then(|rest| rest.strip_prefix("/programs/"));
        let name = below.and_then(|rest| rest.strip_suffix("/program.md").or_else(|| rest.strip_suffix(".md")));
        if let Some(name) = name.filter(|name| tdd_core::program::is_name(name)) {
            // `<name>/program.md` takes precedence over `<name>.md`.
            let in_folder = file.ends_with("/program.md");
            if in_folder || !names.contains_key(name) {
                names.insert(name.to_owned(), file.clone());
            }
        }
    }
    Ok(names)
}

/// Reads the program with this name.
pub fn find(repo: &Repo, name: &str) -> Result<ProgramFiles, ProgramError> {
    if !tdd_core::program::is_name(name) {
        return Err(ProgramError::Name(name.to_owned()));
    }
    let file = names(repo)?.remove(name).ok_or_else(|| ProgramError::Unknown(name.to_owned()))?;
    let text = read(repo, &file)?;
    let folder = file.strip_suffix("program.md").unwrap_or_default();
    let below = |path: &String| path.strip_prefix(folder).filter(|_| !folder.is_empty()).map(str::to_owned);
    let files: Vec<String> = repo.files()?.iter().filter_map(below).collect();
    let definition =
        Definition::parse(&text, &files).map_err(|source| ProgramError::Definition { file: file.clone(), source })?;
    let mut problems = definition.problems().to_vec();
    let mut texts = BTreeMap::new();
    for name in strategy::TEST_DRIVEN.iter().filter(|name| files.iter().any(|file| file == **name)) {
        let text = read(repo, &format!("{folder}{name}"))?;
        problems.extend(markers_left(name, &text));
        texts.insert((*name).to_owned(), text);
    }
    for problem in &mut problems {
        problem.file = if folder.is_empty() { file.clone() } else { format!("{folder}{}", problem.file) };
    }
    Ok(ProgramFiles { name: name.to_owned(), file, definition, strategy: texts, problems })
}

fn read(repo: &Repo, file: &str) -> Result<String, ProgramError> {
    let limit = u64::try_from(MAX_PROGRAM).unwrap_or(u64::MAX);
    text::read(&repo.root().join(file), limit).map_err(ProgramError::File)
}

impl ProgramFiles {
    /// The error for the problems in the program's files, if any.
    pub fn not_ready(&self) -> Option<ProgramError> {
        let (first, more) = self.problems.split_first()?;
        let (program, first) = (self.name.clone(), Box::new(first.clone()));
        Some(ProgramError::NotReady { program, first, more: more.len() })
    }
}
