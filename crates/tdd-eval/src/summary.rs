//! Sums up the results of an evaluation: per exercise and arm, and per arm.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::arm::Arm;
use crate::error::Broken;
use crate::evaluation::{Evaluation, Failed, Outcome};
use crate::results::TrialResult;
use crate::statistics;

/// The JSON document.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Which trials were made.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// New results.
    pub new: usize,
    /// One entry per exercise and arm.
    pub exercises: Vec<Cell>,
    /// One entry per arm.
    pub totals: Vec<Total>,
}

/// The results of one exercise in one arm.
#[derive(Debug, Serialize)]
pub struct Cell {
    exercise: String,
    language: String,
    arm: Arm,
    solved: u32,
    trials: u32,
    tokens: u64,
    calls: u64,
    minutes: f64,
}

/// The results of one arm.
#[derive(Debug, Serialize)]
pub struct Total {
    arm: Arm,
    solved: u32,
    trials: u32,
    /// The 95 % confidence interval of the share of solved trials.
    low: f64,
    high: f64,
    tokens: u64,
    /// Tokens per trial, compared to those of one-shot.
    tokens_ratio: Option<f64>,
    calls: u64,
    minutes: f64,
    attempts: u64,
    refusals: BTreeMap<String, u64>,
    cheats_refused: u64,
}

impl Summary {
    /// Sums up an evaluation.
    pub fn of(evaluation: Evaluation) -> Self {
        let results = &evaluation.results;
        let mut cells: BTreeMap<(&str, Arm), Vec<&TrialResult>> = BTreeMap::new();
        for result in results {
            cells.entry((&result.exercise, result.arm)).or_default().push(result);
        }
        let of_arm = |arm: Arm| results.iter().filter(|result| result.arm == arm).collect::<Vec<_>>();
        let one_shot = tokens_per_trial(&of_arm(Arm::OneShot));
        let arms = Arm::ALL.into_iter().map(|arm| (arm, of_arm(arm))).filter(|(_, results)| !results.is_empty());
        Self {
            exercises: cells.into_iter().map(|((exercise, arm), results)| Cell::of(exercise, arm, &results)).collect(),
            totals: arms.map(|(arm, results)| Total::of(arm, &results, one_shot)).collect(),
            new: evaluation.results.len() - evaluation.outcome.earlier,
            outcome: evaluation.outcome,
        }
    }

    /// The tables for people.
    pub fn text(&self) -> String {
        let mut text = String::new();
        if !self.exercises.is_empty() {
            text += &format!("{}\n{}", self.exercise_table(), self.total_table());
        }
        for Total { arm, refusals, .. } in self.totals.iter().filter(|total| !total.refusals.is_empty()) {
            let counts: Vec<String> = refusals.iter().map(|(rule, count)| format!("{rule} {count}")).collect();
            text += &format!("\nrefused in {}: {}\n", arm.name(), counts.join(", "));
        }
        for Failed { exercise, arm, run, reason } in &self.outcome.failed {
            text += &format!("\nno result: {exercise}, {}, run {run}: {reason}\n", arm.name());
        }
        if self.outcome.left > 0 && !self.outcome.interrupted {
            text +=
                &format!("\nnot made, because too many trials in a row had no result: {} more\n", self.outcome.left);
        }
        for Broken { exercise, reason } in &self.outcome.broken {
            text += &format!("\nno exercise: `{exercise}` {reason}\n");
        }
        text
    }

    /// How many trials of each arm were solved, on one line.
    pub fn line(&self) -> String {
        let solved = |total: &Total| format!("{} {} of {}", total.arm.name(), total.solved, total.trials);
        let totals: Vec<String> = self.totals.iter().map(solved).collect();
        if totals.is_empty() { "no results\n".to_owned() } else { format!("solved: {}\n", totals.join(", ")) }
    }

    fn exercise_table(&self) -> String {
        let mut rows = vec![["exercise", "arm", "solved", "tokens", "calls", "minutes"].map(str::to_owned).to_vec()];
        let mut last = "";
        for cell in &self.exercises {
            let name = if last == cell.exercise { "" } else { &cell.exercise };
            last = &cell.exercise;
            rows.push(vec![
                name.to_owned(),
                cell.arm.name().to_owned(),
                format!("{} of {}", cell.solved, cell.trials),
                cell.tokens.to_string(),
                cell.calls.to_string(),
                format!("{:.1}", cell.minutes),
            ]);
        }
        table(&rows)
    }

    fn total_table(&self) -> String {
        let head =
            ["total", "solved", "95 %", "tokens", "× one-shot", "calls", "minutes", "attempts", "refused", "cheats"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for total in &self.totals {
            rows.push(vec![
                total.arm.name().to_owned(),
                format!("{} of {}", total.solved, total.trials),
                format!("{:.0}–{:.0} %", total.low * 100.0, total.high * 100.0),
                total.tokens.to_string(),
                total.tokens_ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.1}")),
                total.calls.to_string(),
                format!("{:.1}", total.minutes),
                total.attempts.to_string(),
                total.refusals.values().sum::<u64>().to_string(),
                total.cheats_refused.to_string(),
            ]);
        }
        table(&rows)
    }
}

impl Cell {
    fn of(exercise: &str, arm: Arm, results: &[&TrialResult]) -> Self {
        Self {
            exercise: exercise.to_owned(),
            language: results.first().map(|result| result.language.clone()).unwrap_or_default(),
            arm,
            solved: solved(results),
            trials: count(results),
            tokens: results.iter().map(|result| result.tokens()).sum(),
            calls: results.iter().map(|result| result.spent.calls).sum(),
            minutes: minutes(results),
        }
    }
}

impl Total {
    fn of(arm: Arm, results: &[&TrialResult], one_shot: Option<f64>) -> Self {
        let (solved, trials) = (solved(results), count(results));
        let (low, high) = statistics::wilson(solved, trials);
        let mut refusals: BTreeMap<String, u64> = BTreeMap::new();
        for (rule, count) in results.iter().flat_map(|result| &result.spent.refusals) {
            *refusals.entry(rule.clone()).or_default() += count;
        }
        let ratio = tokens_per_trial(results).zip(one_shot).map(|(own, one_shot)| own / one_shot);
        Self {
            arm,
            solved,
            trials,
            low: rounded(low),
            high: rounded(high),
            tokens: results.iter().map(|result| result.tokens()).sum(),
            tokens_ratio: ratio.map(rounded),
            calls: results.iter().map(|result| result.spent.calls).sum(),
            minutes: minutes(results),
            attempts: results.iter().map(|result| result.spent.attempts).sum(),
            refusals,
            cheats_refused: results.iter().map(|result| result.spent.cheats_refused).sum(),
        }
    }
}

fn solved(results: &[&TrialResult]) -> u32 {
    results.iter().map(|result| u32::from(result.solved)).sum()
}

fn count(results: &[&TrialResult]) -> u32 {
    u32::try_from(results.len()).unwrap_or(u32::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "a rounded mean needs no more than 52 bits")]
fn tokens_per_trial(results: &[&TrialResult]) -> Option<f64> {
    let tokens: u64 = results.iter().map(|result| result.tokens()).sum();
    (tokens > 0).then(|| tokens as f64 / results.len() as f64)
}

#[expect(clippy::cast_precision_loss, reason = "rounded minutes need no more than 52 bits")]
fn minutes(results: &[&TrialResult]) -> f64 {
    rounded(results.iter().map(|result| result.duration_ms).sum::<u64>() as f64 / 60_000.0)
}

/// To three digits behind the point.
fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

/// Aligns columns: the first two to the left if they are words, numbers to the right.
fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let wide = |text: &String| text.chars().count();
    let width = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(wide).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let is_number = |text: &String| text.chars().next().is_some_and(|c| c.is_ascii_digit() || c == '–');
    let of_numbers: Vec<bool> =
        (0..columns).map(|at| rows.iter().skip(1).filter_map(|row| row.get(at)).all(is_number)).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for ((cell, width), is_number) in row.iter().zip(&widths).zip(&of_numbers) {
            let gap = " ".repeat(width - wide(cell));
            line += &if *is_number { format!("{gap}{cell}  ") } else { format!("{cell}{gap}  ") };
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::result;

    fn evaluation() -> Evaluation {
        let mut of_machine = result("leap", Arm::Machine, true);
        of_machine.spent.prompt_tokens = 890;
        of_machine.spent.calls = 12;
        of_machine.spent.refusals = BTreeMap::from([("tests-frozen".to_owned(), 2), ("target-passes".to_owned(), 1)]);
        of_machine.spent.cheats_refused = 2;
        let failed = Failed { exercise: "leap".to_owned(), arm: Arm::Machine, run: 2, reason: "no server".to_owned() };
        let outcome = Outcome {
            model: "m".to_owned(),
            earlier: 1,
            failed: vec![failed],
            broken: vec![Broken { exercise: "odd".to_owned(), reason: "has no files in `stub/`".to_owned() }],
            interrupted: false,
            left: 7,
        };
        let results = vec![result("leap", Arm::OneShot, false), of_machine, result("bowling", Arm::OneShot, true)];
        Evaluation { results, repaired: None, outcome }
    }

    #[test]
    fn the_tables_show_every_exercise_and_every_arm() {
        insta::assert_snapshot!(Summary::of(evaluation()).text());
    }

    #[test]
    fn the_document_has_the_same_numbers() {
        insta::assert_snapshot!(serde_json::to_string_pretty(&Summary::of(evaluation())).unwrap());
    }
}
