//! Parses the output of an evaluation: one JSON object, read strictly, or the reason why it is invalid.

use serde_json::{Map, Value};

use super::definition::Strategy;

/// The values measured on a commit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The program's metric.
    pub metric: f64,
    /// How many tests passed, if the output says so.
    pub passing: Option<u64>,
    /// How many tests failed.
    pub failing: u64,
}

/// Parses the last JSON object on a line of its own, or else the whole output. `name` is the program's name for its
/// metric.
pub fn read(output: &str, name: Option<&str>, strategy: Strategy) -> Result<Measured, String> {
    let object = last_object(output).ok_or("it printed no JSON object")?;
    let metric = metric(&object, name)?;
    let count = |key: &str| match object.get(key) {
        None => Ok(None),
        Some(value) => value.as_u64().map(Some).ok_or(format!("`{key}` is not a count: {value}")),
    };
    let failing = match (count("failing")?, strategy) {
        (Some(failing), _) => failing,
        (None, Strategy::Default) => 0,
        (None, Strategy::TestDriven) => return Err("it does not say how many tests are `failing`".to_owned()),
    };
    Ok(Measured { metric, passing: count("passing")?, failing })
}

fn last_object(output: &str) -> Option<Map<String, Value>> {
    let object = |text: &str| match serde_json::from_str(text.trim()) {
        Ok(Value::Object(object)) => Some(object),
        Ok(_) | Err(_) => None,
    };
    output.lines().rev().find_map(object).or_else(|| object(output))
}

/// The value of `metric`, else of the program's name for it, else the only number.
fn metric(object: &Map<String, Value>, name: Option<&str>) -> Result<f64, String> {
    let named = object.get("metric").or_else(|| name.and_then(|name| object.get(name)));
    let value = match named {
        Some(value) => value,
        None => only_number(object).ok_or_else(|| match name {
            Some(name) => format!("it has neither `metric` nor `{name}`"),
            None => "it has no `metric`".to_owned(),
        })?,
    };
    match value.as_f64().filter(|value| value.is_finite()) {
        Some(value) => Ok(value),
        None => Err(format!("the metric is not a number: {value}")),
    }
}

fn only_number(object: &Map<String, Value>) -> Option<&Value> {
    let mut numbers = object.values().filter(|value| value.is_number());
    let first = numbers.next();
    if numbers.next().is_none() { first } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(output: &str, name: Option<&str>, strategy: Strategy) -> String {
        match read(output, name, strategy) {
            Ok(Measured { metric, passing, failing }) => format!("{metric} {passing:?} {failing}"),
            Err(why) => why,
        }
    }

    #[test]
    fn the_contracts_object_is_read_wherever_it_stands() {
        let tdd = |output: &str| told(output, None, Strategy::TestDriven);
        assert_eq!(tdd(r#"{"metric": 4, "passing": 4, "failing": 0}"#), "4 Some(4) 0");
        assert_eq!(tdd("noise {\n{\"metric\":1,\"failing\":0}\nmore\n"), "1 None 0");
        assert_eq!(tdd("{\n \"metric\": 2.5,\n \"passing\": 1, \"failing\": 3\n}\n"), "2.5 Some(1) 3");
        assert_eq!(tdd("{\"metric\":1,\"failing\":0}\n{\"metric\":2,\"failing\":0}\n"), "2 None 0");
    }

    #[test]
    fn what_is_not_said_is_not_guessed() {
        let tdd = |output: &str| told(output, None, Strategy::TestDriven);
        assert_eq!(tdd("12"), "it printed no JSON object");
        assert_eq!(tdd(r#"{"metric": 4}"#), "it does not say how many tests are `failing`");
        assert_eq!(tdd(r#"{"metric": null, "failing": 0}"#), "the metric is not a number: null");
        assert_eq!(tdd(r#"{"metric": "4", "failing": 0}"#), "the metric is not a number: \"4\"");
        assert_eq!(tdd(r#"{"metric": 1, "failing": -1}"#), "`failing` is not a count: -1");
        assert_eq!(tdd(r#"{"a": 1, "b": 2, "failing": 0}"#), "it has no `metric`");
    }

    #[test]
    fn a_metric_may_have_a_name_of_its_own() {
        let evolve = |output: &str| told(output, Some("fitness"), Strategy::Default);
        assert_eq!(evolve(r#"{"fitness": 0.9, "tsb_mean_ms": 4.0}"#), "0.9 None 0");
        assert_eq!(evolve(r#"{"fitness": null, "rejected_reason": "x"}"#), "the metric is not a number: null");
        assert_eq!(evolve(r#"{"score": 1, "other": 2}"#), "it has neither `metric` nor `fitness`");
        assert_eq!(told(r#"{"combined_score": 7}"#, None, Strategy::Default), "7 None 0");
    }
}
