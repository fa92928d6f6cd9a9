//! The goal of a plan, in one sentence.

use super::Plan;
use crate::account;
use crate::program::sections;

/// The titles under which a plan states its goal.
const TITLES: [&str; 3] = ["Objective", "Goal", "Purpose"];

impl Plan {
    /// The goal: the text under `<objective>`, `## Objective` or the like; else the first sentence before the steps, or
    /// the title; else the first truth, or the title of the first step.
    pub fn goal(&self) -> String {
        let before: Vec<&str> = self.body.lines().take(self.lines_before_steps()).collect();
        let ways = [self.objective(), account::goal(&before.join("\n")), self.first_truth()];
        let first_step = || self.steps.first().map(|step| step.title.clone()).unwrap_or_default();
        ways.into_iter().find(|goal| !goal.is_empty()).unwrap_or_else(first_step)
    }

    fn objective(&self) -> String {
        let lower = self.body.to_lowercase();
        let tagged = TITLES.iter().find_map(|title| {
            let title = title.to_lowercase();
            let start = lower.find(&format!("<{title}>"))? + title.len() + 2;
            let end = start + lower[start..].find(&format!("</{title}>"))?;
            // The lower case of a character can be longer than the character, so this range may be invalid.
            self.body.get(start..end).map(account::goal)
        });
        let sections = sections::sections(&self.body);
        let section = || sections::named(&sections, &TITLES).map(|section| account::goal(&section.lines.join("\n")));
        tagged.filter(|goal| !goal.is_empty()).or_else(section).unwrap_or_default()
    }

    /// The first truth, without the test that it names.
    fn first_truth(&self) -> String {
        let Some(truth) = self.truths.first() else { return String::new() };
        let id = truth.test.as_ref().map(ToString::to_string).unwrap_or_default();
        let text = if id.is_empty() { truth.text.clone() } else { truth.text.replace(&id, "") };
        let is_empty = |word: &&str| !word.chars().any(char::is_alphanumeric);
        let words: Vec<&str> = text.split_whitespace().filter(|word| !is_empty(word)).collect();
        words.join(" ").trim_end_matches([':', ',', ';', ' ']).to_owned()
    }

    fn lines_before_steps(&self) -> usize {
        // The body begins after the front matter and its two fences.
        self.steps.first().map_or(usize::MAX, |step| step.line.saturating_sub(self.front.len() + 3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(truths: &str, body: &str, expected: &str) {
        let plan = Plan::parse(&format!("---\nphase: 1\nplan: 1\nmust_haves: {{ truths: [{truths}] }}\n---\n{body}"));
        assert_eq!(plan.unwrap().goal(), expected, "{body}");
    }

    #[test]
    fn the_goal_is_what_the_plan_says_else_its_title_its_truth_or_its_step() {
        check("", "Other words.\n\n<objective>\nLet users\nlog in. Soon.\n</objective>\n1. One\n", "Let users log in.");
        check("", "Other words.\n\n<OBJECTIVE>Let users log in</OBJECTIVE>\n1. One\n", "Let users log in");
        check("", "Other words.\n\n## 🎯 Goal\n\nLet users log in.\n\n## Step 1: one\n", "Let users log in.");
        check("", "<objective>\n</objective>\n# Log in\n\nLet users log in.\n\n1. One\n", "Let users log in.");
        check("It logs in", "# Log in\n\n@docs/a.md\n\n1. One\n   Two words.\n", "Log in");
        check("\"It logs in (`tests/a.rs::logs_in`).\"", "1. One\n", "It logs in");
        check("tests/a.rs::logs_in", "1. Log in\n", "Log in");
        check("", "1. Log in\n   - test_id: x\n", "Log in");
    }
}
