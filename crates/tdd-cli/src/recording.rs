//! Puts what was seen into the ledger of a project that has one.

use tdd_core::event::{Event, Record};
use tdd_core::seam::Ledger;
use tdd_core::session::{Session, SuiteFacts};
use tdd_exec::clock::WallClock;
use tdd_exec::git::Repo;
use tdd_exec::ledger::{LedgerError, LedgerFile};
use tdd_exec::state::StateDir;

use crate::error::CliError;
use crate::output::{Output, print_line};

/// The ledger, if this project has one and nobody else is writing to it.
pub struct Recording {
    ledger: Option<LedgerFile<WallClock>>,
    nothing: Session,
    /// Every event is printed as it is recorded, as the ledger's own line.
    pub echo: bool,
}

impl Recording {
    /// Opens the ledger for good: where another process holds it, that is an error.
    pub fn exclusive(dir: &StateDir, output: Output) -> Result<Self, CliError> {
        Ok(Self::of(Some(LedgerFile::open(dir, WallClock)?), output))
    }

    /// Opens the ledger. Where another process holds it, nothing is recorded, and that is said.
    pub fn open(repo: &Repo, output: Output) -> Result<Self, CliError> {
        let ledger = match StateDir::find(repo.root())? {
            None => None,
            Some(dir) => match LedgerFile::open(&dir, WallClock) {
                Ok(ledger) => Some(ledger),
                Err(error @ LedgerError::Locked { .. }) => {
                    output.note(format_args!("note: {error}, so nothing is recorded"));
                    None
                }
                Err(error) => return Err(error.into()),
            },
        };
        Ok(Self::of(ledger, output))
    }

    /// No ledger: nothing is known, and nothing is recorded.
    pub fn nothing() -> Self {
        Self { ledger: None, nothing: Session::default(), echo: false }
    }

    fn of(ledger: Option<LedgerFile<WallClock>>, output: Output) -> Self {
        if let Some(repaired) = ledger.as_ref().and_then(LedgerFile::repaired) {
            let bytes = repaired.dropped_bytes;
            output.note(format_args!("note: the ledger's last line was torn; {bytes} bytes were cut off"));
        }
        Self { ledger, nothing: Session::default(), echo: false }
    }

    /// All that was seen before.
    pub fn session(&self) -> &Session {
        self.ledger.as_ref().map_or(&self.nothing, Ledger::session)
    }

    /// Records a run of all tests, unless it could not be found out what they say.
    pub fn suite(&mut self, facts: &SuiteFacts<'_>) -> Result<bool, CliError> {
        if facts.report.environment_failure().is_some() {
            return Ok(false);
        }
        let events = self.session().suite_events(facts);
        self.append(&events)
    }

    /// Puts events on the record; `false` if nothing is recorded here.
    pub fn append(&mut self, events: &[Event]) -> Result<bool, CliError> {
        let Some(ledger) = &mut self.ledger else { return Ok(false) };
        let records = ledger.append(events)?;
        if self.echo {
            records.iter().try_for_each(|record| print_line(&Record::line(&record.head, &record.event)))?;
        }
        Ok(true)
    }
}
