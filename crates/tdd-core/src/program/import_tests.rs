//! Tests of importing another tool's pages, and of a person's changes in our pages.

use super::*;
use crate::program::iteration::Iteration;
use crate::program::page;
use crate::program::state::Happened;

/// A page as an agent of a public repository writes it.
const THEIRS: &str = "# Autoloop: port

🤖 *This file is kept by an agent.*

---

## ⚙️ Machine State

| Field | Value |
|-------|-------|
| Last Run | 2025-01-15T12:00:00Z |
| Iteration Count | 12 |
| Best Metric | 0.82 |
| Target Metric | — |
| Branch | `autoloop/port` |
| Paused | false |
| Pause Reason | — |
| Completed | false |
| Consecutive Errors | 1 |
| Recent Statuses | accepted, rejected, error |

---

## 🎯 Current Priorities

<!-- Maintainers: edit this section. -->

Strings before dates.

---

## ✅ Test Harness

### sorts NaN last  ·  gen 9

- **Status**: ✅ passing
- **Target**: src/core/series.ts:40
- **Spec source**: the reference's documentation
- **Added iteration**: 9
- **Made green iteration**: 10 (second try)
- **Notes**: NaN comes last

### tests/a.rs::adds  ·  gen 3

- **Status**: 🚧 blocked
- **Blocked reason**: no idea

### Tests 1–2 — ✅ passing (batch)

## 📚 Lessons Learned

- Newest first.
- Oldest last.

## 🚧 Foreclosed Avenues

- Memoising per instance.

---

## 📊 Iteration History

### Iteration 12 — [2025-01-15 12:00 UTC](https://example.org/run)

- **Status**: ⚠️ Error
- **Change**: tried it
- **Metric**: —

### Iteration 11 — [2025-01-14 12:00 UTC](https://example.org/run)

- **Status**: ✅ Accepted
- **Change**: did it
- **Metric**: 0.82 (previous best: 0.8)
- **Commit**: abc1234
";

#[test]
fn a_page_of_others_becomes_a_state() {
    let read = read(THEIRS, Direction::Lower, 0);
    assert_eq!((read.iterations, read.best, read.consecutive_errors), (12, Some(0.82), 1));
    assert_eq!((read.last_run_ms, read.direction), (Some(1_736_942_400_000), Direction::Lower));
    assert_eq!((&read.pause, &read.completed, read.priorities.as_str()), (&None, &None, "Strings before dates."));
    let told: Vec<_> =
        read.harness.entries.iter().map(|it| (it.test.as_str(), it.status, it.added, it.made_green)).collect();
    let expected =
        [("unknown::sorts NaN last", Status::Passing, 9, Some(10)), ("tests/a.rs::adds", Status::Blocked, 3, None)];
    assert_eq!(told, expected);
    let past: Vec<_> =
        read.history.entries.iter().map(|it| (it.number, it.overview.outcome, it.overview.metric)).collect();
    assert_eq!(past, [(12, Outcome::Error, None), (11, Outcome::Accepted, Some(0.82))]);
    assert_eq!(read.lessons, ["Oldest last.", "Newest first."]);
    assert_eq!(read.kept.len(), 1, "{:?}", read.kept);
    let page = page::write(&read.into_state("port"), None);
    assert!(
        page.contains("\n### sorts NaN last  ·  gen 9\n") && page.contains("\n### Tests 1–2 — ✅ passing (batch)\n")
    );
    assert!(page.contains("## 🚧 Foreclosed Avenues\n\n- Memoising per instance.\n"), "{page}");
}

#[test]
fn a_status_may_stand_in_the_heading_and_a_name_keeps_its_words() {
    let named = |heading: &str| {
        let (name, status) = with_status(heading);
        format!("{name}: {}", status.map_or("none", Status::word))
    };
    assert_eq!(named("two_is_ii ❌ failing"), "two_is_ii: failing");
    assert_eq!(named("two_is_ii — ✅ passing"), "two_is_ii: passing");
    assert_eq!(named("orders NaN last (blocked)"), "orders NaN last: blocked");
    assert_eq!(named("it reports what is failing"), "it reports what is failing: none");
    assert_eq!(named("Tests 40–80 — ✅ passing (41 tests): sums"), "Tests 40–80 — ✅ passing (41 tests): sums: none");
    assert_eq!(named("failing"), "failing: none");
}

#[test]
fn a_pause_of_a_person_is_honoured() {
    let page = THEIRS.replace("| Paused | false |", "| Paused | true |");
    let pause = read(&page, Direction::Higher, 7).pause.unwrap();
    assert_eq!((pause.since_ms, pause.by, pause.reason.as_str()), (7, Who::Person, "paused by a person"));
}

#[test]
fn what_a_person_changed_on_our_page_is_told() {
    let mut state = State::new("port");
    state.apply(&Happened::Iterated { iteration: Box::new(Iteration::sample("a", Outcome::Accepted)), against: None });
    let page = page::write(&state, None);
    assert_eq!(edits(&page, &state, 7), []);
    let paused = page.replace("| Paused | false |", "| Paused | True |");
    let pause = Happened::Paused { at_ms: 7, by: Who::Person, reason: "paused by a person".to_owned() };
    assert_eq!(edits(&paused, &state, 7), std::slice::from_ref(&pause));
    let steered = page.replace("*None.*", "Tens first.");
    assert_eq!(edits(&steered, &state, 7), [Happened::Prioritised { text: "Tens first.".to_owned() }]);
    state.apply(&pause);
    let resumed = page::write(&state, None).replace("| Paused | true |", "| Paused | false |");
    assert_eq!(edits(&resumed, &state, 8), [Happened::Resumed { at_ms: 8, by: Who::Person }]);
}

#[test]
fn a_page_that_says_nothing_changes_nothing() {
    assert_eq!(edits("", &State::new("x"), 0), []);
    assert_eq!(read("nonsense", Direction::Higher, 0), Remembered::default());
}

#[test]
fn times_are_read_as_they_are_written() {
    assert_eq!(millis("[2025-01-15 12:00 UTC](x)"), Some(1_736_942_400_000));
    assert_eq!(millis("2025-01-15T12:00:30Z"), Some(1_736_942_430_000));
    assert_eq!(millis("2025-01-15"), Some(1_736_899_200_000));
    assert_eq!(millis("yesterday"), None);
}
