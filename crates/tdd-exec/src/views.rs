//! What people read of a run below `.tdd/`: the plan and the log of each step. Written, and never read back.

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
    /// The logs that this run has written.
    logs: BTreeSet<String>,
}

impl Views {
    /// Those in the machine's own folder.
    pub fn new(state: &StateDir) -> Self {
        Self { folder: state.path().to_owned(), logs: BTreeSet::new() }
    }

    /// Writes what an agent means to do.
    pub fn plan(&self, step: u32, role: Role, plan: &str) -> io::Result<()> {
        self.write("plan", &format!("step-{step}-{role}.md"), plan)
    }

    /// Writes the log of a step, for each role that took part in it. What an earlier run left of the same step is kept.
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

    /// Moves a log out of the way, under the next number that is free.
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
