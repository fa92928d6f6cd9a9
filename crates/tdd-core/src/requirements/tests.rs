//! Tests extraction with katas in many layouts, and which requirements seem to have a test.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;
use crate::report::{Cause, Outcome, Report, TestResult};
use crate::seam::Done;
use crate::test_id::TestId;

/// The requirements of a kata with their numbers, each followed by its examples; examples of none come last.
fn told(kata: &str) -> String {
    let requirements = Requirements::of(kata);
    let mut told = format!("{:?}\n", requirements.layout());
    let examples = |of: Option<usize>| requirements.examples().iter().filter(move |it| it.requirement == of);
    for (at, text) in requirements.list().iter().enumerate() {
        writeln!(told, "{}. {text}", at + 1).unwrap();
        examples(Some(at)).for_each(|example| writeln!(told, "   > {}", example.text).unwrap());
    }
    examples(None).for_each(|example| writeln!(told, "> {}", example.text).unwrap());
    told
}

#[track_caller]
fn check(kata: &str, expected: &str) {
    let lines = expected.trim().lines().map(|line| line.strip_prefix("        ").unwrap_or(line));
    let expected = lines.fold(String::new(), |text, line| text + line + "\n");
    let told = told(kata);
    assert!(told == expected, "expected:\n{expected}\ntold:\n{told}");
}

#[test]
fn a_kata_gives_the_values_of_a_test_or_it_does_not() {
    let kata = "If a number is divisible by 3, add \"Pling\". The ISBN 3-598-21508-8 is valid, as `\"a-b\"` is. Examples of \
                isograms:\n\n- background\n\nThe word _isograms_ is none, because the s repeats.\n";
    for given in [
        "assert convert(3) == \"Pling\"",
        "assert f(\"3-598-21508-8\") is True",
        "assert_eq!(f(\"a-b\"), 3);",
        "f(\"background\"), f('isograms')",
        "",
    ] {
        assert!(gives_all_values(kata, given), "{given}");
    }
    for made_up in [
        "assert convert(105) == \"Pling\"",
        "assert convert(3) == \"Plang\"",
        "assert f(\"a-c\")",
        "assert f(\"word\")",
    ] {
        assert!(!gives_all_values(kata, made_up), "{made_up}");
    }
}

#[test]
fn numbered_items_are_the_requirements_with_the_examples_inside_of_them() {
    check(
        "# Roman Numerals\n\nWrite a function that spells a number. It takes a `u32` and gives a `String`; numbers go \
         from 1 to 3999.\n\n1. 1 is `I`.\n2. A symbol is repeated for each time its value fits: 3 is `III`.\n3) The \
         symbols are I = 1 and V = 5. Only I is\n   taken away.\n",
        "
        Numbered
        1. 1 is `I`.
           > 1 is `I`
        2. A symbol is repeated for each time its value fits: 3 is `III`.
           > 3 is `III`
        3. The symbols are I = 1 and V = 5. Only I is taken away.
           > I = 1
           > V = 5
        ",
    );
}

#[test]
fn our_own_katas_are_numbered() {
    let counts = [
        (include_str!("../../../tdd-cli/katas/bowling/kata.md"), 3),
        (include_str!("../../../tdd-cli/katas/fizz-buzz/kata.md"), 4),
        (include_str!("../../../tdd-cli/katas/leap-years/kata.md"), 4),
        (include_str!("../../../tdd-cli/katas/reverse-polish/kata.md"), 4),
        (include_str!("../../../tdd-cli/katas/roman-numerals/kata.md"), 5),
        (include_str!("../../../tdd-cli/katas/string-calculator/kata.md"), 5),
    ];
    for (kata, count) in counts {
        let requirements = Requirements::of(kata);
        assert_eq!((requirements.layout(), requirements.list().len()), (Layout::Numbered, count), "{kata}");
    }
}

#[test]
fn bullets_are_the_requirements_where_nothing_is_numbered_and_examples_are_told_from_them() {
    check(
        "# Leap\n\nA leap year occurs:\n\n- In every year that is evenly divisible by 4.\n- Unless the year is evenly \
         divisible by 100,\n  in which case it needs 400.\n\nSome examples:\n\n- 1997 was not a leap year as it is not \
         divisible by 4.\n- 2000 was a leap year!\n\n## Source\n\n- [A page](http://localhost/leap)\n- It should be \
         nothing.\n",
        "
        Bulleted
        1. In every year that is evenly divisible by 4.
        2. Unless the year is evenly divisible by 100, in which case it needs 400.
        > 1997 was not a leap year as it is not divisible by 4.
        > 2000 was a leap year!
        ",
    );
}

#[test]
fn a_section_of_examples_holds_no_requirements() {
    check(
        "# Raindrops\n\n## Instructions\n\nIf a number\n\n* is divisible by 3, add \"Pling\".\n* is divisible by 5, add \
         \"Plang\".\n\n## Examples\n\n* 28 is divisible by 7, so the result is \"Plong\".\n* 34 is said as `\"34\"`.\n\n## \
         More\n\n* has none of them, is said as it is.\n",
        "
        Bulleted
        1. is divisible by 3, add \"Pling\".
        2. is divisible by 5, add \"Plang\".
        3. has none of them, is said as it is.
        > 28 is divisible by 7, so the result is \"Plong\".
        > 34 is said as `\"34\"`
        ",
    );
}

#[test]
fn rows_of_a_table_are_examples() {
    check(
        "# Roman\n\n1. Convert a number to a numeral.\n\n   | Number | Numeral |\n   | ---: | :--- |\n   | 1 | I |\n   | 4 \
         | `IV` |\n\n| Option | Meaning |\n|---|---|\n| `-h` | prints what the program can do |\n",
        "
        Numbered
        1. Convert a number to a numeral.
           > 1 | I
           > 4 | `IV`
        ",
    );
}

#[test]
fn doctests_and_code_blocks_are_examples_of_the_item_above_them() {
    check(
        "# Calculator\n\n1. An empty text is 0.\n\n   ```python\n   >>> from calc import add\n   >>> add(\"\")\n   0\n   \
         ```\n2. Numbers are added.\n```\nadd(\"1,2\") == 3\nadd(\"4\") # => 4\nfn add(text: &str) -> i64 {\n```\n\nThat is \
         all.\n\n>>> add(\"7\")\n7\n>>> add(\"-1\")\nTraceback (most recent call last):\n",
        "
        Numbered
        1. An empty text is 0.
           > add(\"\") → 0
        2. Numbers are added.
           > add(\"1,2\") == 3
           > add(\"4\") # => 4
        > add(\"7\") → 7
        > add(\"-1\") → an error
        ",
    );
}

#[test]
fn sentences_about_behaviour_are_the_requirements_of_a_kata_that_lists_nothing() {
    check(
        "# FizzBuzz\n\nImagine the scene. You are eleven years old, and it is late on a Friday.\n\nWrite a program that \
         prints the numbers from 1 to 100. For multiples of three print “Fizz” instead of the number, e.g. 3 is \
         “Fizz”.\n\n## About\n\nThis kata must be old. See [a page](http://localhost).\n",
        "
        Prose
        1. Write a program that prints the numbers from 1 to 100.
        2. For multiples of three print “Fizz” instead of the number, e.g. 3 is “Fizz”.
           > 3 is “Fizz”
        ",
    );
}

#[test]
fn nested_items_belong_to_the_item_above_unless_it_only_introduces_them() {
    check(
        "- Vowels come first\n  - `apple` becomes \"appleay\"\n    - deeper\n- Consonants:\n    - move to the end: \"pig\" becomes \
         \"igpay\"\n    - and `qu` too\n- [ ] Words stay in order\n- \n- Examples:\n  - \"a b\" → \"aay bay\"\n",
        "
        Bulleted
        1. Vowels come first
           > `apple` becomes \"appleay\"
        2. move to the end: \"pig\" becomes \"igpay\"
           > \"pig\" becomes \"igpay\"
        3. and `qu` too
        4. Words stay in order
        > \"a b\" → \"aay bay\"
        ",
    );
}

#[test]
fn numbered_headings_are_requirements_unless_a_list_below_says_more() {
    check(
        "Lasagna\n=======\n\n## 1. Bake time\n\nDefine how long it takes.\n\n```\n>>> bake_time(30)\n10\n```\n\n## Step 2: \
         layers\n\n- Each layer takes 2 minutes.\n- `prepare(3)` returns 6.\n\n## Task 3\n\nSum up.\n",
        "
        Numbered
        1. Bake time
           > bake_time(30) → 10
        2. Each layer takes 2 minutes.
        3. Task 3: Sum up.
        > `prepare(3)` returns 6
        ",
    );
}

#[test]
fn german_katas_are_read_as_well() {
    check(
        "# Römische Zahlen\n\nSchreibe eine Funktion, die Zahlen umwandelt. Früher war alles besser.\n\nAus 1 wird `I`. \
         Wenn die Zahl zu groß ist, wird sie abgelehnt.\n\n## Beispiele\n\nEingabe: 4\nAusgabe: IV\n\n## Lizenz\n\nSie muss \
         frei sein.\n",
        "
        Prose
        1. Schreibe eine Funktion, die Zahlen umwandelt.
        2. Aus 1 wird `I`.
           > 1 wird `I`
        3. Wenn die Zahl zu groß ist, wird sie abgelehnt.
        > 4 → IV
        ",
    );
}

#[test]
fn code_blocks_alone_give_examples_and_no_requirements() {
    check(
        "```\nabc -> cba\n1. no item\n- neither\nInput: \"x\"\nOutput: \"y\"\n```\n",
        "
        Prose
        > abc -> cba
        > \"x\" → \"y\"
        ",
    );
    check("", "Prose");
    check("# Title only\n\n---\n<!-- 1. hidden\n2. too -->\n", "Prose");
    check("12.5 is no item, and 2.5 neither.\n    ```\n1. unclosed", "Prose");
}

#[test]
fn texts_are_short_and_hold_no_control_characters() {
    let kata = format!("1. {}\n2. a\u{1b}[31mb\u{202e}c\td `x\u{7}` is 5\n", "é".repeat(500));
    let requirements = Requirements::of(&kata);
    assert!(requirements.list()[0].len() <= MAX_TEXT && requirements.list()[0].ends_with('…'));
    assert_eq!(requirements.list()[1], "a[31mbc d `x` is 5");
    assert_eq!(requirements.examples()[0].text, "`x` is 5");
}

#[test]
fn huge_and_odd_katas_are_read_within_bounds() {
    let many_lines = "- `f(1)` is 2 and some more\n".repeat(100_000);
    let deep: String = (0..1_400).fold(String::new(), |text, depth| text + &" ".repeat(depth) + "- x\n");
    let odd = ["`", "\"", "1 is ", "| 1 ", "- [ ] ", "= ", "-> ", "> ", ". ", "'", "# ", "a_1", "“", "\u{301}"];
    let katas = odd.iter().map(|piece| piece.repeat(1_000_000 / piece.len())).chain([many_lines, deep]);
    for kata in katas {
        let requirements = Requirements::of(&kata);
        assert!(requirements.list().len() <= MAX_REQUIREMENTS && requirements.examples().len() <= MAX_EXAMPLES);
    }
}

proptest! {
    #[test]
    fn no_kata_makes_it_panic(kata in "(?s)([-#*`\"'|=>.:0-9\n \\\\→“I]|1\\. |>>> |```|->| is |Input: |.){0,120}") {
        let requirements = Requirements::of(&kata);
        prop_assert!(requirements.list().iter().all(|text| text.len() <= MAX_TEXT));
        prop_assert_eq!(&Requirements::of(&kata), &requirements);
        let tests = texts(&[("t.py", "test_a"), ("t.py", "I")], &kata);
        let named = [Done { requirement: kata, test_id: TestId::native("t.py", "test_a") }];
        prop_assert_eq!(requirements.progress(&tests, &named).requirements.len(), requirements.list().len());
    }
}

/// These tests, which all pass, with the text of their only file.
fn texts(ids: &[(&str, &str)], file: &str) -> Vec<TestText> {
    let passed = |(path, name): &(&str, &str)| TestResult::new(TestId::native(path, name), Outcome::Pass, 1);
    let failed = Outcome::Fail { cause: Cause::Assertion, message: String::new() };
    let failed = TestResult::new(TestId::native("t.py", "test_that_fails"), failed, 1);
    let report = Report::new(ids.iter().map(passed).chain([failed]), Vec::new());
    test_texts(&report, |_| Ok::<_, ()>(Some(file.to_owned()))).unwrap()
}

/// What seems to have which test, and the next example.
fn standing(kata: &str, tests: &[TestText], named: &[(&str, &str)]) -> String {
    let claim = |(requirement, test): &(&str, &str)| Done {
        requirement: (*requirement).to_owned(),
        test_id: TestId::native("t.py", test),
    };
    let named: Vec<Done> = named.iter().map(claim).collect();
    let progress = Requirements::of(kata).progress(tests, &named);
    let tests = progress.requirements.iter().map(|it| it.test.as_ref().map_or("-", TestId::short_name).to_owned());
    let next = progress.examples.first().map_or(String::new(), |next| format!(" next: {next}"));
    format!("{}{next}{}", tests.collect::<Vec<_>>().join(" "), if progress.is_complete() { " complete" } else { "" })
}

const KATA: &str = "1. 1 is `I`.\n2. A symbol is repeated: 3 is `III`.\n3. Zero is refused with an error.\n4. The symbols \
                    are I = 1 and V = 5.\n";

#[test]
fn a_test_with_the_values_of_an_example_seems_to_be_about_its_requirement() {
    assert_eq!(standing(KATA, &[], &[]), "- - - - next: 1 is `I`");
    let file = "def test_a():\n    assert roman(1) == 'I'\n\ndef test_b():\n    assert roman(3) == 'III'\n\ndef \
                test_that_fails():\n    assert roman(5) == 'V'\n";
    let tests = texts(&[("t.py", "test_a"), ("t.py", "test_b")], file);
    assert_eq!(standing(KATA, &tests, &[]), "test_a test_b - - next: V = 5");
}

#[test]
fn the_values_must_stand_in_one_test() {
    let file = "def test_a():\n    assert roman(1) == 'V'\n\ndef test_b():\n    assert roman(5) == 'I'\n";
    assert_eq!(standing(KATA, &texts(&[("t.py", "test_a"), ("t.py", "test_b")], file), &[]), "- - - - next: 1 is `I`");
}

#[test]
fn the_cases_above_a_table_test_belong_to_it() {
    let file = "def test_a():\n    assert roman(9)\n\n@pytest.mark.parametrize('n, text', [\n    (1, 'I'),\n    (3, \
                'III'),\n])\ndef test_b(n, text):\n    assert roman(n) == text\n";
    let tests = texts(&[("t.py", "test_a"), ("t.py", "test_b[1-I]"), ("t.py", "test_b[3-III]")], file);
    assert_eq!(standing(KATA, &tests, &[]), "test_b[1-I] test_b[1-I] - - next: V = 5");
}

#[test]
fn a_test_whose_name_has_most_words_of_a_requirement_seems_to_be_about_it() {
    let tests = texts(&[("t.py", "test_zero_is_refused")], "");
    assert_eq!(standing(KATA, &tests, &[]), "- - test_zero_is_refused - next: 1 is `I`");
    assert_eq!(standing(KATA, &texts(&[("t.py", "zero is not refused")], ""), &[]), "- - - - next: 1 is `I`");
    let divides = "1. A year that four does not divide is no leap year.\n2. A year that four divides is one.\n";
    let tests = texts(&[("t.py", "TestAYearThatFourDivides")], "");
    assert_eq!(standing(divides, &tests, &[]), "- TestAYearThatFourDivides");
}

#[test]
fn a_requirement_that_a_tester_named_has_its_test() {
    let tests = texts(&[("t.py", "x")], "");
    let named = [("2", "x"), ("Requirement 3", "x"), ("4. The symbols", "x"), ("1 is I", "x")];
    assert_eq!(standing(KATA, &tests, &named), "x x x x complete");
    let words =
        [("a symbol is repeated", "x"), ("refuses zero with an error", "x"), ("something else", "x"), ("9", "x")];
    assert_eq!(standing(KATA, &tests, &words), "- x x - next: 1 is `I`");
}

#[test]
fn every_example_of_a_kata_without_a_list_needs_a_test() {
    let kata = "A word should be reversed: \"abc\" becomes \"cba\", and \"xy\" becomes \"yx\".\n";
    let file = "test('reverses', () => {\n  expect(reverse(\"abc\")).toBe(\"cba\");\n});\n";
    let tests = texts(&[("t.py", "reverses")], file);
    assert_eq!(standing(kata, &tests, &[]), "reverses next: \"xy\" becomes \"yx\"");
    assert_eq!(standing(kata, &tests, &[("words are reversed", "reverses")]), "reverses complete");
}
