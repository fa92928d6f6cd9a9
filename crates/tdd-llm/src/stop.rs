//! A request to stop that ends a pending call at once.

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::error::LlmError;

/// Interval at which a pending call checks for a stop request.
const POLL_INTERVAL: Duration = Duration::from_millis(25);

/// A handle through which any thread can request a stop. Clones share the request, which cannot be withdrawn.
#[derive(Clone, Default)]
pub struct Stop {
    flag: Arc<AtomicBool>,
    external_check: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
}

impl Stop {
    /// A handle without a stop request.
    pub fn new() -> Self {
        Self::default()
    }

    /// A handle that also stops when `asked` returns true, for example after Ctrl-C. Pending calls poll it forty times
    /// a second.
    pub fn watching(asked: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { flag: Arc::default(), external_check: Some(Arc::new(asked)) }
    }

    /// Ends every call with this handle. Only stores a flag, so a signal handler may call it.
    pub fn stop(&self) {
        self.flag.store(true, Ordering::SeqCst);
    }

    /// Whether a stop was requested.
    pub fn is_asked(&self) -> bool {
        self.flag.load(Ordering::SeqCst) || self.external_check.as_ref().is_some_and(|asked| asked())
    }

    /// Runs the work until it is done or a stop is requested.
    pub(crate) async fn run_until_stopped<T>(
        &self,
        work: impl Future<Output = Result<T, LlmError>>,
    ) -> Result<T, LlmError> {
        if self.is_asked() {
            return Err(LlmError::Cancelled);
        }
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                () = tokio::time::sleep(POLL_INTERVAL) => {}
            }
            if self.is_asked() {
                return Err(LlmError::Cancelled);
            }
        }
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Stop").field(&self.is_asked()).finish()
    }
}
