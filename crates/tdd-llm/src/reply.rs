//! Parses a completion, whole or in chunks, and accepts the variations between servers.

use serde_json::Value;

use crate::client::{Finish, ToolCall, Usage};

/// A completion, assembled from its chunks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    pub content: String,
    pub tool_calls: Vec<ToolCall>,
    /// The server's reason for the end, once known.
    pub reason: Option<String>,
    pub usage: Usage,
    pub model: Option<String>,
    /// Whether it came as an event stream.
    pub streamed: bool,
    /// Bytes that the model wrote, including reasoning.
    pub written: usize,
    /// Whether it has a choice, and thus is a completion.
    pub chosen: bool,
    /// The `index` of each tool call, if the server sent one.
    indices: Vec<Option<u64>>,
}

/// How an answer ended.
pub(crate) enum End {
    Regular(Finish),
    /// The server gave up; its reason.
    Broken(String),
}

impl Reply {
    /// Adds a whole completion or a chunk. An error holds what the server reports instead.
    pub fn take(&mut self, value: &Value) -> Result<(), Value> {
        if let Some(error) = value.get("error").filter(|error| !error.is_null()) {
            return Err(error.clone());
        }
        if let Some(model) = value.get("model").and_then(Value::as_str).filter(|model| !model.is_empty()) {
            self.model = Some(model.to_owned());
        }
        if let Some(usage) = value.get("usage").filter(|usage| usage.is_object()) {
            self.usage = read_usage(usage);
        }
        if let Some(choice) = value.get("choices").and_then(|choices| choices.get(0)) {
            self.take_choice(choice);
        }
        Ok(())
    }

    /// How the answer ended.
    pub fn end(&self) -> End {
        let regular = match self.reason.as_deref().unwrap_or_default() {
            "" | "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" | "complete" | "completed" => Finish::Stop,
            "length" | "max_tokens" | "max_output_tokens" | "model_length" => Finish::Length,
            "tool_calls" | "tool_use" | "function_call" => Finish::ToolCalls,
            "content_filter" | "content_filtered" | "safety" => Finish::ContentFilter,
            broken @ ("error" | "insufficient_system_resource" | "abort" | "cancelled") => {
                return End::Broken(broken.to_owned());
            }
            other => Finish::Other(other.to_owned()),
        };
        // Some servers report `stop` after tool calls.
        let calls = regular == Finish::Stop && !self.tool_calls.is_empty();
        End::Regular(if calls { Finish::ToolCalls } else { regular })
    }

    fn take_choice(&mut self, choice: &Value) {
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            self.reason = Some(reason.to_lowercase());
        }
        let Some(message) = choice.get("delta").or_else(|| choice.get("message")).filter(|value| value.is_object())
        else {
            // Old servers send `text`; a last chunk may have only a reason.
            let text = choice.get("text").and_then(Value::as_str);
            self.chosen |= text.is_some() || self.reason.is_some() && self.streamed;
            self.say(text.unwrap_or_default());
            return;
        };
        self.chosen = true;
        self.say(&text_of(message.get("content")));
        for thought in ["reasoning_content", "reasoning"] {
            self.written += message.get(thought).and_then(Value::as_str).map_or(0, str::len);
        }
        for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.take_call(call);
        }
    }

    fn say(&mut self, text: &str) {
        self.content += text;
        self.written += text.len();
    }

    /// Adds a chunk of a tool call to the call it belongs to.
    fn take_call(&mut self, piece: &Value) {
        // Any chunk of a call counts as progress, even if it has only an id.
        self.written += 1;
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        let index = piece.get("index").and_then(Value::as_u64);
        let id = text(piece.get("id"));
        let place = self.place_of(index, &id);
        let count = self.tool_calls.len();
        let call = &mut self.tool_calls[place];
        if !id.is_empty() {
            call.id = id;
        } else if call.id.is_empty() {
            call.id = format!("call_{count}");
        }
        let function = piece.get("function").unwrap_or(&Value::Null);
        if call.name.is_empty() {
            call.name = text(function.get("name"));
        }
        let before = call.arguments.len();
        match function.get("arguments") {
            Some(Value::String(arguments)) => call.arguments += arguments,
            None | Some(Value::Null) => {}
            Some(object) => call.arguments += &object.to_string(),
        }
        self.written += call.arguments.len() - before;
    }

    /// Finds the call that a chunk belongs to, or adds one. Some servers send no index, others always 0.
    fn place_of(&mut self, index: Option<u64>, id: &str) -> usize {
        let found = if self.streamed { self.indices.iter().rposition(|there| *there == index) } else { None };
        let same = found.filter(|place| id.is_empty() || self.tool_calls[*place].id == id);
        same.unwrap_or_else(|| {
            self.indices.push(index);
            self.tool_calls.push(ToolCall::default());
            self.tool_calls.len() - 1
        })
    }
}

/// The text of a message: a string, or a list of parts.
fn text_of(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().filter_map(|part| part.as_str().or_else(|| part.get("text")?.as_str()));
            texts.collect()
        }
        Some(_) | None => String::new(),
    }
}

fn read_usage(usage: &Value) -> Usage {
    let first = |names: &[&str]| names.iter().find_map(|name| count(usage.pointer(name))).unwrap_or_default();
    let cached = first(&[
        "/prompt_tokens_details/cached_tokens",
        "/input_tokens_details/cached_tokens",
        "/prompt_cache_hit_tokens",
        "/cached_tokens",
        "/cache_read_input_tokens",
    ]);
    let prompt = first(&["/prompt_tokens", "/input_tokens"]);
    Usage { prompt: prompt.max(cached), cached, completion: first(&["/completion_tokens", "/output_tokens"]) }
}

/// A number of tokens, which some servers write as a float.
fn count(value: Option<&Value>) -> Option<u64> {
    let value = value?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` ends at the type's bounds")]
    value.as_u64().or_else(|| value.as_f64().map(|float| float as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Reply {
        let mut reply = Reply::default();
        reply.take(&serde_json::from_str(text).unwrap()).unwrap();
        reply
    }

    fn streamed(pieces: &[&str]) -> Reply {
        let mut reply = Reply { streamed: true, ..Reply::default() };
        for piece in pieces {
            reply.take(&serde_json::from_str(piece).unwrap()).unwrap();
        }
        reply
    }

    fn ends(reason: &str, expected: &Finish) {
        let reply = read(&format!(r#"{{"choices":[{{"message":{{"content":"x"}},"finish_reason":{reason}}}]}}"#));
        let End::Regular(finish) = reply.end() else { panic!("{reason} is a regular end") };
        assert_eq!(finish, *expected);
    }

    #[test]
    fn every_reason_to_finish_has_a_meaning() {
        ends("null", &Finish::Stop);
        ends(r#""eos""#, &Finish::Stop);
        ends(r#""STOP""#, &Finish::Stop);
        ends(r#""length""#, &Finish::Length);
        ends(r#""max_tokens""#, &Finish::Length);
        ends(r#""content_filter""#, &Finish::ContentFilter);
        ends(r#""tool_calls""#, &Finish::ToolCalls);
        ends(r#""whatever""#, &Finish::Other("whatever".into()));
    }

    #[test]
    fn content_may_be_null_or_a_list_of_parts() {
        assert_eq!(read(r#"{"choices":[{"message":{"content":null}}]}"#).content, "");
        let parts = read(r#"{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"image"},"b"]}}]}"#);
        assert_eq!(parts.content, "ab");
    }

    #[test]
    fn a_float_for_created_and_fields_nobody_knows_do_no_harm() {
        let reply = read(r#"{"created":1.5,"x":[],"choices":[{"message":{"content":"a","y":1},"logprobs":null}]}"#);
        assert_eq!((reply.content.as_str(), reply.chosen), ("a", true));
    }

    #[test]
    fn cached_tokens_are_found_under_both_names() {
        let openai =
            read(r#"{"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}}"#);
        assert_eq!(openai.usage, Usage { prompt: 9, cached: 4, completion: 2 });
        let deepseek = read(r#"{"usage":{"prompt_tokens":9.0,"completion_tokens":2,"prompt_cache_hit_tokens":5}}"#);
        assert_eq!(deepseek.usage, Usage { prompt: 9, cached: 5, completion: 2 });
        assert_eq!(read(r#"{"usage":{"prompt_tokens":null}}"#).usage, Usage::default());
    }

    #[test]
    fn tool_call_pieces_are_joined_by_their_index() {
        let reply = streamed(&[
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"g","arguments":"{"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"arguments":"}"}}]}}]}"#,
        ]);
        let call = |id: &str, name: &str| ToolCall { id: id.into(), name: name.into(), arguments: "{}".into() };
        assert_eq!(reply.tool_calls, [call("a", "f"), call("b", "g")]);
    }

    #[test]
    fn two_calls_that_share_an_index_stay_two() {
        let reply = streamed(&[
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"1"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"f","arguments":"2"}}]}}]}"#,
        ]);
        assert_eq!(reply.tool_calls.iter().map(|call| call.arguments.as_str()).collect::<Vec<_>>(), ["1", "2"]);
    }

    #[test]
    fn whole_calls_without_index_or_id_and_with_an_object_for_arguments_are_read() {
        let call = r#"{"function":{"name":"f","arguments":{"a":1}}}"#;
        let reply = read(&format!(r#"{{"choices":[{{"message":{{"content":null,"tool_calls":[{call},{call}]}}}}]}}"#));
        let ids: Vec<_> = reply.tool_calls.iter().map(|call| (call.id.as_str(), call.arguments.as_str())).collect();
        assert_eq!(ids, [("call_1", r#"{"a":1}"#), ("call_2", r#"{"a":1}"#)]);
    }

    #[test]
    fn an_error_beside_everything_else_is_an_error() {
        let mut reply = Reply::default();
        assert!(reply.take(&serde_json::json!({ "error": { "message": "no" }, "choices": [] })).is_err());
        assert!(reply.take(&serde_json::json!({ "error": null })).is_ok());
    }
}
