//! Tests of parsing programs, and of their problems.

use super::*;

/// A program in the format of public autoloop repositories.
const PUBLIC: &str = "<!-- kept by a workflow -->
---
schedule: every 6h
timeout-minutes: 40
target-metric: 0.95
labels: [perf]
---

# Faster sorting

## Goal

Make `sort` fast.

## Target

Only modify these files:
- `src/core/series.ts` — the body

Do NOT modify:
- `tests/**`

## Evaluation

```bash
bash evaluate.sh
```

The metric is `fitness`. **Lower is better.**
";

fn problems(text: &str) -> Vec<String> {
    let program = Definition::parse(text, &[]).unwrap();
    program.problems().iter().map(|it| format!("{}: {}", it.line, it.problem)).collect()
}

#[test]
fn a_program_of_a_public_repository_is_read_as_it_is() {
    let program = Definition::parse(PUBLIC, &[]).unwrap();
    assert_eq!(program.problems(), []);
    assert_eq!(program.schedule, Schedule::parse("every 6h"));
    assert_eq!((program.target_metric, program.direction), (Some(0.95), Direction::Lower));
    assert_eq!(program.goal, "Make `sort` fast.");
    assert!(program.fence.holds("src/core/series.ts") && !program.fence.holds("tests/a.ts"));
    assert_eq!((program.evaluation.as_str(), program.metric_name.as_deref()), ("bash evaluate.sh", Some("fitness")));
    assert_eq!((program.timeout_minutes, program.cap, program.strategy), (40, 100, Ok(Strategy::Default)));
}

#[test]
fn front_matter_is_optional_and_knows_two_ways_to_write_a_key() {
    let program = Definition::parse("## Goal\nx\n", &[]).unwrap();
    assert_eq!((program.schedule, program.target_metric), (None, None));
    let text =
        "---\nmetric-direction: lower\ntarget_metric: 3\nevaluation:\n  held_out: [\"sh a.sh\"]\nremote: origin\n---\n";
    let program = Definition::parse(text, &[]).unwrap();
    assert_eq!((program.direction, program.target_metric), (Direction::Lower, Some(3.0)));
    assert_eq!((program.held_out, program.remote), (vec!["sh a.sh".to_owned()], Some("origin".to_owned())));
}

#[test]
fn what_is_missing_is_named_with_its_line() {
    let empty = ["1: there is no goal", "1: the target names no file", "1: there is no evaluation"];
    assert_eq!(problems("# A program\n"), empty);
    let text = PUBLIC.replace("every 6h", "now and then").replace("Make `sort` fast.", "<CUSTOMIZE: say it>");
    assert_eq!(problems(&text), ["3: the schedule cannot be read", "13: a marker is left: say it"]);
    let text = format!("<!-- AUTOLOOP:UNCONFIGURED -->\n{PUBLIC}");
    assert_eq!(problems(&text), ["1: it is not filled in yet: `<!-- AUTOLOOP:UNCONFIGURED -->`"]);
}

#[test]
fn a_strategy_that_is_pointed_at_and_missing_fails_closed() {
    let text = format!("{PUBLIC}\n## Evolution Strategy\n\nRead `strategy/openevolve.md` and follow it.\n");
    let expected = "31: it points at the strategy `openevolve`, which is not known here; known: test-driven";
    assert_eq!(problems(&text), [expected]);
}

#[test]
fn front_matter_that_cannot_be_read_is_told_with_its_place() {
    let error = Definition::parse("<!-- a -->\n---\ntarget-metric: much\n---\n", &[]).unwrap_err();
    assert_eq!(error.line, 3);
    assert!(Definition::parse("---\nschedule: daily\n", &[]).is_err());
}
