//! A small kata, solved step by step, with each role's answers.

use std::ops::RangeInclusive;

use serde_json::{Value, json};

/// The kata's text.
pub const KATA: &str = "# String calculator\n\nAdd the numbers in a text.\n\n- An empty text is 0.\n- One number is \
                        itself.\n- Numbers are separated by commas.\n- Or by line breaks.\n";

/// The kata's tests and their assertions, in the order of writing.
const TESTS: [(&str, &str); 4] = [
    ("an_empty_text_is_zero", r#"add(""), 0"#),
    ("one_number_is_itself", r#"add("7"), 7"#),
    ("numbers_are_separated_by_commas", r#"add("1,2,3"), 6"#),
    ("or_by_line_breaks", r#"add("1\n2,3"), 6"#),
];

/// The function's body after each cycle.
const BODIES: [&str; 4] = [
    "0",
    "text.parse().unwrap_or(0)",
    "text.split(',').map(|part| part.parse().unwrap_or(0)).sum()",
    "text.split([',', '\\n']).map(|part| part.parse().unwrap_or(0)).sum()",
];

pub const TEST_FILE: &str = "tests/add.rs";
pub const CODE_FILE: &str = "src/lib.rs";

/// The id of a cycle's test.
pub fn id(cycle: usize) -> String {
    format!("{TEST_FILE}::{}", TESTS[cycle - 1].0)
}

/// The part of a story in which the tests of these cycles pass at once; `message` makes the subject of a test's commit.
pub fn arrivals(cycles: RangeInclusive<usize>, message: fn(&str) -> String) -> String {
    let step = |cycle: usize| {
        let (number, message) = (cycle + 2, message(TESTS[cycle - 1].0));
        format!("{number} red\n  arrived {}\n  {message}\n", id(cycle))
    };
    cycles.map(step).collect()
}

/// A claim that one test pins every requirement.
pub fn all_by(test: &str) -> Value {
    (1..=TESTS.len()).map(|number| json!({"requirement": number.to_string(), "test_id": test})).collect()
}

/// One test.
pub fn test(name: &str, asserted: &str) -> String {
    format!("\n#[test]\nfn {name}() {{\n    assert_eq!({asserted});\n}}\n")
}

/// The test file after this many cycles.
pub fn tests(cycles: usize) -> String {
    let tests = TESTS[..cycles].iter().map(|(name, asserted)| test(name, asserted));
    format!("use kata::add;\n{}", tests.collect::<String>())
}

/// The code with this function body.
pub fn code_with(body: &str) -> String {
    let name = if body.contains("text") { "text" } else { "_text" };
    format!("//! Adds.\n\n/// The sum of the numbers in a text.\npub fn add({name}: &str) -> i64 {{\n    {body}\n}}\n")
}

/// The code after this many cycles.
pub fn code(cycles: usize) -> String {
    code_with(BODIES[cycles - 1])
}

/// The code of a cycle with another comment.
pub fn tidied(cycle: usize) -> String {
    code(cycle).replace("The sum of the numbers in a text.", "The sum of all numbers in a text.")
}
