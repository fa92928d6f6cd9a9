use waiting_line::Line;

fn line(patients: &[(&str, u32)]) -> Line {
    let mut line = Line::new();
    for (name, urgency) in patients {
        assert!(line.arrive(name, *urgency));
    }
    line
}

fn calls(mut line: Line) -> Vec<String> {
    std::iter::from_fn(|| line.call()).collect()
}

#[test]
fn an_empty_line_calls_nobody() {
    assert_eq!(Line::new().call(), None);
    assert_eq!(Line::default().call(), None);
}

#[test]
fn one_patient_is_called_once() {
    assert_eq!(calls(line(&[("Ann", 1)])), ["Ann"]);
}

#[test]
fn the_most_urgent_comes_first() {
    assert_eq!(calls(line(&[("Ann", 1), ("Bob", 3), ("Cyd", 2)])), ["Bob", "Cyd", "Ann"]);
}

#[test]
fn of_the_same_urgency_the_first_comes_first() {
    assert_eq!(calls(line(&[("Ann", 1), ("Bob", 3), ("Cyd", 3)])), ["Bob", "Cyd", "Ann"]);
}

#[test]
fn nobody_waits_twice() {
    let mut line = line(&[("Ann", 1), ("Bob", 2)]);
    assert!(!line.arrive("Ann", 9));
    assert_eq!(calls(line), ["Bob", "Ann"]);
}

#[test]
fn a_patient_may_come_back_after_the_call() {
    let mut line = line(&[("Ann", 1)]);
    assert_eq!(line.call(), Some("Ann".to_owned()));
    assert!(line.arrive("Ann", 2));
    assert_eq!(line.len(), 1);
}

#[test]
fn a_changed_urgency_counts_from_the_time_of_arrival() {
    let changes = [(1, 3, ["Ann", "Bob"]), (1, 2, ["Ann", "Bob"]), (5, 1, ["Bob", "Ann"])];
    for (before, after, expected) in changes {
        let mut line = line(&[("Ann", before), ("Bob", 2)]);
        assert!(line.raise("Ann", after));
        assert_eq!(calls(line), expected, "from {before} to {after}");
    }
}

#[test]
fn who_does_not_wait_cannot_be_raised() {
    let mut line = line(&[("Ann", 1)]);
    assert!(!line.raise("Bob", 9));
    assert_eq!(calls(line), ["Ann"]);
}

#[test]
fn a_line_knows_its_length() {
    let mut line = line(&[("Ann", 1), ("Bob", 2)]);
    assert_eq!((line.len(), line.is_empty()), (2, false));
    line.call();
    line.call();
    assert_eq!((line.len(), line.is_empty()), (0, true));
}

#[test]
fn a_patient_knows_how_many_are_ahead() {
    let line = line(&[("Ann", 1), ("Bob", 3), ("Cyd", 1), ("Dan", 2)]);
    let ahead = ["Bob", "Dan", "Ann", "Cyd", "Eve"].map(|name| line.ahead_of(name));
    assert_eq!(ahead, [Some(0), Some(1), Some(2), Some(3), None]);
}
