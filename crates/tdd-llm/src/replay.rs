//! Answers from a cassette by key, so that a replay can start at any step.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::cassette::{self, Exchange, FormAsked};
use crate::client::{Answer, Ask, LlmClient};
use crate::error::LlmError;

/// A model that repeats recorded answers. Clones share the position.
///
/// Calls with the same key are answered in recorded order. Different keys are independent, so a killed run can resume
/// at any point.
#[derive(Clone, Debug)]
pub struct Replay {
    tracks: Arc<Mutex<BTreeMap<String, Track>>>,
}

/// The answers for one key.
#[derive(Debug, Default)]
struct Track {
    answers: Vec<(FormAsked, Answer)>,
    played: usize,
}

impl Replay {
    /// Replays these exchanges.
    pub fn new(exchanges: Vec<Exchange>) -> Self {
        let mut tracks: BTreeMap<String, Track> = BTreeMap::new();
        for Exchange { ask, answer, .. } in exchanges {
            // A failed call was repeated under the same key, if at all.
            if let Some(answer) = answer {
                tracks.entry(ask.key).or_default().answers.push((ask.form, answer));
            }
        }
        Self { tracks: Arc::new(Mutex::new(tracks)) }
    }

    /// Replays the cassette with this text.
    pub fn of(cassette: &str) -> Result<Self, LlmError> {
        cassette::read(cassette).map(Self::new)
    }

    fn play(&self, ask: &Ask) -> Result<Answer, LlmError> {
        let mut tracks = self.tracks.lock().unwrap_or_else(PoisonError::into_inner);
        let refuse = |reason: String| LlmError::NotRecorded { key: ask.key.clone(), reason };
        let Some(track) = tracks.get_mut(&ask.key) else {
            let known = tracks
                .iter()
                .filter(|(_, track)| track.played < track.answers.len())
                .map(|(key, _)| format!("`{key}`"));
            return Err(refuse(format!(
                "no call was recorded with this key; not yet replayed: {}",
                listed(known.collect())
            )));
        };
        let count = track.answers.len();
        let Some((form, answer)) = track.answers.get(track.played) else {
            return Err(refuse(format!("this call was recorded {count} times, and it is asked once more now")));
        };
        let asked = FormAsked::from(&ask.form);
        if *form != FormAsked::Any && *form != asked {
            let number = track.played + 1;
            return Err(refuse(format!("call {number} was recorded with form {form:?}, and now asks for {asked:?}")));
        }
        track.played += 1;
        Ok(answer.clone())
    }
}

impl LlmClient for Replay {
    type Error = LlmError;

    async fn chat(&self, ask: &Ask) -> Result<Answer, LlmError> {
        self.play(ask)
    }
}

/// Joins the first five names.
fn listed(mut names: Vec<String>) -> String {
    let count = names.len();
    names.truncate(5);
    match count {
        0 => "none".to_owned(),
        1..=5 => names.join(", "),
        _ => format!("{} and {} more", names.join(", "), count - 5),
    }
}
