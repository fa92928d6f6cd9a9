//! `demo`: runs recorded models against real tests in a temporary folder.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use tdd_agents::models::RoleModels;
use tdd_core::commit::Trailers;
use tdd_core::cycle::Phase;
use tdd_core::digest::CommitId;
use tdd_exec::error::WorkError;
use tdd_exec::git::Repo;

use crate::commands::run::show;
use crate::commands::{doctor, init};
use crate::context::Context;
use crate::error::CliError;
use crate::machine;
use crate::output::{BOLD, DIM, WARN, paint, print_line};
use tdd_core::machine::{End, Mandate, Order};
use tdd_exec::project;

/// See a whole run: recorded models, real tests, no network, no key
///
/// Sets up a small project in a temporary folder and builds a kata there, step by step. The models' words
/// come from a recording; everything else happens: the gates judge, the tests are built and run, every kept
/// step becomes a commit. The folder stays, for you to look around in.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tdd-cli demo\n  tdd-cli demo bowling                  models that try to cheat\n  tdd-cli demo --language python        the same in another language\n  mkdir look && tdd-cli -C look demo    in a folder of your choice, which must be empty"
)]
pub struct Demo {
    /// What is built; each kata is recorded in one language
    #[arg(value_enum)]
    kata: Option<Kata>,
    /// The language to see
    #[arg(long, value_name = "L", value_parser = init::known_languages())]
    language: Option<String>,
}

/// The katas that are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kata {
    /// Adds up the numbers in a text: three careful models
    StringCalculator,
    /// Scores a game: models that try to cheat, and how they are caught
    Bowling,
    /// Spells numbers the Roman way: a table grows out of special cases
    RomanNumerals,
    /// Says numbers as children do: an implementor who would rather change the rules, in Python
    FizzBuzz,
    /// Calculates without brackets: an implementor who changes assertions, in JavaScript
    ReversePolish,
    /// Tells leap years: a table that grows row by row, in Go
    LeapYears,
}

/// The files of a recorded kata.
struct Recording {
    name: &'static str,
    language: &'static str,
    /// What the demo shows, printed at its start.
    about: &'static str,
    kata: &'static str,
    cassette: &'static str,
}

/// A recording from the files in `katas/<name>/`.
macro_rules! recording {
    ($name:literal, $language:literal, $about:literal) => {
        Recording {
            name: $name,
            language: $language,
            about: $about,
            kata: include_str!(concat!("../../katas/", $name, "/kata.md")),
            cassette: include_str!(concat!("../../katas/", $name, "/cassette.jsonl")),
        }
    };
}

impl Recording {
    /// Whether it shows this language or one of its dialects.
    fn is_in(&self, language: &str) -> bool {
        let dialects = tdd_lang::named(self.language).map(|own| own.dialects()).unwrap_or_default();
        self.language == language || dialects.iter().any(|dialect| dialect.name() == language)
    }
}

impl Kata {
    fn recording(self) -> Recording {
        match self {
            Self::StringCalculator => {
                recording!("string-calculator", "rust", "The models work carefully; one of them makes a mistake.")
            }
            Self::Bowling => {
                recording!("bowling", "rust", "The models try to cheat; watch them fail.")
            }
            Self::RomanNumerals => {
                recording!("roman-numerals", "rust", "A table grows out of three special cases.")
            }
            Self::FizzBuzz => {
                recording!("fizz-buzz", "python", "An implementor would rather change the rules than do the work.")
            }
            Self::ReversePolish => {
                recording!("reverse-polish", "javascript", "An implementor tries to change assertions instead of code.")
            }
            Self::LeapYears => {
                recording!("leap-years", "go", "A table grows row by row; an implementor tries to get round it.")
            }
        }
    }

    /// The kata to suggest next.
    fn next(self) -> Self {
        match self {
            Self::StringCalculator => Self::Bowling,
            Self::Bowling => Self::RomanNumerals,
            Self::RomanNumerals => Self::FizzBuzz,
            Self::FizzBuzz => Self::ReversePolish,
            Self::ReversePolish => Self::LeapYears,
            Self::LeapYears => Self::StringCalculator,
        }
    }

    /// The kata named in the arguments, or the first one in the language.
    fn asked_for(args: &Demo) -> Result<Self, CliError> {
        let speaks = |kata: Self| args.language.as_deref().is_none_or(|language| kata.recording().is_in(language));
        let all = || Self::value_variants().iter().copied();
        let found = all().filter(|kata| args.kata.is_none_or(|wanted| wanted == *kata)).find(|kata| speaks(*kata));
        found.ok_or_else(|| {
            let of_language: Vec<_> = all().filter(|kata| speaks(*kata)).map(|kata| kata.recording().name).collect();
            CliError::NotRecorded {
                language: args.language.clone().unwrap_or_default(),
                katas: of_language.join("`, `"),
            }
        })
    }
}

pub fn run(args: &Demo, context: &Context) -> Result<ExitCode, CliError> {
    let kata = Kata::asked_for(args)?;
    let recording = kata.recording();
    if let Some(language) = args.language.as_deref().filter(|language| *language != recording.language) {
        let own = recording.language;
        context
            .output
            .note(format_args!("note: nothing is recorded in {language}; this is {own}, which is run the same way"));
    }
    doctor::require_tools(recording.language, &std::env::temp_dir(), context)?;
    let folder = folder(&recording, context)?;
    let inside = context.inside(&folder);
    init::for_demo(recording.name, recording.language, recording.kata, &inside).inspect_err(|_| {
        // The user has not seen this folder's path yet.
        if context.global.dir.is_none() {
            let _removed = std::fs::remove_dir_all(&folder);
        }
    })?;
    begin(&recording, &folder, &inside)?;
    let config = project::configuration(&inside.user_paths, &folder)?.config;
    let order = Order { steps: None, until_done: true, max_time: None, allow_untracked: false, cycle: false };
    let end = machine::run(&inside, order, Mandate::default(), RoleModels::replayed(recording.cassette, &config)?)?;
    tell(&end, &recording, &inside)?;
    finish(kata, &folder, &inside)?;
    Ok(ExitCode::from(end.exit_code()))
}

/// The folder named by `-C`, which must be empty, or a new temporary one.
fn folder(recording: &Recording, context: &Context) -> Result<PathBuf, CliError> {
    if context.global.dir.is_some() {
        let folder = project::folder(&context.user_paths)?;
        return if init::is_empty(&folder) { Ok(folder) } else { Err(CliError::NotEmpty(folder)) };
    }
    let made = tempfile::Builder::new().prefix(&format!("tdd-{}-", recording.name)).tempdir();
    let made = made.and_then(|made| made.keep().canonicalize());
    made.map_err(|source| CliError::NoTemporary { path: std::env::temp_dir(), source })
}

fn begin(recording: &Recording, folder: &Path, context: &Context) -> Result<(), CliError> {
    let output = context.output;
    if output.is_json() {
        output.note(format_args!("the project is in {}", folder.display()));
        return Ok(());
    }
    if output.is_quiet() {
        return Ok(());
    }
    print_line(&format!("{} in {}", paint(BOLD, format_args!("demo: {}", recording.name)), folder.display()))?;
    print_line(
        "Three roles take turns: a tester writes a failing test, an implementor makes it pass, a refactorer\n\
         improves the code. The models' answers are recorded; tests, checks and commits are real. An attempt\n\
         that breaks a rule is refused before it is written; one that fails its tests is undone.",
    )?;
    print_line(&format!("{}\n", recording.about))
}

/// Prints how the demo ended. An interrupted demo cannot be resumed, only started again.
fn tell(end: &End, recording: &Recording, context: &Context) -> Result<(), CliError> {
    if *end != End::Interrupted || context.output.is_json() {
        return show(end, context);
    }
    print_line(&paint(WARN, end.reason()))?;
    print_line(&format!("{} `tdd-cli demo {}` begins again", paint(BOLD, "next:"), recording.name))
}

/// Prints the history, the folder, and commands to try next.
fn finish(kata: Kata, folder: &Path, context: &Context) -> Result<(), CliError> {
    let output = context.output;
    if output.is_json() || output.is_quiet() {
        return Ok(());
    }
    let repo = Repo::discover(folder)?.ok_or_else(|| WorkError::NoRepository(folder.to_owned()))?;
    let history = repo.first_parent_messages(usize::MAX)?.collect::<Result<Vec<_>, _>>()?;
    print_line(&format!("\n{}", paint(BOLD, "what git has")))?;
    for (commit, message) in &history {
        let subject = message.lines().next().unwrap_or_default();
        print_line(&format!("  {} {subject}", paint(DIM, commit.short())))?;
    }
    print_line(&format!("\n{}", paint(BOLD, "where to look next")))?;
    for (command, why) in looks(kata, folder, &history) {
        print_line(&format!("  {command}\n      {}", paint(DIM, why)))?;
    }
    print_line(&format!("\nThe folder stays until you delete it: {}", folder.display()))
}

/// Commands to try next, each with a description.
fn looks(kata: Kata, folder: &Path, history: &[(CommitId, String)]) -> Vec<(String, &'static str)> {
    let program = std::env::args().next().unwrap_or_else(|| "tdd-cli".to_owned());
    let folder = folder.display();
    let here = format!("{program} -C {folder}");
    let next = kata.next().recording();
    let mut looks = vec![
        (format!("{here} status"), "where the project stands"),
        (format!("{here} log"), "all that the machine saw, in order"),
        (format!("git -C {folder} log --patch --reverse"), "the code, step by step, each with its reasons"),
    ];
    if let Some((commit, test)) = last_green(history) {
        let again = format!("{here} validate-green --at {} {test}", commit.short());
        looks.push((again, "judge a step once more, in a clean copy"));
    }
    looks.push((format!("{program} demo {}", next.name), next.about));
    looks.push((
        format!("mkdir mine && {program} -C mine init"),
        "your own: say in kata.md what to build, in tdd.yaml which models; then `doctor`, then `run`",
    ));
    looks
}

/// The newest green commit, with its test.
fn last_green(history: &[(CommitId, String)]) -> Option<(&CommitId, String)> {
    history.iter().find_map(|(commit, message)| {
        let trailers = Trailers::parse(message);
        let is_green = trailers.get("TDD-Phase") == Some(Phase::Green.name());
        trailers.get("TDD-Test").filter(|_| is_green).map(|test| (commit, test.to_owned()))
    })
}
