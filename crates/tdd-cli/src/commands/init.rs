//! `init`: adds the files that a test-driven project needs, and changes no existing file.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use clap::builder::PossibleValuesParser;
use serde::Serialize;
use tdd_core::command::quote;
use tdd_core::config::Config;
use tdd_core::digest::CommitId;
use tdd_exec::error::WorkError;
use tdd_exec::git::Repo;
use tdd_exec::setup::{self, Fresh, SetUp, is_missing};
use tdd_exec::sources::TreeSources;
use tdd_exec::text;
use tdd_lang::discover::{self, DiscoveredProject};
use tdd_lang::language::{Language, Sources};

use crate::context::Context;
use crate::error::CliError;
use crate::kata;
use crate::output::{BOLD, DIM, GOOD, paint};
use tdd_exec::project;

/// Set up a project: git repository, scaffold, kata and configuration
///
/// In an empty folder everything is made and committed. In an existing project only what is missing is
/// added; no existing file is changed, and only what was added is committed, in your name as git knows it.
/// Running it twice does no harm. The gates work without it.
#[derive(Debug, Default, Args)]
#[command(
    after_help = "Examples:\n  mkdir bowling && cd bowling && tdd-cli init\n  tdd-cli init --kata ~/katas/bowling.md\n  tdd-cli -C existing-project init\n  tdd-cli init --gates-only --no-commit    a configuration for your own TDD, to be reviewed first"
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
    /// Add only what the gates need: no kata, no models, and no scaffold beside files of yours
    #[arg(long, conflicts_with = "kata")]
    gates_only: bool,
    /// Commit nothing, and say what to commit
    #[arg(long)]
    no_commit: bool,
}

/// The languages that `init` supports.
pub fn known_languages() -> PossibleValuesParser {
    PossibleValuesParser::new(tdd_lang::names())
}

/// What `init` did.
#[derive(Debug, Serialize)]
struct Outcome {
    root: PathBuf,
    language: &'static str,
    /// New files.
    created: Vec<String>,
    /// Existing files, left unchanged.
    kept: Vec<String>,
    commit: Option<CommitId>,
    /// Files that are left to commit.
    uncommitted: Vec<String>,
    kata: Option<String>,
    /// Projects that were found and written to the configuration.
    projects: Vec<String>,
    /// Git has no user name.
    #[serde(skip)]
    nameless: bool,
}

pub fn run(args: &Init, context: &Context) -> Result<ExitCode, CliError> {
    let outcome = set_up(args, named(args, context)?, context)?;
    let next = match (&args.kata, &outcome.kata) {
        (Some(_), _) => "`tdd-cli doctor`, then `tdd-cli run`".to_owned(),
        (None, Some(kata)) => format!("say in `{kata}` what to build, then `tdd-cli doctor`"),
        (None, None) => "write a test that fails, then `tdd-cli check`".to_owned(),
    };
    outcome.note_author(context);
    let shown = || format!("{}{}\nnext: {next}\n", outcome.text(), outcome.end());
    context.output.result_or(&outcome, shown, || outcome.end());
    Ok(ExitCode::SUCCESS)
}

/// Sets up an empty folder for a run and prints what was created.
pub fn for_run(kata: &Path, context: &Context) -> Result<(), CliError> {
    let args = Init { kata: Some(kata.to_owned()), ..Init::default() };
    let outcome = set_up(&args, named(&args, context)?, context)?;
    outcome.note_author(context);
    context.output.note((outcome.text() + &outcome.end()).trim_end());
    Ok(())
}

/// Sets up an empty folder for a built-in kata, without output.
pub fn for_demo(name: &str, language: &str, kata: &str, context: &Context) -> Result<(), CliError> {
    let args = Init { language: Some(language.to_owned()), name: Some(name.to_owned()), ..Init::default() };
    set_up(&args, Some(Kata { inside: None, text: kata.to_owned() }), context)?;
    Ok(())
}

/// The kata file named in the arguments.
fn named(args: &Init, context: &Context) -> Result<Option<Kata>, CliError> {
    let folder = project::folder(&context.user_paths)?;
    args.kata.as_deref().map(|path| Kata::read(path, &folder)).transpose()
}

fn set_up(args: &Init, kata: Option<Kata>, context: &Context) -> Result<Outcome, CliError> {
    let folder = project::folder(&context.user_paths)?;
    let (repo, fresh) = repository(&folder, context)?;
    Plan::make(args, context, &repo, kata)?.carry_out(args, &repo, fresh)
}

/// The repository whose root is this folder, or a new one if the folder is empty.
fn repository(folder: &Path, context: &Context) -> Result<(Repo, Option<Fresh>), CliError> {
    match Repo::discover(folder)? {
        Some(repo) if repo.root() == folder => Ok((repo, None)),
        Some(outer) if !is_empty(folder) => {
            Err(CliError::NotTheRoot { folder: folder.to_owned(), root: outer.root().to_owned() })
        }
        Some(outer) => {
            let root = outer.root().display();
            context.output.note(format_args!("note: this folder, inside the repository `{root}`, gets its own"));
            fresh(folder)
        }
        None => fresh(folder),
    }
}

fn fresh(folder: &Path) -> Result<(Repo, Option<Fresh>), CliError> {
    let (repo, fresh) = Fresh::make(folder)?;
    Ok((repo, Some(fresh)))
}

/// Whether a folder has nothing in it.
pub fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

/// The kata of the project.
#[derive(Debug)]
struct Kata {
    /// Its path inside the project, if it is there.
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

/// The files to add.
#[derive(Debug)]
struct Plan {
    language: &'static str,
    kata: Option<String>,
    /// The user named an existing kata, which belongs into the commit.
    kata_is_there: bool,
    files: BTreeMap<String, String>,
    config: Config,
    /// The projects that a new configuration names.
    projects: Vec<DiscoveredProject>,
}

impl Plan {
    fn make(args: &Init, context: &Context, repo: &Repo, kata: Option<Kata>) -> Result<Self, CliError> {
        let loaded = project::configuration(&context.user_paths, repo.root())?;
        let sources = TreeSources::new(repo.root(), repo.files()?);
        let language = match &args.language {
            Some(name) => project::language(name, &loaded.config.ci)?,
            None => project::language_of(&loaded.config, &sources, &sources)?,
        };
        let mut files = BTreeMap::new();
        if language.detect(&sources).is_none() {
            refuse_other_languages(args, language.as_ref(), &sources)?;
            refuse_unusable_manifest(repo.root(), language.manifest())?;
            if args.gates_only && !sources.files().is_empty() {
                return Err(WorkError::NoProject(repo.root().to_owned()).into());
            }
            files = language.scaffold(&package_name(args, language.as_ref(), repo.root()));
        }
        let kata_is_there = kata.as_ref().is_some_and(|kata| kata.inside.is_some());
        let kata = if args.gates_only { None } else { Some(kata_file(&loaded, repo.root(), kata)?) };
        let projects = found(args, &loaded.config, &sources);
        let kata_path = kata.as_ref().map(|(path, _)| path.clone());
        let config = default_config(kata_path.as_deref(), &stack(language.as_ref(), &projects));
        files.insert("tdd.yaml".to_owned(), config);
        files.extend(kata);
        Ok(Self { language: language.name(), kata: kata_path, kata_is_there, files, config: loaded.config, projects })
    }

    fn carry_out(self, args: &Init, repo: &Repo, fresh: Option<Fresh>) -> Result<Outcome, CliError> {
        let person = repo.person();
        let nameless = person.is_none() && !args.no_commit;
        let author = (!args.no_commit).then(|| person.unwrap_or_else(|| self.config.commit.clone()));
        let new = SetUp { files: self.files, besides: self.kata.clone().filter(|_| self.kata_is_there), author };
        let added = match setup::set_up(new, repo, fresh)? {
            setup::Outcome::Done(added) => added,
            setup::Outcome::Refused(reason) => return Err(CliError::InTheWay(reason)),
            setup::Outcome::PersonChanged(paths) => return Err(CliError::person_changed(&paths)),
        };
        let setup::Added { created, kept, commit, uncommitted } = added;
        let projects = self.projects.into_iter().filter(|_| created.iter().any(|path| path == "tdd.yaml"));
        let projects = projects.map(|project| project.root).collect();
        let root = repo.root().to_owned();
        Ok(Outcome {
            root,
            language: self.language,
            created,
            kept,
            commit,
            uncommitted,
            kata: self.kata,
            projects,
            nameless,
        })
    }
}

const NAMELESS: &str = "note: git has no name for you, so the machine signed the commit; \
                        `git config --global user.name` and `user.email` set one";

/// Refuses to scaffold beside the code of an unsupported language, unless `--language` is given.
fn refuse_other_languages(args: &Init, language: &dyn Language, sources: &TreeSources) -> Result<(), CliError> {
    let found = discover::foreign_code(language, sources).filter(|_| args.language.is_none());
    found.map_or(Ok(()), |path| Err(CliError::OtherLanguage(path.to_owned())))
}

/// Refuses a manifest that exists but was not detected: a broken link, a folder or an ignored file.
fn refuse_unusable_manifest(root: &Path, manifest: &'static str) -> Result<(), CliError> {
    if is_missing(root, manifest) { Ok(()) } else { Err(CliError::UnusableManifest(manifest)) }
}

fn package_name(args: &Init, language: &dyn Language, root: &Path) -> String {
    let folder = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    language.package_name(args.name.as_deref().unwrap_or(&folder))
}

/// The path of the kata, and its text if it must be created.
fn kata_file(loaded: &project::Loaded, root: &Path, kata: Option<Kata>) -> Result<(String, String), CliError> {
    let configured = loaded.config.kata_description.to_string();
    let path = match kata.as_ref().and_then(|kata| kata.inside.clone()) {
        Some(requested) if loaded.path.is_some() && requested != configured => {
            return Err(CliError::OtherKata { configured, requested });
        }
        Some(requested) => requested,
        None => configured,
    };
    let text = kata.filter(|kata| kata.inside.is_none()).map(|kata| kata.text);
    refuse_to_replace(root, &path, text.as_deref())?;
    Ok((path, text.unwrap_or_else(|| kata::PLACEHOLDER.to_owned())))
}

/// Refuses to replace a kata with different content.
fn refuse_to_replace(root: &Path, path: &str, wanted: Option<&str>) -> Result<(), CliError> {
    let Some(wanted) = wanted else { return Ok(()) };
    let is_same = || text::read(&root.join(path), kata::MAX_KATA).is_ok_and(|there| there == wanted);
    if is_missing(root, path) || is_same() { Ok(()) } else { Err(CliError::KataExists(path.to_owned())) }
}

/// The projects of a repository that has several and none in its root.
fn found(args: &Init, config: &Config, sources: &TreeSources) -> Vec<DiscoveredProject> {
    let is_decided = args.language.is_some() || config.language.is_some() || !config.projects.is_empty();
    let found = if is_decided { Vec::new() } else { discover::projects(sources) };
    if found.len() > 1 { found } else { Vec::new() }
}

/// The configuration's lines about language and commands.
struct Stack {
    language: String,
    commands: String,
}

fn stack(language: &dyn Language, projects: &[DiscoveredProject]) -> Stack {
    if projects.is_empty() {
        let language_line = format!("language: \"{}\"\n", language.name());
        return Stack { language: language_line, commands: format!("ci:\n{}", language.configured_commands()) };
    }
    Stack { language: String::new(), commands: project::lines(projects) }
}

/// A configuration that spells out the defaults; without a kata, only the part that the gates need.
fn default_config(kata: Option<&str>, Stack { language, commands }: &Stack) -> String {
    let Some(kata) = kata else {
        return format!("# How the gates run the tests; `tdd-cli doctor` checks this file.\n{language}\n{commands}");
    };
    // A JSON string is also a YAML string.
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
    fn note_author(&self, context: &Context) {
        if self.nameless && self.commit.is_some() {
            context.output.note(NAMELESS);
        }
    }

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
        text
    }

    fn end(&self) -> String {
        match &self.commit {
            Some(commit) => format!("committed {}\n", paint(BOLD, commit.short())),
            None if !self.uncommitted.is_empty() => {
                let paths: Vec<String> = self.uncommitted.iter().map(|path| quote(path)).collect();
                format!("nothing is committed: `git add {} && git commit`\n", paths.join(" "))
            }
            None if self.created.is_empty() => "nothing was missing\n".to_owned(),
            None => "nothing was left to commit\n".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_that_init_writes_is_valid_and_says_the_defaults() {
        for language in tdd_lang::languages() {
            let config =
                Config::parse(&default_config(Some("my \"kata\".md"), &stack(language.as_ref(), &[]))).unwrap();
            let defaults = Config::default();
            assert_eq!(config.kata_description.as_str(), "my \"kata\".md");
            assert_eq!((config.steps, config.commit), (defaults.steps, defaults.commit));
            assert_eq!(config.language.as_deref(), Some(language.name()));
            let gates = Config::parse(&default_config(None, &stack(language.as_ref(), &[]))).unwrap();
            assert_eq!((gates.ci, gates.language.as_deref()), (config.ci, Some(language.name())));
        }
    }
}
