//! A stop request that any thread can make and every run sees.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A handle to a shared flag; clones share it. Once set, it stays set.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A flag that is not set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks every run that watches this flag to stop. Only stores a flag, so a signal handler may call it.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether a stop was requested.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
