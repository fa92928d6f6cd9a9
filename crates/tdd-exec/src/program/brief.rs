//! Writes the brief for an iteration's models: the goal, the fence, the lessons, and each phase's prompt.

use std::collections::BTreeMap;

use tdd_core::cycle::Role;
use tdd_core::machine::Mandate;
use tdd_core::program::definition::Strategy;
use tdd_core::program::state::State;

use super::found::ProgramFiles;

/// The newest lessons in the brief, at most this many.
const LESSONS: usize = 30;

/// The mandate of an iteration. The stable parts come first, so that prompt caches hit.
pub(super) fn mandate(found: &ProgramFiles, strategy: Strategy, state: &State, rethink: bool) -> Mandate {
    let (framing, only) = match strategy {
        Strategy::TestDriven => (prompts(found), None),
        Strategy::Default => (BTreeMap::new(), Some(Role::Refactorer)),
    };
    Mandate {
        brief: Some(brief(found, strategy, state, rethink)),
        mark: Some(format!("[program/{}]", found.name)),
        framing,
        fence: Some(found.definition.fence.clone()),
        only,
        caller_continues: true,
        ..Mandate::default()
    }
}

fn prompts(found: &ProgramFiles) -> BTreeMap<Role, String> {
    let prompt = |name: &str| found.strategy.get(&format!("strategy/prompts/{name}.md")).cloned().unwrap_or_default();
    BTreeMap::from([
        (Role::Tester, prompt("write-test")),
        (Role::Implementor, prompt("make-green")),
        (Role::Refactorer, prompt("refactor")),
    ])
}

fn brief(found: &ProgramFiles, strategy: Strategy, state: &State, rethink: bool) -> String {
    let definition = &found.definition;
    let mut text = format!("# {}\n\n{}\n\n## Files that may be touched\n\n", found.name, definition.goal);
    for pattern in definition.fence.patterns() {
        text += &format!("- `{pattern}`\n");
    }
    match strategy {
        Strategy::TestDriven => {
            let playbook = found.strategy.get("strategy/test-driven.md").map(String::as_str).unwrap_or_default();
            text += &format!("\n{}\n", playbook.trim());
        }
        Strategy::Default => text += &measured(found, state),
    }
    if !state.lessons().is_empty() {
        text += "\n## Learned so far\n\n";
        for lesson in state.lessons().iter().rev().take(LESSONS) {
            text += &format!("- {lesson}\n");
        }
    }
    if !state.priorities().is_empty() {
        text += &format!("\n## What matters most now\n\n{}\n", state.priorities());
    }
    if rethink {
        text += "\n## Think again\n\nThe last three iterations produced nothing that could be judged. Read the goal and \
                 its source of truth again, and choose another, simpler behaviour.\n";
    }
    text
}

/// For the default loop: the metric to improve, and what was tried.
fn measured(found: &ProgramFiles, state: &State) -> String {
    let definition = &found.definition;
    let best = state.metric().best().map_or_else(|| "not known yet".to_owned(), |best| best.to_string());
    let tried: Vec<String> = state
        .history()
        .entries
        .iter()
        .take(10)
        .map(|past| format!("- {}: {}", past.overview.outcome.word(), past.overview.summary))
        .collect();
    let tried = if tried.is_empty() { "- nothing yet".to_owned() } else { tried.join("\n") };
    format!(
        "\n## What is measured\n\n```bash\n{}\n```\n\n{} is better. The best so far: {best}. Propose one change that makes \
         it better, and nothing else. All tests stay as they are, and pass; a change that does not improve the number is \
         discarded.\n\n## What was tried\n\n{tried}\n",
        definition.evaluation,
        match definition.direction {
            tdd_core::program::metric::Direction::Higher => "Higher",
            tdd_core::program::metric::Direction::Lower => "Lower",
        },
    )
}
