//! Finds the project that a command is about: repository, configuration, language.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tdd_core::command::CommandSpec;
use tdd_core::config::{Ci, Config, MAX_CONFIG, ProjectConfig, TestCommandFor};
use tdd_core::cycle::Position;
use tdd_core::digest::CommitId;
use tdd_core::seam::Vcs;
use tdd_core::session::Session;
use tdd_core::test_id::TestId;
use tdd_lang::discover::{self, DiscoveredProject};
use tdd_lang::language::{CommandFor, Language, Project, Settings, Sources};
use tdd_lang::makefile;
use tdd_lang::other::Other;
use tdd_lang::project_set::{Member, ProjectSet};

use crate::error::WorkError;
use crate::git::{Head, Repo};
use crate::process::{Cancel, Spawner};
use crate::runner::ProjectRunner;
use crate::sources::{StoredSources, TreeSources};
use crate::text::{self, TextError};

/// The folder and configuration file that the user named.
#[derive(Clone, Debug, Default)]
pub struct UserPaths {
    /// The folder; the current one by default.
    pub dir: Option<PathBuf>,
    /// The configuration file; `tdd.yaml` in the repository's root by default.
    pub config: Option<PathBuf>,
}

/// Shows progress on one line, which is cleared when this is dropped.
pub type ProgressLine = Box<dyn Fn(&str)>;

/// What every command needs: a way to stop it, and a way to show progress.
#[derive(Clone)]
pub struct RunControl {
    /// Set when a stop is requested.
    pub cancel: Cancel,
    /// Makes a progress line.
    pub progress: Arc<dyn Fn() -> ProgressLine + Send + Sync>,
}

impl RunControl {
    /// Starts the project's tools.
    pub fn spawner(&self) -> Spawner {
        Spawner::new("/", std::env::vars_os()).with_cancel(self.cancel.clone())
    }
}

/// The configuration, with its file if there is one.
#[derive(Debug)]
pub struct Loaded {
    /// The configuration.
    pub config: Config,
    /// The file.
    pub path: Option<PathBuf>,
}

/// The folder that a command is about: `-C`, or the current one.
pub fn folder(user_paths: &UserPaths) -> Result<PathBuf, WorkError> {
    let folder = user_paths.dir.clone().unwrap_or_else(|| PathBuf::from("."));
    match folder.canonicalize() {
        Ok(path) if path.is_dir() => Ok(path),
        _ => Err(WorkError::NoFolder(folder)),
    }
}

/// The repository around the folder.
pub fn repository(user_paths: &UserPaths) -> Result<Repo, WorkError> {
    let folder = folder(user_paths)?;
    Repo::discover(&folder)?.ok_or(WorkError::NoRepository(folder))
}

/// The commit that the user names.
pub fn commit(repo: &Repo, rev: &str) -> Result<CommitId, WorkError> {
    match repo.resolve(rev)? {
        Some(commit) => Ok(commit),
        None if repo.head()?.commit.is_none() => Err(WorkError::NoCommitYet),
        None => Err(WorkError::NoSuchCommit(rev.to_owned())),
    }
}

/// A path or test id relative to the repository's root. The user may write it relative to their folder, or with `./`; a
/// path that already exists from the root stays as it is.
pub fn relative_to_root(
    user_paths: &UserPaths,
    root: &Path,
    argument: &str,
    is_there: impl Fn(&str) -> bool,
) -> String {
    let (path, name) = argument.split_once("::").map_or((argument, None), |(path, name)| (path, Some(name)));
    if is_there(path) {
        return argument.to_owned();
    }
    let full = user_paths.dir.as_deref().unwrap_or(Path::new(".")).join(path).canonicalize().ok();
    let root = root.canonicalize().ok();
    let below = full.zip(root).and_then(|(full, root)| full.strip_prefix(root).ok().map(ToOwned::to_owned));
    match (below.as_deref().and_then(Path::to_str), name) {
        (Some(path), Some(name)) => format!("{path}::{name}"),
        (Some(path), None) => path.to_owned(),
        (None, _) => argument.to_owned(),
    }
}

/// The test that the user names, relative to their folder; `None` if it is not a test id.
pub fn test(user_paths: &UserPaths, root: &Path, argument: &str) -> Option<TestId> {
    TestId::parse(&relative_to_root(user_paths, root, argument, |path| root.join(path).is_file())).ok()
}

/// The configuration of the project at `root`; without a file, the defaults.
pub fn configuration(user_paths: &UserPaths, root: &Path) -> Result<Loaded, WorkError> {
    let path = user_paths.config.clone().unwrap_or_else(|| root.join("tdd.yaml"));
    let limit = u64::try_from(MAX_CONFIG).unwrap_or(u64::MAX);
    let text = match text::read(&path, limit) {
        Ok(text) => text,
        Err(TextError::Missing(_)) if user_paths.config.is_none() => {
            return Ok(Loaded { config: Config::default(), path: None });
        }
        Err(error) => return Err(WorkError::ConfigFile(error)),
    };
    let config = Config::parse(&text).map_err(|source| WorkError::Config { path: path.clone(), source })?;
    Ok(Loaded { config, path: Some(path) })
}

/// The language with this name; an unknown name is accepted if the tests write a JUnit report.
pub fn language(name: &str, ci: &Ci) -> Result<Box<dyn Language>, WorkError> {
    let known = tdd_lang::named(name);
    known.or_else(|| other(ci)).ok_or(WorkError::UnknownLanguage)
}

fn other(ci: &Ci) -> Option<Box<dyn Language>> {
    ci.junit.is_some().then(|| Box::new(Other) as Box<dyn Language>)
}

/// The language of a repository: that of the configured projects, else the configured one, else that of the discovered
/// projects, else the default.
///
/// Projects found in `before`, the base of a change, stay: a change can add projects but remove none.
pub fn language_of(
    config: &Config,
    before: &dyn Sources,
    sources: &dyn Sources,
) -> Result<Box<dyn Language>, WorkError> {
    if !config.projects.is_empty() {
        return configured_projects(config, sources);
    }
    if let Some(name) = config.language.as_deref() {
        return language(name, &config.ci);
    }
    if !has_commands(&config.ci)
        && let Some(language) = found(&config.ci, &discover::projects_before_and_after(before, sources), sources)?
    {
        return Ok(language);
    }
    tdd_lang::detect(before)
        .or_else(|| tdd_lang::detect(sources))
        .or_else(|| other(&config.ci))
        .or_else(|| tdd_lang::languages().into_iter().next())
        .ok_or(WorkError::UnknownLanguage)
}

/// Whether commands are configured for the whole repository, which means that it is one project.
fn has_commands(ci: &Ci) -> bool {
    let commands = [&ci.test_cmd, &ci.check_cmd, &ci.fmt_cmd];
    commands.iter().any(|command| command.is_some()) || ci.junit.is_some() || !ci.test_command_for.is_empty()
}

/// The discovered projects, as if they were configured. A single project at its usual place is not wrapped.
fn found(ci: &Ci, found: &[DiscoveredProject], sources: &dyn Sources) -> Result<Option<Box<dyn Language>>, WorkError> {
    if found.len() > discover::MAX_PROJECTS {
        return Err(WorkError::TooManyProjects(found.len()));
    }
    let one = |project: &DiscoveredProject| {
        let language = tdd_lang::named(project.language)?;
        let present = discover::is_in(project, sources);
        Some(member(&project.root, language, ci, present, sources))
    };
    if let [only] = found
        && let Some(language) = tdd_lang::named(only.language)
        && language.detect(sources).is_none_or(|project| project.root == only.root)
    {
        return Ok(Some(language));
    }
    let members: Vec<Member> = found.iter().filter_map(one).collect();
    Ok((!members.is_empty()).then(|| Box::new(ProjectSet::new(members)) as Box<dyn Language>))
}

/// The paths of a change that alter which projects are discovered; empty if projects or a language are configured.
pub fn paths_deciding_projects<'p>(
    config: &Config,
    before: &dyn Sources,
    after: &dyn Sources,
    paths: &'p [String],
) -> Vec<&'p str> {
    let is_found = config.projects.is_empty() && config.language.is_none();
    if is_found { discover::paths_deciding_projects(before, after, paths) } else { Vec::new() }
}

fn configured_projects(config: &Config, sources: &dyn Sources) -> Result<Box<dyn Language>, WorkError> {
    let one = |project: &ProjectConfig| {
        let ci = config.ci_of(project);
        Ok(member(&project.path, language(&project.language, &ci)?, &ci, /* present */ true, sources))
    };
    Ok(Box::new(ProjectSet::new(config.projects.iter().map(one).collect::<Result<_, WorkError>>()?)))
}

fn member(root: &str, language: Box<dyn Language>, ci: &Ci, present: bool, sources: &dyn Sources) -> Member {
    let project = Project { root: root.to_owned(), description: String::new() };
    let settings = makefile::read_through(language.as_ref(), &project, of_ci(ci), sources);
    Member { root: project.root, language: language.into(), settings, present }
}

/// The error if there is nothing to test; it names a Makefile with a `test` target if there is one.
pub fn no_project(root: &Path, sources: &dyn Sources) -> WorkError {
    match makefile::with_target("", "test", sources) {
        Some(makefile) => WorkError::OnlyMakefile { root: root.to_owned(), makefile },
        None => WorkError::NoProject(root.to_owned()),
    }
}

/// The projects whose tests are run, configured or discovered.
pub fn known(
    config: &Config,
    language: &dyn Language,
    project: &Project,
    sources: &dyn Sources,
) -> Vec<DiscoveredProject> {
    let projects = multiple_projects(config, sources);
    let only = DiscoveredProject { root: project.root.clone(), language: language.name() };
    if projects.is_empty() { vec![only] } else { projects }
}

/// The projects of a repository that has several; otherwise empty.
pub fn multiple_projects(config: &Config, sources: &dyn Sources) -> Vec<DiscoveredProject> {
    let named = |project: &ProjectConfig| {
        let language = tdd_lang::named(&project.language).map_or("other", |language| language.name());
        DiscoveredProject { root: project.path.clone(), language }
    };
    if !config.projects.is_empty() {
        return config.projects.iter().map(named).collect();
    }
    let is_decided = config.language.is_some() || has_commands(&config.ci);
    let found = if is_decided { Vec::new() } else { discover::projects(sources) };
    if found.len() > 1 { found } else { Vec::new() }
}

/// The lines of a configuration that list these projects.
pub fn lines<'f>(projects: impl IntoIterator<Item = &'f DiscoveredProject>) -> String {
    let line = |project: &DiscoveredProject| {
        // A JSON string is a YAML string.
        let path = serde_json::Value::from(if project.root.is_empty() { "." } else { &project.root });
        format!("  - {{ path: {path}, language: {} }}\n", project.language)
    };
    format!("projects:\n{}", projects.into_iter().map(line).collect::<String>())
}

/// A project in its working folder.
pub struct Workbench {
    /// The repository.
    pub repo: Repo,
    /// The project's language.
    pub language: Box<dyn Language>,
    /// The project's location.
    pub project: Project,
    /// The repository's files.
    pub sources: TreeSources,
    /// The project's commands.
    pub settings: Settings,
    /// The configuration.
    pub config: Config,
}

impl Workbench {
    /// Gathers everything needed to run the project's tools.
    pub fn open(user_paths: &UserPaths) -> Result<Self, WorkError> {
        let repo = repository(user_paths)?;
        let config = configuration(user_paths, repo.root())?.config;
        let sources = TreeSources::new(repo.root(), repo.files()?);
        let language = language_of(&config, &StoredSources::new(&repo, &repo.head()?.tree)?, &sources)?;
        let project = language.detect(&sources).ok_or_else(|| no_project(repo.root(), &sources))?;
        let settings = settings(&config, language.as_ref(), &project, &sources);
        Ok(Self { repo, language, project, sources, settings, config })
    }

    /// Starts the project's tools.
    pub fn spawner(&self, control: &RunControl) -> Spawner {
        control.spawner().with_root(self.repo.root())
    }

    /// Runs the project's tools.
    pub fn runner<'a>(&'a self, spawner: &'a Spawner, progress: &'a dyn Fn(&str)) -> ProjectRunner<'a> {
        ProjectRunner {
            language: self.language.as_ref(),
            project: &self.project,
            settings: &self.settings,
            sources: &self.sources,
            spawner,
            progress,
        }
    }

    /// The test command, as recorded in the ledger.
    pub fn test_command(&self) -> String {
        command_line(tdd_lang::test_words(self.language.as_ref(), &self.settings))
    }
}

/// The position in the history, by HEAD's commits and by a step that ended there without a commit.
pub fn position(repo: &Repo, session: &Session, head: &Head) -> Result<Position, WorkError> {
    Ok(Position::of_history(repo.messages()?).after(session.machine_state().ended(), head.commit.as_ref()))
}

/// A command as one line.
pub fn command_line(argv: Vec<String>) -> String {
    CommandSpec::new(argv, Duration::ZERO).line()
}

/// The project's commands from the configuration, or else from a Makefile. With several projects, each has its own.
pub fn settings(config: &Config, language: &dyn Language, project: &Project, sources: &dyn Sources) -> Settings {
    let settings = of_ci(&config.ci);
    if config.projects.is_empty() {
        makefile::read_through(language, project, settings, sources)
    } else {
        Settings { test_command_for: Vec::new(), ..settings }
    }
}

fn of_ci(ci: &Ci) -> Settings {
    Settings {
        test_cmd: ci.test_cmd.clone(),
        check_cmd: ci.check_cmd.clone(),
        fmt_cmd: ci.fmt_cmd.clone(),
        junit: ci.junit.as_ref().map(|path| path.as_str().to_owned()),
        test_command_for: ci.test_command_for.iter().map(command_for).collect(),
        timeout: Duration::from_secs(ci.timeout_secs.get()),
        build_timeout: Duration::from_secs(ci.build_timeout_secs.get()),
        plain: false,
    }
}

fn command_for(configured: &TestCommandFor) -> CommandFor {
    CommandFor { pattern: configured.pattern.clone(), command: configured.cmd.clone() }
}
