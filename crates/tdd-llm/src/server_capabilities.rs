//! Remembers which features a server supports, so that it does not refuse the same feature twice.

use crate::client::{Form, FormUsed};
use crate::request::Sent;
use crate::retry::Extra;

/// Features that a server is known to support or refuse.
#[derive(Clone, Debug)]
pub(crate) struct ServerCapabilities {
    /// The strictest JSON format that may work.
    json: FormUsed,
    /// Whether an answer in that format was received.
    json_proven: bool,
    /// The server's message when it refused tools.
    pub no_tools: Option<String>,
    /// Whether an answer with tool calls was received.
    pub tools_proven: bool,
    /// Request fields that the server rejected.
    left_out: Vec<Extra>,
    /// Whether the server has answered any call, with any status.
    pub reached: bool,
}

impl Default for ServerCapabilities {
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

impl ServerCapabilities {
    /// The settings for the next request.
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

    /// Records a successful call. `stepped_down`: the server had refused a stricter format before.
    pub fn worked(&mut self, sent: &Sent, form: &Form, stepped_down: bool) {
        if !matches!(form, Form::Schema { .. }) {
            return;
        }
        // If the stricter format worked before, its refusal was temporary.
        if stepped_down && !self.json_proven {
            self.json = self.json.min(sent.form);
        }
        self.json_proven |= !stepped_down;
    }

    /// Records a request field that the server rejected.
    pub fn without(&mut self, extra: Extra) {
        self.left_out.push(extra);
    }
}

/// The next less strict JSON format.
pub(crate) fn simpler(form: FormUsed) -> Option<FormUsed> {
    match form {
        FormUsed::Schema => Some(FormUsed::JsonObject),
        FormUsed::JsonObject => Some(FormUsed::Text),
        FormUsed::Text | FormUsed::Tools => None,
    }
}
