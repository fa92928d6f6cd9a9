//! Puts what was seen into the ledger of a project that has one.

use tdd_core::event::{Event, Record};
use tdd_core::seam::Ledger;
use tdd_core::session::{Session, SuiteFacts};

use crate::clock::WallClock;
use crate::ledger::{LedgerError, LedgerFile};
use crate::state::StateDir;

/// Told of every event as it is recorded.
pub type Echo = Box<dyn FnMut(&Record) + Send>;

/// The ledger, if this project has one and nobody else is writing to it.
pub struct Recording {
    ledger: Option<LedgerFile<WallClock>>,
    nothing: Session,
    echo: Option<Echo>,
}

impl Recording {
    /// Opens the ledger; where another process holds it, that is an error.
    pub fn exclusive(dir: &StateDir) -> Result<Self, LedgerError> {
        Ok(Self { ledger: Some(LedgerFile::open(dir, WallClock)?), ..Self::nothing() })
    }

    /// No ledger: nothing is known, and nothing is recorded.
    pub fn nothing() -> Self {
        Self { ledger: None, nothing: Session::default(), echo: None }
    }

    /// Tells of every event from now on.
    pub fn echo_to(&mut self, echo: Echo) {
        self.echo = Some(echo);
    }

    /// How many bytes of a torn last line were cut off when the ledger was opened.
    pub fn dropped_bytes(&self) -> Option<u64> {
        self.ledger.as_ref().and_then(LedgerFile::repaired).map(|repaired| repaired.dropped_bytes)
    }

    /// Records a run of all tests, unless it could not be found out what they say.
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
