//! The brief of a task: the kata, the plan, and the task itself.

use super::{Plan, Step};

/// Longest plan, in bytes, that a brief shows; a longer one would push the task out of the prompt.
const MAX_BODY: usize = 12_000;

impl Plan {
    /// The brief of one step. The parts that are the same for all tasks come first.
    pub fn brief(&self, kata: &str, step: &Step) -> String {
        let plan = if self.body.len() <= MAX_BODY { self.body.trim() } else { "(too long to be shown)" };
        let kata = kata.trim_end();
        let test = match (&step.test_id, &step.test_file_path) {
            (Some(id), Some(file)) => {
                format!("\n\nThe test of this task is `{}`, in the file `{}`.", id.text, file.text)
            }
            (_, _) => String::new(),
        };
        let task = step.text.trim();
        let plan = format!("# The plan\n\n{plan}\n\n# Your task\n\nDo only this part of the plan:\n\n{task}{test}\n");
        if kata.is_empty() { plan } else { format!("{kata}\n\n{plan}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_brief_ends_with_the_task_and_its_test() {
        let body = "1. Add\n   - test_id: tests/a.rs::adds\n   - test_file_path: tests/a.rs\n2. Rest\n";
        let plan = Plan::parse(&format!("---\nphase: 1\nplan: 1\ntype: tdd\n---\n{body}")).unwrap();
        let brief = plan.brief("# Kata\n", &plan.steps[0]);
        assert!(brief.starts_with("# Kata\n\n# The plan\n\n1. Add"), "{brief}");
        assert!(brief.ends_with("is `tests/a.rs::adds`, in the file `tests/a.rs`.\n"), "{brief}");
        let other = plan.brief("", &plan.steps[1]);
        assert!(other.starts_with("# The plan") && other.ends_with("part of the plan:\n\n2. Rest\n"), "{other}");
    }
}
