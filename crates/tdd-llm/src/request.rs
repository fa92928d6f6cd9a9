//! Writes the body of a request. The same messages always give the same bytes.

use serde::Serialize;
use serde_json::{Value, json};

use crate::client::{Ask, Form, FormUsed, Message, Speaker, ToolSpec};

/// Request settings besides the messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sent {
    pub form: FormUsed,
    pub temperature: Option<f64>,
    pub stream: bool,
    pub stream_options: bool,
}

/// The body of one call.
pub(crate) fn body(model: &str, ask: &Ask, sent: &Sent) -> Vec<u8> {
    let body = Body {
        model,
        messages: ask.messages.iter().map(WireMessage::from).collect(),
        temperature: sent.temperature,
        max_tokens: ask.max_tokens,
        stream: sent.stream,
        stream_options: (sent.stream && sent.stream_options).then(|| json!({ "include_usage": true })),
        response_format: response_format(&ask.form, sent.form),
        tools: tools(&ask.form),
    };
    // Cannot fail: strings, numbers and `Value`s always serialize.
    serde_json::to_vec(&body).unwrap_or_default()
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<WireMessage<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
}

#[derive(Serialize)]
struct WireMessage<'a> {
    role: Speaker,
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
}

impl<'a> From<&'a Message> for WireMessage<'a> {
    fn from(message: &'a Message) -> Self {
        let calls = message.tool_calls.iter().map(|call| {
            let function = json!({ "name": call.name, "arguments": call.arguments });
            json!({ "id": call.id, "type": "function", "function": function })
        });
        // Some servers refuse an empty text, but only a message with tool calls may omit it.
        let silent = message.content.is_empty() && !message.tool_calls.is_empty();
        Self {
            role: message.role,
            content: (!silent).then_some(message.content.as_str()),
            tool_calls: calls.collect(),
            tool_call_id: message.tool_call_id.as_deref(),
        }
    }
}

fn response_format(form: &Form, used: FormUsed) -> Option<Value> {
    let Form::Schema { name, schema } = form else { return None };
    match used {
        FormUsed::Schema => {
            let schema = json!({ "name": name, "schema": schema });
            Some(json!({ "type": "json_schema", "json_schema": schema }))
        }
        FormUsed::JsonObject => Some(json!({ "type": "json_object" })),
        FormUsed::Text | FormUsed::Tools => None,
    }
}

fn tools(form: &Form) -> Vec<Value> {
    match form {
        Form::Tools(tools) => tools.iter().map(tool).collect(),
        Form::Text | Form::Schema { .. } => Vec::new(),
    }
}

fn tool(tool: &ToolSpec) -> Value {
    let ToolSpec { name, description, parameters } = tool;
    json!({ "type": "function", "function": { "name": name, "description": description, "parameters": parameters } })
}
