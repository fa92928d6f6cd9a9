//! What we know of a server and a model from the calls so far, so that nothing is refused twice.

use crate::client::{Form, FormUsed};
use crate::request::Sent;
use crate::retry::Extra;

/// What a server is known to take.
#[derive(Clone, Debug)]
pub(crate) struct Learned {
    /// The strictest form of JSON that may work.
    json: FormUsed,
    /// An answer in that form was had.
    json_proven: bool,
    /// Tools were refused, in these words.
    pub no_tools: Option<String>,
    /// An answer with tool calls was had.
    pub tools_proven: bool,
    /// What the server complained about.
    left_out: Vec<Extra>,
    /// The server has answered a call, with whatever status.
    pub reached: bool,
}

impl Default for Learned {
    fn default() -> Self {
        Self {
            json: FormUsed::Schema,
            json_proven: false,
            no_tools: None,
            tools_proven: false,
            left_out: Vec::new(),
            reached: false,
        }
    }
}

impl Learned {
    /// What to send for an ask, given what is configured.
    pub fn to_send(&self, form: &Form, temperature: Option<f64>, stream: bool) -> Sent {
        let form = match form {
            Form::Text => FormUsed::Text,
            Form::Schema { .. } => self.json,
            Form::Tools(_) => FormUsed::Tools,
        };
        let takes = |extra| !self.left_out.contains(&extra);
        Sent {
            form,
            temperature: temperature.filter(|_| takes(Extra::Temperature)),
            stream: stream && takes(Extra::Stream),
            stream_options: takes(Extra::StreamOptions),
        }
    }

    /// The server answered to this; it was asked for something stricter before if `stepped_down`.
    pub fn worked(&mut self, sent: &Sent, form: &Form, stepped_down: bool) {
        if !matches!(form, Form::Schema { .. }) {
            return;
        }
        // Where the stricter form worked before, this was a bad moment and no lesson.
        if stepped_down && !self.json_proven {
            self.json = self.json.min(sent.form);
        }
        self.json_proven |= !stepped_down;
    }

    /// The server complained about this.
    pub fn without(&mut self, extra: Extra) {
        self.left_out.push(extra);
    }
}

/// The next simpler form of JSON.
pub(crate) fn simpler(form: FormUsed) -> Option<FormUsed> {
    match form {
        FormUsed::Schema => Some(FormUsed::JsonObject),
        FormUsed::JsonObject => Some(FormUsed::Text),
        FormUsed::Text | FormUsed::Tools => None,
    }
}
