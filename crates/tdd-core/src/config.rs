//! `tdd.yaml`: every key with its default, and errors that name the place.

use std::collections::{BTreeMap, BTreeSet};
use std::num::{NonZeroU32, NonZeroU64};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::cycle::Role;
use crate::path::ConfinedPath;
use crate::report::Cause;

/// The whole config file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The Markdown file that says what to build.
    #[serde(deserialize_with = "inside")]
    pub kata_description: ConfinedPath,
    /// The project's language; detected if it is not given.
    pub language: Option<String>,
    /// Default number of steps of a run.
    pub steps: NonZeroU32,
    /// Attempts that a role has in one step.
    pub max_attempts_per_agent: NonZeroU32,
    /// The model of each role.
    pub roles: Roles,
    /// The servers, limits and prices of models.
    pub llm: Llm,
    /// The project's own commands.
    pub ci: Ci,
    /// The author of commits.
    pub commit: Author,
    /// The gate's settings.
    pub gate: Gate,
    /// The projects, if the repository has several.
    pub projects: Vec<ProjectConfig>,
}

impl Config {
    /// The gate config for a change of these files: the strictest values of the projects that they are in.
    pub fn gate_for<'p>(&self, paths: impl IntoIterator<Item = &'p str>) -> Gate {
        let gates = paths.into_iter().map(|path| self.project_at(path).and_then(|project| project.gate.as_ref()));
        gates
            .map(|gate| gate.unwrap_or(&self.gate).clone())
            .reduce(|one, other| one.and(&other))
            .unwrap_or_else(|| self.gate.clone())
    }

    /// How many new tests the least strict gate allows in a red.
    pub fn most_new_tests(&self) -> u32 {
        let own = self.projects.iter().filter_map(|project| project.gate.as_ref());
        own.chain([&self.gate]).map(|gate| gate.max_new_tests.get()).max().unwrap_or(1)
    }

    /// Paths that configured commands may refer to, from the repository's root: each word of a command counts as a
    /// path.
    pub fn named_in_commands(&self) -> BTreeSet<String> {
        let of_projects =
            self.projects.iter().filter_map(|project| Some((project.path.as_str(), project.ci.as_ref()?)));
        let mut named = BTreeSet::new();
        for (root, ci) in of_projects.chain([("", &self.ci)]) {
            let commands = [&ci.test_cmd, &ci.check_cmd, &ci.fmt_cmd, &ci.verify_cmd].into_iter().flatten();
            for word in commands.chain(ci.test_command_for.iter().map(|other| &other.cmd)).flatten() {
                let path = word.trim_start_matches("./");
                named.insert(if root.is_empty() { path.to_owned() } else { format!("{root}/{path}") });
            }
        }
        named
    }

    /// The commands and limits of one of the projects.
    pub fn ci_of(&self, project: &ProjectConfig) -> Ci {
        let limits =
            Ci { timeout_secs: self.ci.timeout_secs, build_timeout_secs: self.ci.build_timeout_secs, ..Ci::default() };
        let of_the_whole = if project.path.is_empty() { self.ci.clone() } else { limits };
        project.ci.clone().unwrap_or(of_the_whole)
    }

    /// The innermost project around a file.
    fn project_at(&self, path: &str) -> Option<&ProjectConfig> {
        let around = self.projects.iter().filter(|project| {
            path.strip_prefix(&project.path).is_some_and(|rest| project.path.is_empty() || rest.starts_with('/'))
        });
        around.max_by_key(|project| project.path.len())
    }
}

/// The model of each role.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Roles {
    /// Writes tests.
    #[serde(deserialize_with = "in_every_cycle")]
    pub tester: Option<RoleConfig>,
    /// Makes them pass.
    #[serde(deserialize_with = "in_every_cycle")]
    pub implementor: Option<RoleConfig>,
    /// Improves the code.
    pub refactorer: Option<RoleConfig>,
}

impl Roles {
    /// The settings of one role, if there are any.
    pub fn get(&self, role: Role) -> Option<&RoleConfig> {
        match role {
            Role::Tester => self.tester.as_ref(),
            Role::Implementor => self.implementor.as_ref(),
            Role::Refactorer => self.refactorer.as_ref(),
        }
    }
}

/// One role's model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoleConfig {
    /// `provider:model`, or a model's name as its server spells it.
    pub model: String,
    /// The sampling temperature, from 0 to 2.
    #[serde(default, deserialize_with = "temperature")]
    pub temperature: Option<f64>,
    /// How the model answers.
    #[serde(default)]
    pub protocol: Protocol,
    /// Candidate answers per attempt, from 1 to 16; the first that holds is kept.
    #[serde(default = "one_sample", deserialize_with = "samples")]
    pub samples: u32,
    /// When the role takes its turn; only the refactorer's turn may be left out.
    #[serde(default)]
    pub when: When,
}

/// When a role takes its turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// In every cycle.
    #[default]
    Always,
    /// Only if a measure of the last change finds something worth it.
    Needed,
}

/// How a model answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// An edit plan, or fenced files for a model that breaks JSON.
    #[default]
    Auto,
    /// One JSON document with all edits.
    EditPlan,
    /// Fenced blocks, each headed by its path.
    Files,
    /// Tool calls.
    Tools,
}

/// The servers, limits and prices of models.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Llm {
    /// The server of models without a provider.
    #[serde(deserialize_with = "optional_url")]
    pub base_url: Option<String>,
    /// The environment variable that holds the server's key.
    #[serde(deserialize_with = "variable_name")]
    pub api_key_env: Option<String>,
    /// Named servers.
    pub providers: BTreeMap<String, Provider>,
    /// Timeout of one whole answer.
    pub timeout_secs: NonZeroU64,
    /// Retries of a failed call.
    pub max_retries: u32,
    /// The largest prompt, in bytes.
    pub context_bytes: NonZeroU64,
    /// The limits of a run's cost.
    pub budget: Budget,
    /// Prices, by model name.
    pub prices: BTreeMap<String, Price>,
}

/// A named server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// Its address.
    #[serde(deserialize_with = "url")]
    pub base_url: String,
    /// The environment variable that holds its key.
    #[serde(default, deserialize_with = "variable_name")]
    pub api_key_env: Option<String>,
}

/// The limits of a run's cost; `None` means no limit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// Tokens, prompt and completion together.
    pub tokens: Option<NonZeroU64>,
    /// US dollars.
    #[serde(deserialize_with = "optional_money")]
    pub usd: Option<f64>,
}

/// US dollars per million tokens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Price of prompt tokens.
    #[serde(deserialize_with = "money")]
    pub prompt: f64,
    /// Price of prompt tokens that the server had cached.
    #[serde(default, deserialize_with = "optional_money")]
    pub cached: Option<f64>,
    /// Price of answer tokens.
    #[serde(deserialize_with = "money")]
    pub completion: f64,
}

/// The project's own commands, each an argument vector.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ci {
    /// Runs the tests.
    #[serde(deserialize_with = "optional_argv")]
    pub test_cmd: Option<Vec<String>>,
    /// Compiles and lints.
    #[serde(deserialize_with = "optional_argv")]
    pub check_cmd: Option<Vec<String>>,
    /// Formats files.
    #[serde(deserialize_with = "optional_argv")]
    pub fmt_cmd: Option<Vec<String>>,
    /// Must pass at the end of refactor mode.
    #[serde(deserialize_with = "optional_argv")]
    pub verify_cmd: Option<Vec<String>>,
    /// Timeout of one test run, without the build.
    pub timeout_secs: NonZeroU64,
    /// Timeout of one build.
    pub build_timeout_secs: NonZeroU64,
    /// Where an unknown test command writes its JUnit report.
    #[serde(deserialize_with = "optional_inside")]
    pub junit: Option<ConfinedPath>,
    /// Special test commands for some tests.
    pub test_command_for: Vec<TestCommandFor>,
}

/// A special test command for some tests.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestCommandFor {
    /// A glob for test files, or a prefix of test ids.
    #[serde(rename = "match", deserialize_with = "pattern")]
    pub pattern: String,
    /// The command; `{test_ids}` stands for the ids.
    #[serde(deserialize_with = "argv")]
    pub cmd: Vec<String>,
}

/// The author of commits.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Author {
    /// The name.
    #[serde(deserialize_with = "plain_name")]
    pub author_name: String,
    /// The email address.
    #[serde(deserialize_with = "plain_name")]
    pub author_email: String,
}

/// The gate's settings.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Gate {
    /// Whether failing tests refuse a task of a `type: execute` plan.
    pub test_gate: bool,
    /// Whether a test is red if it does not compile because production code is missing.
    pub red_compile: RedCompile,
    /// How many new tests a red may bring.
    pub max_new_tests: NonZeroU32,
    /// How often a test with an unexplained change of result is rerun.
    pub flaky_reruns: u32,
    /// Whether models see test results.
    pub auto_test: bool,
}

impl Gate {
    /// Whether a test that failed for this cause is red.
    pub fn takes_for_red(&self, cause: Cause) -> bool {
        cause.is_valid_red() && (cause != Cause::MissingSymbol || self.red_compile == RedCompile::MissingSymbol)
    }

    /// The stricter value of each key.
    fn and(&self, other: &Self) -> Self {
        Self {
            test_gate: self.test_gate || other.test_gate,
            red_compile: if other.red_compile == RedCompile::Never { other.red_compile } else { self.red_compile },
            max_new_tests: self.max_new_tests.min(other.max_new_tests),
            flaky_reruns: self.flaky_reruns.max(other.flaky_reruns),
            auto_test: self.auto_test && other.auto_test,
        }
    }
}

/// Whether a test is red if it does not compile because production code is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RedCompile {
    /// It is red.
    MissingSymbol,
    /// Only a test that ran can be red.
    Never,
}

/// One of several projects in a repository.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectConfig {
    /// Its folder; empty for the repository's root, which is written as `.`.
    #[serde(deserialize_with = "folder")]
    pub path: String,
    /// Its language.
    pub language: String,
    /// Its commands and timeouts. The default is the top-level timeouts, and in the root also the top-level commands.
    #[serde(default)]
    pub ci: Option<Ci>,
    /// Its gate; the default is the top-level gate.
    #[serde(default)]
    pub gate: Option<Gate>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            kata_description: default_kata(),
            language: None,
            steps: at_least_one(20),
            max_attempts_per_agent: at_least_one(5),
            roles: Roles::default(),
            llm: Llm::default(),
            ci: Ci::default(),
            commit: Author::default(),
            gate: Gate::default(),
            projects: Vec::new(),
        }
    }
}

impl Default for Llm {
    fn default() -> Self {
        Self {
            base_url: None,
            api_key_env: None,
            providers: BTreeMap::new(),
            timeout_secs: at_least_one(600).into(),
            max_retries: 5,
            context_bytes: at_least_one(400_000).into(),
            budget: Budget::default(),
            prices: BTreeMap::new(),
        }
    }
}

impl Default for Ci {
    fn default() -> Self {
        Self {
            test_cmd: None,
            check_cmd: None,
            fmt_cmd: None,
            verify_cmd: None,
            timeout_secs: at_least_one(120).into(),
            build_timeout_secs: at_least_one(900).into(),
            junit: None,
            test_command_for: Vec::new(),
        }
    }
}

impl Default for Author {
    fn default() -> Self {
        Self { author_name: "TDD Machine".into(), author_email: "tdd@local".into() }
    }
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            test_gate: true,
            red_compile: RedCompile::MissingSymbol,
            max_new_tests: at_least_one(1),
            flaky_reruns: 1,
            auto_test: true,
        }
    }
}

#[expect(clippy::expect_used, reason = "a constant that a test covers")]
fn default_kata() -> ConfinedPath {
    ConfinedPath::new("kata.md").expect("a plain name is confined")
}

fn at_least_one(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN)
}

/// What is wrong with the file, and where. It never quotes a value, because that might be a misplaced secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct ConfigError {
    /// From 1.
    pub line: u64,
    /// From 1.
    pub column: u64,
    /// What is wrong.
    pub problem: String,
    /// A suggestion, if there is one.
    pub hint: Option<String>,
}

/// The largest config file that is read, in bytes.
pub const MAX_CONFIG: usize = 1 << 20;

impl Config {
    /// Reads the text of a `tdd.yaml`.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        if text.len() > MAX_CONFIG {
            let problem = format!("the file has {} bytes, the limit is {MAX_CONFIG}", text.len());
            return Err(ConfigError { line: 1, column: 1, problem, hint: None });
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
            return Ok(Self::default());
        }
        serde_saphyr::from_str(text).map_err(|error| describe(&error))
    }
}

/// Translates a parser's error for people.
pub(crate) fn describe(error: &serde_saphyr::Error) -> ConfigError {
    use serde_saphyr::Error;
    let error = error.without_snippet();
    let (line, column) = error.location().map_or((1, 1), |place| (place.line(), place.column()));
    let (problem, hint) = match error {
        Error::SerdeUnknownField { field, expected, .. } => {
            (format!("unknown key `{field}`"), nearest(field, expected))
        }
        Error::SerdeUnknownVariant { expected, .. } => {
            ("this value is not allowed here".to_owned(), Some(format!("write one of {}", list(expected))))
        }
        Error::SerdeMissingField { field, .. } => {
            (format!("the key `{field}` is missing"), Some(format!("add `{field}:` here")))
        }
        Error::DuplicateMappingKey { key, .. } => {
            let name = key.as_ref().map_or(String::new(), |key| format!(" `{key}`"));
            (format!("the key{name} appears twice"), Some("keep one of them".to_owned()))
        }
        Error::SerdeInvalidType { expected, .. } | Error::SerdeInvalidValue { expected, .. } => {
            (format!("expected {}", in_words(expected)), None)
        }
        Error::InvalidScalar { ty, .. } => (format!("expected {}", in_words(ty)), None),
        Error::Budget { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => {
            ("the file is too large or refers to itself too often".to_owned(), None)
        }
        other => (without_place(&other.to_string()), None),
    };
    ConfigError { line, column, problem, hint }
}

fn nearest(field: &str, expected: &[&'static str]) -> Option<String> {
    let best = expected.iter().max_by(|a, b| {
        let near = |key: &str| strsim::jaro_winkler(field, key);
        near(a).total_cmp(&near(b))
    })?;
    Some(format!("did you mean `{best}`? known here: {}", list(expected)))
}

fn list(words: &[&'static str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    quoted.join(", ")
}

/// Translates a parser's expectation for people.
fn in_words(expected: &str) -> &str {
    match expected {
        "u32" | "u64" | "a nonzero u32" | "a nonzero u64" => "a whole number, 1 or more",
        "f64" => "a number",
        "boolean" => "`true` or `false`",
        "sequence start" => "a list, as in [\"cargo\", \"test\"]",
        "mapping start" => "keys and values",
        "string scalar" => "a text",
        other => other,
    }
}

/// The first line of a parser's message, without the place, which we show ourselves.
fn without_place(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
    let line = line.rsplit_once(" at line ").map_or(line, |(before, _)| before);
    match line.strip_prefix("expected ") {
        Some(expected) => format!("expected {}", in_words(expected)),
        None => line.chars().take(200).collect(),
    }
}

/// The path's own error is dropped, because it would quote the value.
fn inside<'de, D: Deserializer<'de>>(input: D) -> Result<ConfinedPath, D::Error> {
    let text = String::deserialize(input)?;
    ConfinedPath::new(&text).map_err(|_| D::Error::custom("expected a path inside the project, from its root"))
}

fn folder<'de, D: Deserializer<'de>>(input: D) -> Result<String, D::Error> {
    let text = String::deserialize(input)?;
    if text == "." {
        return Ok(String::new());
    }
    let problem = |_| D::Error::custom("expected a folder inside the repository, from its root, or `.`");
    ConfinedPath::new(text.strip_suffix('/').unwrap_or(&text)).map(|path| path.as_str().to_owned()).map_err(problem)
}

fn optional_inside<'de, D: Deserializer<'de>>(input: D) -> Result<Option<ConfinedPath>, D::Error> {
    inside(input).map(Some)
}

fn temperature<'de, D: Deserializer<'de>>(input: D) -> Result<Option<f64>, D::Error> {
    match Option::<f64>::deserialize(input)? {
        Some(degree) if !(0.0..=2.0).contains(&degree) => Err(D::Error::custom("expected a number from 0 to 2")),
        other => Ok(other),
    }
}

fn one_sample() -> u32 {
    1
}

fn samples<'de, D: Deserializer<'de>>(input: D) -> Result<u32, D::Error> {
    let samples = u32::deserialize(input)?;
    if (1..=16).contains(&samples) { Ok(samples) } else { Err(D::Error::custom("expected a number from 1 to 16")) }
}

fn in_every_cycle<'de, D: Deserializer<'de>>(input: D) -> Result<Option<RoleConfig>, D::Error> {
    match Option::<RoleConfig>::deserialize(input)? {
        Some(role) if role.when != When::Always => {
            Err(D::Error::custom("only the refactorer has `when`: the other roles take their turn in every cycle"))
        }
        other => Ok(other),
    }
}

fn money<'de, D: Deserializer<'de>>(input: D) -> Result<f64, D::Error> {
    let amount = f64::deserialize(input)?;
    if amount.is_finite() && amount >= 0.0 {
        Ok(amount)
    } else {
        Err(D::Error::custom("expected an amount in dollars"))
    }
}

fn optional_money<'de, D: Deserializer<'de>>(input: D) -> Result<Option<f64>, D::Error> {
    match Option::<f64>::deserialize(input)? {
        Some(amount) if !amount.is_finite() || amount < 0.0 => Err(D::Error::custom("expected an amount in dollars")),
        other => Ok(other),
    }
}

fn url<'de, D: Deserializer<'de>>(input: D) -> Result<String, D::Error> {
    let text = String::deserialize(input)?;
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://")).unwrap_or_default();
    if rest.is_empty() || rest.starts_with('/') || text.contains(char::is_whitespace) {
        return Err(D::Error::custom("expected an address such as `http://localhost:11434/v1`"));
    }
    if rest.contains(['?', '#']) {
        return Err(D::Error::custom(
            "an address may not contain `?` or `#`; name the variable that holds the key in `api_key_env`",
        ));
    }
    if rest.split('/').next().is_some_and(|host| host.contains('@')) {
        return Err(D::Error::custom(
            "an address may not contain a user or password; name the variable that holds the key in `api_key_env`",
        ));
    }
    Ok(text.trim_end_matches('/').to_owned())
}

fn optional_url<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    url(input).map(Some)
}

fn variable_name<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    let Some(name) = Option::<String>::deserialize(input)? else { return Ok(None) };
    let starts = name.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if starts && name.len() <= 100 && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Ok(Some(name));
    }
    Err(D::Error::custom("expected the name of an environment variable, not a key itself"))
}

fn argv<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<String>, D::Error> {
    let words = Vec::<String>::deserialize(input)?;
    if words.first().is_none_or(|program| program.trim().is_empty()) || words.iter().any(|word| word.contains('\0')) {
        return Err(D::Error::custom(r#"expected a program and its arguments, as in ["cargo", "test"]"#));
    }
    Ok(words)
}

fn optional_argv<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Vec<String>>, D::Error> {
    argv(input).map(Some)
}

fn pattern<'de, D: Deserializer<'de>>(input: D) -> Result<String, D::Error> {
    let text = String::deserialize(input)?;
    let plain = text.trim_start_matches("./");
    if plain.trim().is_empty() || plain.starts_with('/') || plain.split('/').any(|part| part == "..") {
        return Err(D::Error::custom("expected a glob or a prefix of test ids, as in \"tests/slow/**\""));
    }
    Ok(plain.to_owned())
}

fn plain_name<'de, D: Deserializer<'de>>(input: D) -> Result<String, D::Error> {
    let text = String::deserialize(input)?;
    if text.trim().is_empty() || text.contains(['<', '>', '\n', '\r', '\0']) {
        return Err(D::Error::custom("expected a name on one line, without `<` or `>`"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example file of the contract.
    const SEED: &str = r#"kata_description: "kata.md"
language: "rust"
steps: 20
max_attempts_per_agent: 5
roles:
  tester:      { model: "openai:gpt-4.1-mini", temperature: 0.4 }
  implementor: { model: "deepseek:coder-v2",   temperature: 0.2 }
  refactorer:  { model: "glm:glm-4-air",       temperature: 0.3 }
llm:
  base_url: "http://localhost:11434/v1"
  api_key_env: "LLM_API_KEY"
ci:
  test_cmd:  ["cargo", "test", "--all"]
  check_cmd: ["cargo", "clippy", "--all", "--", "-D", "warnings"]
  fmt_cmd:   ["cargo", "fmt"]
commit: { author_name: "TDD Machine", author_email: "tdd@local" }
"#;

    fn refused(text: &str) -> String {
        let error = Config::parse(text).expect_err(text);
        format!("{error} | {}", error.hint.as_deref().unwrap_or_default())
    }

    #[test]
    fn the_seeds_file_is_valid_as_it_stands() {
        let config = Config::parse(SEED).unwrap();
        assert_eq!(config.roles.get(Role::Tester).unwrap().model, "openai:gpt-4.1-mini");
        assert_eq!(config.ci.test_cmd.unwrap(), ["cargo", "test", "--all"]);
        assert_eq!(config.ci.timeout_secs.get(), 120);
        assert_eq!(config.commit, Author::default());
    }

    #[test]
    fn windows_line_ends_and_a_byte_order_mark_change_nothing() {
        let windows = format!("\u{feff}{}", SEED.replace('\n', "\r\n"));
        assert_eq!(Config::parse(&windows), Config::parse(SEED));
    }

    #[test]
    fn every_optional_key_is_known() {
        let all = r#"
roles: { tester: { model: m, protocol: edit-plan } }
llm:
  providers: { deepseek: { base_url: "https://api.example.com/v1/", api_key_env: DEEPSEEK_KEY } }
  timeout_secs: 30
  max_retries: 0
  context_bytes: 1000
  budget: { tokens: 5, usd: 0.5 }
  prices: { m: { prompt: 1, cached: 0.1, completion: 2.5 } }
ci:
  verify_cmd: [make, verify]
  timeout_secs: 1
  build_timeout_secs: 2
  junit: out/junit.xml
  test_command_for: [{ match: "tests/slow/**", cmd: [slow, "{test_ids}"] }]
gate: { test_gate: false, red_compile: never, max_new_tests: 2, flaky_reruns: 0, auto_test: false }
projects: [{ path: backend, language: rust, ci: { timeout_secs: 9 } }]
"#;
        let config = Config::parse(all).unwrap();
        assert_eq!(config.llm.providers["deepseek"].base_url, "https://api.example.com/v1");
        assert_eq!(config.gate.red_compile, RedCompile::Never);
        assert_eq!(config.ci_of(&config.projects[0]).timeout_secs.get(), 9);
    }

    #[test]
    fn an_empty_file_means_the_defaults() {
        for text in ["", "\n", "# nothing\n", "\u{feff}"] {
            assert_eq!(Config::parse(text), Ok(Config::default()), "{text:?}");
        }
    }

    #[test]
    fn an_unknown_key_is_named_with_its_place_and_the_nearest_known_one() {
        insta::assert_snapshot!(refused("steps: 3\nmax_attempt_per_agent: 2\n"), @"line 2, column 1: unknown key `max_attempt_per_agent` | did you mean `max_attempts_per_agent`? known here: `kata_description`, `language`, `steps`, `max_attempts_per_agent`, `roles`, `llm`, `ci`, `commit`, `gate`, `projects`");
        insta::assert_snapshot!(refused("ci:\n  tests_cmd: [a]\n"), @"line 2, column 3: unknown key `tests_cmd` | did you mean `test_cmd`? known here: `test_cmd`, `check_cmd`, `fmt_cmd`, `verify_cmd`, `timeout_secs`, `build_timeout_secs`, `junit`, `test_command_for`");
    }

    #[test]
    fn what_is_wrong_is_said_with_line_and_column() {
        let cases = [
            "roles:\n  tester: { temperature: 0.4 }\n",
            "steps: many\n",
            "steps: 0\n",
            "steps: 1\nsteps: 2\n",
            "roles:\n  tester: { model: m, temperature: 7 }\n",
            "roles:\n  tester: { model: m, samples: 0 }\n",
            "roles:\n  tester: { model: m, when: needed }\n",
            "roles:\n  tester: { model: m, protocol: telepathy }\n",
            "ci:\n  test_cmd: cargo test\n",
            "ci:\n  test_cmd: []\n",
            "llm:\n  base_url: localhost:11434\n",
            "llm:\n  api_key_env: sk-1234567890\n",
            "kata_description: ../kata.md\n",
            "commit: { author_name: \"a <b>\" }\n",
            "steps: [1\n",
            "- a\n- b\n",
            "just text\n",
            "gate: { test_gate: 3 }\n",
            "ci:\n  test_command_for: [{ match: \"\", cmd: [a] }]\n",
            "ci:\n  test_command_for: [{ match: \"../a\", cmd: [a] }]\n",
        ];
        let answers: Vec<String> =
            cases.iter().map(|text| format!("{}\n    {}", text.trim_end().escape_debug(), refused(text))).collect();
        insta::assert_snapshot!(answers.join("\n"));
    }

    #[test]
    fn a_secret_in_a_wrong_place_is_not_repeated() {
        for text in [
            "llm:\n  api_key: sk-verysecret\n",
            "llm:\n  api_key_env: sk-verysecret\n",
            "llm:\n  base_url: https://u:sk-verysecret@h/v1\n",
            "llm:\n  base_url: https://h/v1?key=sk-verysecret\n",
            "gate: sk-verysecret\n",
            "kata_description: /sk-verysecret\n",
            "ci:\n  junit: ../sk-verysecret\n",
            "gate: { red_compile: sk-verysecret }\n",
            "steps: sk-verysecret\n",
        ] {
            assert!(!refused(text).contains("verysecret"), "{}", refused(text));
        }
    }

    #[test]
    fn an_anchor_bomb_is_refused_at_once() {
        let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for n in 1..12 {
            let before = n - 1;
            text += &format!("a{n}: &a{n} [{}]\n", vec![format!("*a{before}"); 10].join(", "));
        }
        assert!(Config::parse(&text).is_err());
        let deep = format!("steps: {}", "[".repeat(100_000));
        assert!(Config::parse(&deep).is_err());
        assert!(Config::parse(&"#".repeat(MAX_CONFIG + 1)).is_err());
    }

    #[test]
    fn a_project_that_says_nothing_of_commands_has_the_limits_of_the_whole_and_the_root_its_commands() {
        let config = Config::parse(
            "ci: { test_cmd: [make, test], timeout_secs: 7 }\nprojects:\n  - { path: ., language: rust }\n  - { path: web/, language: python }\n  - { path: b, language: go, ci: { test_cmd: [b] } }\n",
        )
        .unwrap();
        let of = |at: usize| {
            let ci = config.ci_of(&config.projects[at]);
            (config.projects[at].path.as_str(), ci.test_cmd.map(|command| command.join(" ")), ci.timeout_secs.get())
        };
        assert_eq!(of(0), ("", Some("make test".to_owned()), 7));
        assert_eq!(of(1), ("web", None, 7));
        assert_eq!(of(2), ("b", Some("b".to_owned()), 120));
        assert_eq!(config.named_in_commands().into_iter().collect::<Vec<_>>(), ["b/b", "make", "test"]);
        assert_eq!(config.gate_for(["x.rs"]), Gate::default());
    }

    #[test]
    fn a_change_is_judged_as_strictly_as_the_strictest_project_wants_it() {
        let config = Config::parse(
            "gate: { max_new_tests: 3 }\nprojects:\n  - { path: a, language: rust }\n  - { path: a/b, language: rust, gate: { max_new_tests: 5, red_compile: never } }\n",
        )
        .unwrap();
        let of = |paths: &[&str]| {
            let gate = config.gate_for(paths.iter().copied());
            (gate.max_new_tests.get(), gate.red_compile)
        };
        assert_eq!(of(&[]), (3, RedCompile::MissingSymbol));
        assert_eq!(of(&["a/x", "ab/x"]), (3, RedCompile::MissingSymbol));
        assert_eq!(of(&["a/b/x"]), (5, RedCompile::Never));
        assert_eq!(of(&["a/b/x", "c"]), (3, RedCompile::Never));
        assert_eq!(config.most_new_tests(), 5);
    }
}
