//! Writes the files below `.tdd/` that people read: plans and step logs. They are never read back.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::PathBuf;

use tdd_core::cycle::Role;
use tdd_core::machine::StepLog;

use crate::state::StateDir;

/// The plans and logs of one run.
#[derive(Debug)]
pub struct Views {
    folder: PathBuf,
    /// The logs written by this run.
    logs: BTreeSet<String>,
}

impl Views {
    /// For the files in this state folder.
    pub fn new(state: &StateDir) -> Self {
        Self { folder: state.path().to_owned(), logs: BTreeSet::new() }
    }

    /// Writes an agent's plan.
    pub fn plan(&self, step: u32, role: Role, plan: &str) -> io::Result<()> {
        self.write("plan", &format!("step-{step}-{role}.md"), plan)
    }

    /// Writes a step's log, once per role that took part. Keeps an earlier run's log of the same step.
    pub fn log(&mut self, log: &StepLog) -> io::Result<()> {
        for role in log.roles() {
            let name = format!("step-{}-{role}", log.step());
            if self.logs.insert(name.clone()) {
                self.keep_earlier(&name)?;
            }
            self.write("logs", &format!("{name}.json"), &serde_json::to_string_pretty(log)?)?;
        }
        Ok(())
    }

    /// Renames an existing log to the next free number.
    fn keep_earlier(&self, name: &str) -> io::Result<()> {
        let folder = self.folder.join("logs");
        let file = folder.join(format!("{name}.json"));
        if !file.exists() {
            return Ok(());
        }
        let free =
            (1..=u32::MAX).map(|number| folder.join(format!("{name}.{number}.json"))).find(|aside| !aside.exists());
        free.map_or(Ok(()), |aside| fs::rename(file, aside))
    }

    fn write(&self, folder: &str, name: &str, text: &str) -> io::Result<()> {
        let folder = self.folder.join(folder);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(name), text)
    }
}
