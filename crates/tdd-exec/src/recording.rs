//! Records events in the project's ledger, if it has one.

use tdd_core::event::{Event, Record};
use tdd_core::seam::Ledger;
use tdd_core::session::{Session, SuiteFacts};

use crate::clock::WallClock;
use crate::ledger::{LedgerError, LedgerFile};
use crate::state::StateDir;

/// Called with every event that is recorded.
pub type Echo = Box<dyn FnMut(&Record) + Send>;

/// The ledger, or nothing.
pub struct Recording {
    ledger: Option<LedgerFile<WallClock>>,
    nothing: Session,
    echo: Option<Echo>,
}

impl Recording {
    /// Opens the ledger; fails if another process holds it.
    pub fn exclusive(dir: &StateDir) -> Result<Self, LedgerError> {
        Ok(Self { ledger: Some(LedgerFile::open(dir, WallClock)?), ..Self::nothing() })
    }

    /// No ledger: an empty session, and nothing is recorded.
    pub fn nothing() -> Self {
        Self { ledger: None, nothing: Session::default(), echo: None }
    }

    /// Calls `echo` with every event from here on.
    pub fn echo_to(&mut self, echo: Echo) {
        self.echo = Some(echo);
    }

    /// How many bytes of a torn last line were cut off when the ledger was opened.
    pub fn dropped_bytes(&self) -> Option<u64> {
        self.ledger.as_ref().and_then(LedgerFile::repaired).map(|repaired| repaired.dropped_bytes)
    }

    /// Records a run of all tests, unless the environment kept it from giving results.
    pub fn suite(&mut self, facts: &SuiteFacts<'_>) -> Result<(), LedgerError> {
        if facts.report.environment_failure().is_some() {
            return Ok(());
        }
        let events = self.session().suite_events(facts);
        self.append(&events).map(drop)
    }
}

impl Ledger for Recording {
    type Error = LedgerError;

    fn session(&self) -> &Session {
        self.ledger.as_ref().map_or(&self.nothing, Ledger::session)
    }

    fn append(&mut self, events: &[Event]) -> Result<Vec<Record>, LedgerError> {
        let Some(ledger) = &mut self.ledger else { return Ok(Vec::new()) };
        let records = ledger.append(events)?;
        if let Some(echo) = &mut self.echo {
            records.iter().for_each(echo);
        }
        Ok(records)
    }
}
