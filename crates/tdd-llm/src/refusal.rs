//! Parses a server's refusal: its message, its meaning, and the wait it demands.

use std::time::Duration;

use serde_json::Value;

/// Most characters of a server's message that are shown.
const LONGEST: usize = 400;
/// Most characters kept until the key is redacted: cutting earlier could split the key, and half of it would be shown.
const READ: usize = 8 * LONGEST;

/// A response without a success status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub status: u16,
    /// The server's message on one line.
    pub words: String,
    /// The server's name for this error, if any.
    pub kind: String,
    /// The wait that the server demands.
    pub wait: Option<Duration>,
}

impl Refusal {
    pub fn read(status: u16, body: &[u8], wait: Option<Duration>) -> Self {
        let value: Option<Value> = serde_json::from_slice(body).ok();
        let words = value.as_ref().map_or_else(|| beginning(body), words_of);
        let kind = value.as_ref().map(kind_of).unwrap_or_default();
        Self { status, words, kind, wait }
    }

    /// Whether the conversation exceeds the model's context.
    pub fn is_too_long(&self) -> bool {
        const KINDS: [&str; 4] =
            ["exceed_context_size", "context_length_exceeded", "context_window_exceeded", "prompt_too_long"];
        const WORDS: [&str; 6] = [
            "maximum context length",
            "context length exceeded",
            "context window",
            "exceeds the available context",
            "prompt is too long",
            "exceed context",
        ];
        let said = self.words.to_lowercase();
        let named = KINDS.iter().any(|kind| self.kind.contains(kind) || said.contains(kind));
        matches!(self.status, 400 | 413 | 422) && (named || WORDS.iter().any(|words| said.contains(words)))
            || self.status == 413
    }

    /// Whether the server's error name says that it does not have the model.
    pub fn is_unknown_model(&self) -> bool {
        self.kind.contains("model_not_found")
    }

    /// Whether the server seems not to have the model.
    pub fn may_be_unknown_model(&self) -> bool {
        self.is_unknown_model() || self.status == 404 && self.words.to_lowercase().contains("model")
    }

    /// Whether the refusal is about this request field.
    pub fn is_about(&self, field: &str) -> bool {
        matches!(self.status, 400 | 422) && self.words.contains(field)
    }
}

/// The message of a JSON error, which servers put in different places.
pub(crate) fn words_of(value: &Value) -> String {
    const PLACES: [&str; 8] = [
        "/error/message",
        "/error/detail",
        "/error",
        "/detail",
        "/message",
        "/msg",
        "/detail/0/msg",
        "/errors/0/message",
    ];
    let text = PLACES.iter().find_map(|place| value.pointer(place)?.as_str()).or(value.as_str());
    let text = text.filter(|text| !text.trim().is_empty());
    text.map_or_else(|| one_line(&value.to_string()), one_line)
}

fn kind_of(value: &Value) -> String {
    let names =
        ["/error/code", "/error/type", "/code", "/type"].iter().filter_map(|place| value.pointer(place)?.as_str());
    names.collect::<Vec<_>>().join(" ").to_lowercase()
}

/// The beginning of a body of unknown content.
pub(crate) fn beginning(bytes: &[u8]) -> String {
    let enough = &bytes[..bytes.len().min(4 * READ)];
    match one_line(&String::from_utf8_lossy(enough)) {
        empty if empty.is_empty() => "nothing".to_owned(),
        text => text,
    }
}

/// Joins a text into one line without control characters, which a terminal could interpret.
fn one_line(text: &str) -> String {
    let words = text.split(|char: char| char.is_whitespace() || char.is_control()).filter(|word| !word.is_empty());
    cut(&words.collect::<Vec<_>>().join(" "), READ)
}

/// Shortens a server's message for the user.
pub(crate) fn short(words: &str) -> String {
    cut(words, LONGEST)
}

fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Parses `Retry-After`, in seconds or as a date. A date is compared with the server's clock (`Date`) if sent,
/// otherwise with ours.
pub(crate) fn wait(retry_after: &str, date: Option<&str>, now: jiff::Timestamp) -> Option<Duration> {
    let retry_after = retry_after.trim();
    if let Ok(seconds) = retry_after.parse::<f64>() {
        return (seconds >= 0.0).then(|| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    }
    let until = http_date(retry_after)?;
    let now = date.and_then(http_date).unwrap_or(now);
    Some(Duration::try_from(until.duration_since(now)).unwrap_or_default())
}

/// Parses a date in one of the three forms of HTTP: as in mail, with a two-digit year (RFC 850), or as C prints it.
fn http_date(text: &str) -> Option<jiff::Timestamp> {
    let text = text.trim();
    let mail = jiff::fmt::rfc2822::DateTimeParser::new().relaxed_weekday(true).parse_timestamp(text).ok();
    mail.or_else(|| obsolete_date(text))
}

fn obsolete_date(text: &str) -> Option<jiff::Timestamp> {
    let date = match text.split_once(", ") {
        Some((_, date)) => jiff::fmt::strtime::parse("%d-%b-%y %H:%M:%S GMT", date).ok()?,
        None => jiff::fmt::strtime::parse("%a %b %e %H:%M:%S %Y", text).ok()?,
    };
    Some(date.to_datetime().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn says(body: &str, expected: &str) {
        assert_eq!(Refusal::read(400, body.as_bytes(), None).words, expected);
    }

    #[test]
    fn the_servers_own_words_are_found_wherever_it_puts_them() {
        says(r#"{"error":{"message":"no such thing","code":7}}"#, "no such thing");
        says(r#"{"error":"plain"}"#, "plain");
        says(r#"{"detail":"not found"}"#, "not found");
        says(r#"{"detail":[{"loc":["body"],"msg":"field required"}]}"#, "field required");
        says(r#"{"object":"error","message":"bad"}"#, "bad");
        says(r#"{"odd":1}"#, r#"{"odd":1}"#);
        says("<h1>Bad\n gateway</h1>", "<h1>Bad gateway</h1>");
        says("", "nothing");
    }

    #[test]
    fn words_are_short_and_cannot_steer_a_terminal() {
        says("\u{1b}[31mred\u{7}", "[31mred");
        let long = Refusal::read(500, "ä".repeat(50_000).as_bytes(), None).words;
        assert_eq!((long.chars().count(), short(&long).chars().count()), (READ + 1, LONGEST + 1));
    }

    #[test]
    fn a_conversation_that_is_too_long_is_recognised() {
        let too_long = |status, body: &str| Refusal::read(status, body.as_bytes(), None).is_too_long();
        assert!(too_long(
            400,
            r#"{"error":{"code":400,"type":"exceed_context_size_error","message":"request (9 tokens)…"}}"#
        ));
        assert!(too_long(400, r#"{"error":{"code":"context_length_exceeded","message":"x"}}"#));
        assert!(too_long(400, r#"{"error":"This model's maximum context length is 8192 tokens"}"#));
        assert!(!too_long(400, r#"{"error":"response_format is not supported"}"#));
        assert!(!too_long(500, r#"{"error":"context window"}"#));
    }

    #[test]
    fn a_wait_is_seconds_or_a_date_on_the_servers_clock() {
        let now = "2026-11-15T12:00:00Z".parse().unwrap();
        let check =
            |text, date, expected: Option<u64>| assert_eq!(wait(text, date, now), expected.map(Duration::from_secs));
        check("7", None, Some(7));
        check("Sun, 15 Nov 2026 12:00:09 GMT", None, Some(9));
        check("Sun, 15 Nov 2026 12:00:09 GMT", Some("Sun, 15 Nov 2026 12:00:04 GMT"), Some(5));
        check("Sun, 15 Nov 2026 11:00:00 GMT", None, Some(0));
        check("Sunday, 15-Nov-26 12:00:09 GMT", None, Some(9));
        check("Sun Nov 15 12:00:09 2026", Some("Sunday, 15-Nov-26 12:00:04 GMT"), Some(5));
        check("Sunday, 15-Nov-26", None, None);
        check("soon", None, None);
        check("-3", None, None);
        assert_eq!(wait("1e300", None, now), Some(Duration::MAX));
    }

    proptest! {
        #[test]
        fn no_refusal_makes_the_reader_panic(status in any::<u16>(), body in any::<Vec<u8>>(), text in ".*", date in ".*") {
            let refusal = Refusal::read(status, &body, None);
            let _ = (refusal.is_too_long(), refusal.may_be_unknown_model(), short(&refusal.words));
            let _ = wait(&text, Some(&date), jiff::Timestamp::UNIX_EPOCH);
        }
    }
}
