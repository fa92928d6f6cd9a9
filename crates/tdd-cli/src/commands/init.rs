//! `init`: adds what a test-driven project needs, and nothing that is there already.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use clap::builder::PossibleValuesParser;
use serde::Serialize;
use tdd_core::commit::{self, CommitType};
use tdd_core::config::Config;
use tdd_core::digest::CommitId;
use tdd_core::event::{Committed, Event};
use tdd_core::gate::{self, Verdict};
use tdd_core::seam::{Clock, Ledger, NewCommit, Vcs, Workspace as _};
use tdd_exec::clock::WallClock;
use tdd_exec::git::{GitPath, Head, Repo};
use tdd_exec::ledger::LedgerFile;
use tdd_exec::sources::TreeSources;
use tdd_exec::state::StateDir;
use tdd_exec::text;
use tdd_exec::workspace::{Workspace, Written};
use tdd_lang::discover::{self, Found};
use tdd_lang::language::{Language, Sources};

use crate::begun::{Begun, is_missing};
use crate::context::Context;
use crate::error::CliError;
use crate::kata;
use crate::output::{BOLD, DIM, GOOD, paint};
use tdd_exec::project;

/// Set up a project: git repository, scaffold, kata and configuration
///
/// In an empty folder everything is made and committed. In an existing project only what is missing is
/// added; no existing file is changed, and only what was added is committed. Running it twice does no harm.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  mkdir bowling && cd bowling && tdd-cli init\n  tdd-cli init --kata ~/katas/bowling.md\n  tdd-cli -C existing-project init"
)]
pub struct Init {
    /// The language of a new project
    #[arg(long, value_name = "L", value_parser = known_languages())]
    language: Option<String>,
    /// The Markdown file that says what to build; one from elsewhere is copied to `kata.md`
    #[arg(long, value_name = "FILE")]
    kata: Option<PathBuf>,
    /// The name of a new package; by default the folder's name, made legal
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

/// The languages that a project can be set up in.
pub fn known_languages() -> PossibleValuesParser {
    PossibleValuesParser::new(tdd_lang::names())
}

/// What was done.
#[derive(Debug, Serialize)]
struct Outcome {
    root: PathBuf,
    language: &'static str,
    /// Files that were not there.
    created: Vec<String>,
    /// Files that were there and stay as they are.
    kept: Vec<String>,
    commit: Option<CommitId>,
    kata: String,
    /// The projects that were found and named in the configuration.
    projects: Vec<String>,
}

pub fn run(args: &Init, context: &Context) -> Result<ExitCode, CliError> {
    let outcome = set_up(args, named(args, context)?, context)?;
    let next = match &args.kata {
        Some(_) => "`tdd-cli doctor`, then `tdd-cli run`".to_owned(),
        None => format!("say in `{}` what to build, then `tdd-cli doctor`", outcome.kata),
    };
    context.output.result(&outcome, || format!("{}\nnext: {next}\n", outcome.text()))?;
    Ok(ExitCode::SUCCESS)
}

/// Sets an empty folder up for a run, and says so.
pub fn for_run(kata: &Path, context: &Context) -> Result<(), CliError> {
    let args = Init { language: None, kata: Some(kata.to_owned()), name: None };
    let outcome = set_up(&args, named(&args, context)?, context)?;
    context.output.note(outcome.text().trim_end());
    Ok(())
}

/// Sets an empty folder up for a kata that is no file, without a word.
pub fn for_demo(name: &str, language: &str, kata: &str, context: &Context) -> Result<(), CliError> {
    let args = Init { language: Some(language.to_owned()), kata: None, name: Some(name.to_owned()) };
    set_up(&args, Some(Kata { inside: None, text: kata.to_owned() }), context)?;
    Ok(())
}

/// The kata that was named.
fn named(args: &Init, context: &Context) -> Result<Option<Kata>, CliError> {
    let folder = project::folder(&context.place)?;
    args.kata.as_deref().map(|path| Kata::read(path, &folder)).transpose()
}

fn set_up(args: &Init, kata: Option<Kata>, context: &Context) -> Result<Outcome, CliError> {
    let folder = project::folder(&context.place)?;
    let (repo, fresh) = repository(&folder, context)?;
    let plan = Plan::make(args, context, &repo, kata)?;
    plan.carry_out(&repo, fresh)
}

/// The repository to set up: the one whose root the folder is, or a new one in an empty folder.
fn repository(folder: &Path, context: &Context) -> Result<(Repo, Option<Fresh>), CliError> {
    match Repo::discover(folder)? {
        Some(repo) if repo.root() == folder => Ok((repo, None)),
        Some(outer) if !is_empty(folder) => {
            Err(CliError::NotTheRoot { folder: folder.to_owned(), root: outer.root().to_owned() })
        }
        Some(outer) => {
            let root = outer.root().display();
            context.output.note(format_args!("note: inside the repository `{root}`; this folder gets one of its own"));
            Fresh::make(folder)
        }
        None => Fresh::make(folder),
    }
}

/// A repository that was made just now. Unless it is kept it goes again: whoever is refused finds the folder
/// as it was.
#[derive(Debug)]
struct Fresh(Vec<PathBuf>);

impl Fresh {
    fn make(folder: &Path) -> Result<(Repo, Option<Self>), CliError> {
        let missing = [".git", ".tdd"].into_iter().filter(|name| is_missing(folder, name));
        let made = missing.map(|name| folder.join(name)).collect();
        let repo = Repo::init(folder)?;
        Ok((repo, Some(Self(made))))
    }

    fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        for folder in &self.0 {
            // What cannot be removed does no harm: the next `init` uses it.
            let _left = fs::remove_dir_all(folder);
        }
    }
}

/// Whether a folder has nothing in it.
pub fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

/// A kata that the project is set up for.
#[derive(Debug)]
struct Kata {
    /// Where it is inside the project, if it is.
    inside: Option<String>,
    text: String,
}

impl Kata {
    fn read(path: &Path, root: &Path) -> Result<Self, CliError> {
        let text = kata::read(path)?;
        let real = path.canonicalize().ok();
        let inside = real.as_deref().and_then(|real| real.strip_prefix(root).ok());
        Ok(Self { inside: inside.and_then(Path::to_str).map(str::to_owned), text })
    }
}

/// What to add.
#[derive(Debug)]
struct Plan {
    language: &'static str,
    kata: String,
    /// The kata was named by the user and is there: it goes into the commit.
    kata_is_there: bool,
    files: BTreeMap<String, String>,
    config: Config,
    /// The projects that a new configuration names.
    projects: Vec<Found>,
}

impl Plan {
    fn make(args: &Init, context: &Context, repo: &Repo, kata: Option<Kata>) -> Result<Self, CliError> {
        let loaded = project::configuration(&context.place, repo.root())?;
        let sources = TreeSources::new(repo.root(), repo.files()?);
        let language = match &args.language {
            Some(name) => project::language(name, &loaded.config.ci)?,
            None => project::language_of(&loaded.config, &sources, &sources)?,
        };
        let mut files = BTreeMap::new();
        if language.detect(&sources).is_none() {
            refuse_other_languages(args, &sources)?;
            refuse_unusable_manifest(repo.root(), language.manifest())?;
            files = language.scaffold(&package_name(args, language.as_ref(), repo.root()));
        }
        let kata_path = kata_path(&loaded, kata.as_ref())?;
        let kata_is_there = kata.as_ref().is_some_and(|kata| kata.inside.is_some());
        let kata_text = kata.filter(|kata| kata.inside.is_none()).map(|kata| kata.text);
        refuse_to_replace(repo.root(), &kata_path, kata_text.as_deref())?;
        files.insert(kata_path.clone(), kata_text.unwrap_or_else(|| kata::PLACEHOLDER.to_owned()));
        let projects = found(args, &loaded.config, &sources);
        files.insert("tdd.yaml".to_owned(), default_config(&kata_path, &stack(language.as_ref(), &projects)));
        Ok(Self { language: language.name(), kata: kata_path, kata_is_there, files, config: loaded.config, projects })
    }

    fn carry_out(mut self, repo: &Repo, fresh: Option<Fresh>) -> Result<Outcome, CliError> {
        let onto = repo.head()?;
        if self.files.keys().any(|path| is_missing(repo.root(), path)) {
            repo.check_ready_to_commit()?;
        }
        let dir = StateDir::ensure(repo.root())?;
        let mut ledger = LedgerFile::open(&dir, WallClock)?;
        let begun = Begun::begin(&dir, repo.root(), &mut self.files)?;
        let permit = match gate::permit_scaffold(&self.files) {
            Verdict::Permit(permit) => permit,
            Verdict::Refuse(refusal) => return Err(CliError::InTheWay(refusal.reason)),
        };
        match Workspace::open(repo.root())?.write(permit)? {
            Written::Done(_) => {}
            Written::PersonChanged { paths } => return Err(CliError::person_changed(&paths)),
            Written::Refused(refusal) => return Err(CliError::InTheWay(refusal.reason)),
        }
        if let Some(fresh) = fresh {
            fresh.keep();
        }
        let created = begun.created(repo.root());
        let kept = self.files.into_keys().filter(|path| !created.contains(path)).collect();
        let mut commit = None;
        let mut added = created.clone();
        added.extend(self.kata_is_there.then(|| self.kata.clone()));
        if let Some(event) = commit_files(repo, &onto, &added, &self.config)? {
            commit = Some(event.commit.clone());
            ledger.append(&[Event::Committed(event)])?;
        }
        begun.end()?;
        let projects = self.projects.into_iter().filter(|_| created.iter().any(|path| path == "tdd.yaml"));
        let projects = projects.map(|project| project.root).collect();
        let root = repo.root().to_owned();
        Ok(Outcome { root, language: self.language, created, kept, commit, kata: self.kata, projects })
    }
}

/// Commits what is new among these files; those that the project ignores stay uncommitted.
fn commit_files(repo: &Repo, onto: &Head, added: &[String], config: &Config) -> Result<Option<Committed>, CliError> {
    let tree = repo.tree_id()?;
    let mut paths = Vec::new();
    for path in added {
        let path = GitPath::new(path)?;
        let committed = repo.blob(&onto.tree, &path)?.is_some();
        if !committed && !repo.is_ignored(&path)? {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        return Ok(None);
    }
    let message = commit::header(CommitType::Chore, None, "set up the project for test-driven development");
    let paths: Vec<String> = paths.iter().map(ToString::to_string).collect();
    let new = NewCommit {
        onto,
        tree: &tree,
        paths: &paths,
        message: &message,
        author: &config.commit,
        now_ms: WallClock.now_ms(),
    };
    let commit = Vcs::commit(repo, &new)?;
    let subject = message.trim_end().to_owned();
    Ok(Some(Committed { commit, tree: repo.head()?.tree, subject, files: paths }))
}

/// A folder that holds a project of an unknown language does not get one of ours without being asked for.
fn refuse_other_languages(args: &Init, sources: &TreeSources) -> Result<(), CliError> {
    const MANIFESTS: [(&str, &str); 3] = [("go.mod", "Go"), ("pom.xml", "Java"), ("Gemfile", "Ruby")];
    if args.language.is_some() {
        return Ok(());
    }
    let found = MANIFESTS.iter().find(|(manifest, _)| sources.files().iter().any(|file| file == manifest));
    found.map_or(Ok(()), |(_, language)| Err(CliError::OtherLanguage(language)))
}

/// A link that leads away, a folder or an ignored file: a scaffold around it would be no project.
fn refuse_unusable_manifest(root: &Path, manifest: &'static str) -> Result<(), CliError> {
    if is_missing(root, manifest) { Ok(()) } else { Err(CliError::UnusableManifest(manifest)) }
}

fn package_name(args: &Init, language: &dyn Language, root: &Path) -> String {
    let folder = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    language.package_name(args.name.as_deref().unwrap_or(&folder))
}

/// Where the kata is, or will be.
fn kata_path(loaded: &project::Loaded, kata: Option<&Kata>) -> Result<String, CliError> {
    let configured = loaded.config.kata_description.to_string();
    let asked = kata.and_then(|kata| kata.inside.clone());
    match asked {
        Some(asked) if loaded.path.is_some() && asked != configured => Err(CliError::OtherKata { configured, asked }),
        Some(asked) => Ok(asked),
        None => Ok(configured),
    }
}

/// A kata from elsewhere does not replace one that is there.
fn refuse_to_replace(root: &Path, path: &str, wanted: Option<&str>) -> Result<(), CliError> {
    let Some(wanted) = wanted else { return Ok(()) };
    let is_same = || text::read(&root.join(path), kata::MAX_KATA).is_ok_and(|there| there == wanted);
    if is_missing(root, path) || is_same() { Ok(()) } else { Err(CliError::KataExists(path.to_owned())) }
}

/// The projects of a repository that has several and none in its root.
fn found(args: &Init, config: &Config, sources: &TreeSources) -> Vec<Found> {
    let is_decided = args.language.is_some() || config.language.is_some() || !config.projects.is_empty();
    let found = if is_decided { Vec::new() } else { discover::projects(sources) };
    if found.len() > 1 { found } else { Vec::new() }
}

/// What a configuration says of languages and commands.
struct Stack {
    language: String,
    commands: String,
}

fn stack(language: &dyn Language, projects: &[Found]) -> Stack {
    if projects.is_empty() {
        let language_line = format!("language: \"{}\"\n", language.name());
        return Stack { language: language_line, commands: format!("ci:\n{}", language.configured_commands()) };
    }
    Stack { language: String::new(), commands: project::lines(projects) }
}

/// A configuration that says what the defaults are and where to change them.
fn default_config(kata: &str, Stack { language, commands }: &Stack) -> String {
    // A JSON string is a YAML string.
    let kata = serde_json::Value::from(kata);
    format!(
        r#"# What to build, and with what. Every key but `roles` has a default; `tdd-cli doctor` checks this file.
kata_description: {kata}
{language}steps: 20
max_attempts_per_agent: 5

# Any server that speaks the OpenAI protocol. The key, if it needs one, is read from the environment.
llm:
  base_url: "http://localhost:11434/v1"
  api_key_env: "LLM_API_KEY"
roles:
  tester: {{ model: "qwen2.5-coder:7b", temperature: 0.4 }}
  implementor: {{ model: "qwen2.5-coder:7b", temperature: 0.2 }}
  refactorer: {{ model: "qwen2.5-coder:7b", temperature: 0.3 }}

{commands}commit: {{ author_name: "TDD Machine", author_email: "tdd@local" }}
"#
    )
}

impl Outcome {
    fn text(&self) -> String {
        let mut text = String::new();
        for path in &self.created {
            text += &format!("{} {path}\n", paint(GOOD, "created"));
        }
        for path in &self.kept {
            text += &format!("{} {path}\n", paint(DIM, "kept   "));
        }
        if !self.projects.is_empty() {
            let folders: Vec<String> = self.projects.iter().map(|folder| format!("`{folder}`")).collect();
            text += &format!("found {} projects, named in `tdd.yaml`: {}\n", folders.len(), folders.join(", "));
        }
        match &self.commit {
            Some(commit) => text += &format!("committed {}\n", paint(BOLD, commit.short())),
            None if self.created.is_empty() => text += "nothing was missing\n",
            None => text += "nothing was left to commit\n",
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_that_init_writes_is_valid_and_says_the_defaults() {
        for language in tdd_lang::languages() {
            let config = Config::parse(&default_config("my \"kata\".md", &stack(language.as_ref(), &[]))).unwrap();
            let defaults = Config::default();
            assert_eq!(config.kata_description.as_str(), "my \"kata\".md");
            assert_eq!((config.steps, config.commit), (defaults.steps, defaults.commit));
            assert_eq!(config.language.as_deref(), Some(language.name()));
        }
    }
}
