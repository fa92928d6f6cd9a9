//! Finds new production code that no test needs: lines that no test executes, and items that nothing refers to.
//!
//! Executed lines are measured if the language supports it. Otherwise, and for items without executable lines, only
//! missing references count.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::antipattern::{CodeContext, at, found};
use crate::change::{ItemChange, ItemFate};
use crate::coverage::Measurement;
use crate::rule::{Refusal, Rule};
use crate::signs::Place;

const WHAT_TO_DO: &str = "remove it until a test needs it";

/// All findings in the new code of a change.
pub(crate) fn findings(case: &CodeContext<'_>) -> Vec<Refusal> {
    let runs = case.measurement.map_or_else(Vec::new, |measurement| idle_runs(case, measurement));
    let unreferenced = unreferenced(case).filter(|item| !runs.iter().any(|run| run.item == *item));
    let by_name = unreferenced.map(|item| {
        let why = format!("nothing refers to {}", item.item);
        found(Rule::Yagni, &at(item), why, WHAT_TO_DO)
    });
    runs.iter().map(Run::finding).chain(by_name).collect()
}

/// Consecutive lines of one item that no test executes.
struct Run<'a> {
    item: &'a ItemChange,
    first: usize,
    last: usize,
    count: usize,
}

impl Run<'_> {
    fn finding(&self) -> Refusal {
        let item = &self.item.item;
        let why = match self.count {
            1 => format!("no test executes this line of {item}"),
            count => format!("no test executes {count} lines of {item}, from here to line {}", self.last),
        };
        found(Rule::Yagni, &Place::new(&self.item.path, self.first), why, WHAT_TO_DO)
    }
}

fn idle_runs<'a>(case: &CodeContext<'a>, measurement: &Measurement) -> Vec<Run<'a>> {
    // Examples in documentation are tests, but coverage does not measure them.
    let documented: BTreeSet<&Place> = case.signs.documented.values().flatten().collect();
    let new: Vec<&ItemChange> = case.new_code().filter(|item| !documented.contains(&at(item))).collect();
    let mut runs: Vec<Run<'a>> = Vec::new();
    for (path, lines) in measurement.coverage.files() {
        let mut goes_on = false;
        for (&line, &executed) in lines {
            let owner = owner(case, path, line).filter(|item| new.contains(item));
            let idle = owner.filter(|_| !executed && measurement.is_added(path, line));
            match (idle, runs.last_mut()) {
                (Some(item), Some(run)) if goes_on && run.item == item => {
                    run.last = line;
                    run.count += 1;
                }
                (Some(item), _) => runs.push(Run { item, first: line, last: line, count: 1 }),
                (None, _) => {}
            }
            goes_on = idle.is_some();
        }
    }
    runs
}

/// The changed item that a line belongs to: the last one that begins on or before it.
fn owner<'a>(case: &CodeContext<'a>, path: &str, line: usize) -> Option<&'a ItemChange> {
    let there = case.change.production.iter().filter(|item| item.fate != ItemFate::Removed && item.path == path);
    there.filter(|item| item.line <= line).max_by_key(|item| item.line)
}

/// New items that nothing refers to, unless a test executed code in them.
fn unreferenced<'a>(case: &CodeContext<'a>) -> impl Iterator<Item = &'a ItemChange> {
    let is_idle = |item: &&ItemChange| item.fate == ItemFate::Added && case.signs.unreferenced.contains(&at(item));
    case.new_code().filter(is_idle).filter(|item| !was_entered(case, item))
}

fn was_entered(case: &CodeContext<'_>, item: &ItemChange) -> bool {
    let Some(measurement) = case.measurement else { return false };
    let Some(lines) = measurement.coverage.of(&item.path) else { return false };
    // The first line may run when the file is merely loaded.
    let mut inside = lines.range(Range { start: item.line + 1, end: usize::MAX });
    let is_own = |line: usize| owner(case, &item.path, line) == Some(item) && measurement.is_added(&item.path, line);
    inside.any(|(&line, &executed)| executed && is_own(line))
}
