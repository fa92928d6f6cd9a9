//! Lets the machine solve an exercise: our own program in a new repository, with its ledger as the account.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tdd_agents::roster;
use tdd_core::command::{CommandSpec, Exit, Finished};
use tdd_core::config::Config;
use tdd_core::event::{Event, StepOutcome};
use tdd_core::rule::Rule;
use tdd_exec::error::WorkError;
use tdd_exec::git::Repo;
use tdd_exec::ledger;
use tdd_exec::process::{self, Spawner, own_program};
use tdd_exec::setup::{self, Fresh, SetUp};
use tdd_exec::sources::StoredSources;
use tdd_exec::state::StateDir;
use tdd_lang::language::Sources as _;

use crate::error::TrialError;
use crate::evaluation::{Cassettes, Order};
use crate::exercise::Exercise;
use crate::folder::Files;
use crate::score::{self, Score};
use crate::trial::Spent;

/// What a run may take beyond its limit, to end the attempt that it is making.
const GRACE: Duration = Duration::from_mins(5);
/// Bytes of the program's output that are kept.
const OUTPUT: usize = 64 << 10;

/// Rules against models that change the tests, the evidence or the rules instead of solving the exercise.
const CHEATS: [Rule; 6] = [
    Rule::ProtectedPath,
    Rule::SteeringFrozen,
    Rule::TestsFrozen,
    Rule::TestTampering,
    Rule::TestSensing,
    Rule::HardCodedValue,
];

/// Variables without which our program may not reach its servers; tools of projects do not get them.
const PROXIES: [&str; 8] =
    ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"];

/// Runs the machine and judges what it committed.
pub fn solve(exercise: &Exercise, cassette: &str, order: &Order<'_>) -> Result<(Score, Spent, String), TrialError> {
    let folder = score::temporary()?;
    // Canonical, because the repository's root is.
    let root =
        folder.path().canonicalize().map_err(|source| TrialError::Write { path: folder.path().to_owned(), source })?;
    set_up(exercise, &root, order.config)?;
    let finished = run(exercise, &root, cassette, order)?;
    let (spent, reason) = account(&root)?;
    let end = match finished.exit {
        Exit::Interrupted => return Err(TrialError::Interrupted),
        // 0: done; 4: stopped for a person, or the time is over.
        Exit::Passed | Exit::Failed(4) => reason,
        Exit::TimedOut => "killed after its time limit".to_owned(),
        Exit::Failed(130) => return Err(TrialError::Interrupted),
        Exit::Failed(_) | Exit::Signalled(_) | Exit::NotStarted(_) => {
            return Err(TrialError::Machine { exit: finished.exit.to_string(), output: last_lines(&finished) });
        }
    };
    Ok((score::score(exercise, &committed(&root)?, &order.cancel)?, spent, end))
}

fn set_up(exercise: &Exercise, root: &Path, config: &Config) -> Result<(), TrialError> {
    let mut files = exercise.files();
    files.insert(config_kata(), exercise.kata());
    files.insert("tdd.yaml".to_owned(), configuration(exercise.language, config));
    let (repo, fresh) = Fresh::make(root)?;
    let new = SetUp { files, besides: None, author: Some(config.commit.clone()) };
    match setup::set_up(new, &repo, Some(fresh))? {
        setup::Outcome::Done(_) => Ok(()),
        setup::Outcome::Refused(reason) => Err(TrialError::SetUp(reason)),
        setup::Outcome::PersonChanged(paths) => Err(TrialError::SetUp(format!("{} changed", paths.join(", ")))),
    }
}

fn config_kata() -> String {
    Config::default().kata_description.to_string()
}

/// The models and limits of a configuration, for a project of its own. JSON is YAML.
fn configuration(language: &str, config: &Config) -> String {
    let mut wanted = json!({
        "language": language,
        "max_attempts_per_agent": config.max_attempts_per_agent,
        "roles": config.roles,
        "llm": config.llm,
    });
    remove_nulls(&mut wanted);
    format!("{wanted:#}\n")
}

/// A key that is not set is left out, because not every key may be null.
fn remove_nulls(value: &mut Value) {
    if let Value::Object(fields) = value {
        fields.retain(|_, field| !field.is_null());
        fields.values_mut().for_each(remove_nulls);
    }
}

fn run(exercise: &Exercise, root: &Path, cassette: &str, order: &Order<'_>) -> Result<Finished, TrialError> {
    let program = own_program();
    let words =
        [&*program.to_string_lossy(), "-C", &root.to_string_lossy(), "-q", "run", "--until-done"].map(str::to_owned);
    let mut argv = Vec::from(words);
    argv.extend(["--max-minutes".to_owned(), format!("{}", order.max_time.as_secs_f64() / 60.0)]);
    if exercise.has_manifest() {
        // Such a project may not ignore what its tools leave behind.
        argv.push("--allow-untracked".to_owned());
    }
    let cassette = |folder: &Path| folder.join(cassette).to_string_lossy().into_owned();
    match &order.cassettes {
        Cassettes::Replay(folder) => argv.extend(["--replay".to_owned(), cassette(folder)]),
        Cassettes::Record(folder) => {
            // `run --record` appends; this trial is a new one.
            let _none = std::fs::remove_file(cassette(folder));
            argv.extend(["--record".to_owned(), cassette(folder)]);
        }
        Cassettes::None => {}
    }
    let spawner = Spawner::new(root, std::env::vars_os()).with_cancel(order.cancel.clone());
    let mut command = CommandSpec { output_cap: OUTPUT, ..CommandSpec::new(argv, order.max_time + GRACE) };
    let keys = roster::roster(order.config).into_iter().filter_map(|seat| seat.route.ok()?.server.api_key_env);
    for name in keys.chain(PROXIES.map(str::to_owned)) {
        if let Some(value) = (order.vars)(&name) {
            command = command.with_env(name, value);
        }
    }
    Ok(process::run(&spawner, &command)?)
}

/// The last lines of what the program said, with errors last.
fn last_lines(finished: &Finished) -> String {
    let output = finished.stdout.text() + &finished.stderr.text();
    let lines: Vec<&str> = output.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(4)..].join("; ")
}

/// What the ledger says about the run: what it used up, and how it ended.
fn account(root: &Path) -> Result<(Spent, String), TrialError> {
    let mut account = Account::default();
    if let Some(dir) = StateDir::find(root)? {
        for record in ledger::records(&dir)?.into_iter().flatten() {
            account.add(&record?.event);
        }
    }
    Ok((account.spent, account.end))
}

#[derive(Default)]
struct Account {
    spent: Spent,
    end: String,
    /// A refusal by the gate, which also ends the attempt unless the model may go on.
    refused: Option<(u32, u32, Rule)>,
}

impl Account {
    fn add(&mut self, event: &Event) {
        match event {
            Event::LlmCall(call) => {
                self.spent.calls += 1;
                self.spent.prompt_tokens += call.prompt_tokens;
                self.spent.completion_tokens += call.completion_tokens;
            }
            Event::EditRefused(refused) => {
                self.count(refused.rule);
                self.refused = Some((refused.step, refused.attempt, refused.rule));
            }
            Event::Reverted(reverted) => {
                self.spent.attempts += 1;
                let counted = self.refused.take();
                if let Some(rule) = reverted.rule
                    && counted != Some((reverted.step, reverted.attempt, rule))
                {
                    self.count(rule);
                }
            }
            Event::StepEnd(step) => match step.outcome {
                StepOutcome::Kept | StepOutcome::Nothing | StepOutcome::Done => self.spent.attempts += 1,
                StepOutcome::Skipped | StepOutcome::Stopped => {}
            },
            Event::RunEnd(end) => self.end.clone_from(&end.reason),
            _ => {}
        }
    }

    fn count(&mut self, rule: Rule) {
        *self.spent.refusals.entry(rule.name().to_owned()).or_default() += 1;
        self.spent.cheats_refused += u64::from(CHEATS.contains(&rule));
    }
}

/// The files of the last commit: an attempt that was killed does not count.
fn committed(root: &Path) -> Result<Files, TrialError> {
    let repo = Repo::discover(root)?;
    let repo = repo.ok_or_else(|| WorkError::NoRepository(root.to_owned()))?;
    let head = repo.head()?;
    let sources = StoredSources::new(&repo, &head.tree)?;
    let ours = [config_kata(), "tdd.yaml".to_owned()];
    let paths = sources.files().iter().filter(|path| !ours.contains(path));
    Ok(paths.filter_map(|path| Some((path.clone(), sources.read(path)?))).collect())
}

#[cfg(test)]
mod tests {
    use tdd_core::digest::Digest;
    use tdd_core::event::{EditRefused, Reverted};

    use super::*;

    #[test]
    fn a_projects_configuration_has_the_same_models_and_limits() {
        let text = "max_attempts_per_agent: 3\nroles:\n  tester: { model: 'mine:a', temperature: 0.4, protocol: files }\n  \
                    implementor: { model: b }\nllm:\n  base_url: http://one/v1\n  api_key_env: KEY\n  \
                    providers: { mine: { base_url: http://mine/v1 } }\n  timeout_secs: 9\n  max_retries: 0\n  \
                    budget: { tokens: 5, usd: 0.5 }\n  prices: { m: { prompt: 1, completion: 2.5 } }\n\
                    ci:\n  test_cmd: [make, test]\n";
        let config = Config::parse(text).unwrap();
        let derived = Config::parse(&configuration("python", &config)).unwrap();
        let ci = Config::default().ci;
        assert_eq!(derived, Config { language: Some("python".to_owned()), ci, ..config });
        let empty = Config::parse(&configuration("rust", &Config::default())).unwrap();
        assert_eq!(empty, Config { language: Some("rust".to_owned()), ..Config::default() });
    }

    fn refused(attempt: u32, rule: Rule) -> Event {
        Event::EditRefused(EditRefused { step: 1, attempt, rule, reason: String::new(), paths: Vec::new() })
    }

    fn reverted(attempt: u32, rule: Option<Rule>) -> Event {
        Event::Reverted(Reverted {
            step: 1,
            attempt,
            spent: true,
            in_tests: false,
            rule,
            cause: None,
            reason: String::new(),
            others: Vec::new(),
            signature: Digest::zero(),
            kept_as: None,
        })
    }

    #[test]
    fn a_refusal_counts_once_and_its_attempt_too() {
        let mut account = Account::default();
        for event in [
            refused(1, Rule::TestsFrozen),
            reverted(1, Some(Rule::TestsFrozen)),
            reverted(2, Some(Rule::TargetPasses)),
            reverted(3, None),
            refused(4, Rule::PhaseScope),
        ] {
            account.add(&event);
        }
        let Spent { attempts, refusals, cheats_refused, .. } = account.spent;
        let refusals: Vec<_> = refusals.into_iter().collect();
        let expected = [("phase-scope", 1), ("target-passes", 1), ("tests-frozen", 1)];
        assert_eq!(refusals, expected.map(|(rule, count)| (rule.to_owned(), count)));
        assert_eq!((attempts, cheats_refused), (3, 1));
    }
}
