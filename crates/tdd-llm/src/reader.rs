//! Turns the bytes of a response into a completion, whether it is a JSON document or an event stream.

use serde_json::Value;

use crate::refusal::{self, beginning};
use crate::reply::{End, Reply};

/// Most bytes that the model may write.
pub(crate) const LONGEST: usize = 8 << 20;
/// Most bytes of a stream, in which each token comes with about a hundred bytes of JSON.
const MOST: usize = 16 * LONGEST;

/// What the bytes are, once known.
enum Kind {
    Unknown(Vec<u8>),
    Document(Vec<u8>),
    Events(Events),
}

/// Reads a response chunk by chunk.
pub(crate) struct Reader {
    kind: Kind,
    received: usize,
}

/// The effect of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// The chunk held nothing from the model.
    Waiting,
    /// The chunk held something from the model.
    Coming,
    /// The response is complete.
    Done,
}

/// Why a response is not a completion.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    TooLarge,
    /// The response ended early.
    Broken(String),
    /// The response is something else; its beginning, or the server's message.
    Other(String),
}

impl Reader {
    pub fn new() -> Self {
        Self { kind: Kind::Unknown(Vec::new()), received: 0 }
    }

    /// Reads the next chunk.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Progress, Unread> {
        self.received += bytes.len();
        match &mut self.kind {
            Kind::Unknown(start) => {
                start.extend_from_slice(bytes);
                let start = without_mark(start);
                match looks_like_events(start) {
                    Some(true) => {
                        let (start, mut events) = (start.to_vec(), Events::default());
                        let progress = events.push(&start);
                        self.kind = Kind::Events(events);
                        progress
                    }
                    Some(false) => {
                        self.kind = Kind::Document(start.to_vec());
                        self.within(LONGEST)
                    }
                    None => self.within(LONGEST).map(|_| Progress::Waiting),
                }
            }
            Kind::Document(document) => {
                document.extend_from_slice(bytes);
                self.within(LONGEST)
            }
            Kind::Events(events) => {
                let progress = events.push(bytes)?;
                self.within(MOST).map(|_| progress)
            }
        }
    }

    /// The completion, if the response is complete.
    pub fn finish(self) -> Result<Reply, Unread> {
        let reply = match self.kind {
            Kind::Unknown(document) | Kind::Document(document) => read_document(&document)?,
            Kind::Events(events) => events.finish()?,
        };
        match reply.end() {
            End::Regular(_) => Ok(reply),
            End::Broken(reason) => Err(Unread::Broken(format!("the server says `{reason}`"))),
        }
    }

    fn within(&self, limit: usize) -> Result<Progress, Unread> {
        if self.received > limit { Err(Unread::TooLarge) } else { Ok(Progress::Coming) }
    }
}

fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start()
}

/// Whether this is the start of an event stream; `None` if too short to tell.
fn looks_like_events(start: &[u8]) -> Option<bool> {
    let fields: [&[u8]; 5] = [b"data:", b"event:", b"id:", b"retry:", b":"];
    if fields.iter().any(|field| start.starts_with(field)) {
        return Some(true);
    }
    let open = fields.iter().any(|field| field.starts_with(start)) || b"\xef\xbb\xbf".starts_with(start);
    if open { None } else { Some(false) }
}

fn read_document(document: &[u8]) -> Result<Reply, Unread> {
    let value: Value = serde_json::from_slice(document).map_err(|_| Unread::Other(beginning(document)))?;
    let mut reply = Reply::default();
    reply.take(&value).map_err(|error| Unread::Other(refusal::words_of(&error)))?;
    if reply.chosen { Ok(reply) } else { Err(Unread::Other(beginning(document))) }
}

/// A parser of server-sent events, line by line.
#[derive(Default)]
struct Events {
    /// The incomplete line.
    line: Vec<u8>,
    /// Data lines of the incomplete event.
    data: Vec<Vec<u8>>,
    reply: Reply,
    done: bool,
    /// The last byte was a carriage return, so a following line feed does not end another line.
    returned: bool,
}

impl Events {
    fn push(&mut self, bytes: &[u8]) -> Result<Progress, Unread> {
        self.reply.streamed = true;
        let before = self.reply.written;
        for byte in bytes {
            let after_return = std::mem::replace(&mut self.returned, *byte == b'\r');
            match byte {
                b'\n' if after_return => {}
                b'\n' | b'\r' => self.end_line()?,
                other => self.line.push(*other),
            }
        }
        let pending: usize = self.data.iter().map(Vec::len).sum();
        if self.reply.written > LONGEST || self.line.len() + pending > LONGEST {
            return Err(Unread::TooLarge);
        }
        Ok(match (self.done, self.reply.written > before) {
            (true, _) => Progress::Done,
            (false, true) => Progress::Coming,
            (false, false) => Progress::Waiting,
        })
    }

    fn finish(mut self) -> Result<Reply, Unread> {
        // The last event may lack its empty line.
        self.end_line()?;
        self.end_event()?;
        match (self.reply.chosen, self.done || self.reply.reason.is_some()) {
            (true, true) => Ok(self.reply),
            (false, true) => Err(Unread::Other("a stream without a choice".to_owned())),
            (_, false) => Err(Unread::Broken("the stream ended before the answer did".to_owned())),
        }
    }

    fn end_line(&mut self) -> Result<(), Unread> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return self.end_event();
        }
        if let Some(data) = line.strip_prefix(b"data:") {
            self.data.push(data.strip_prefix(b" ").unwrap_or(data).to_vec());
        }
        Ok(())
    }

    /// The lines of an event form one document. Some servers omit the empty line between events, so each line may also
    /// be a document.
    fn end_event(&mut self) -> Result<(), Unread> {
        let lines = std::mem::take(&mut self.data);
        if lines.len() > 1
            && let Ok(value) = serde_json::from_slice::<Value>(&lines.join(&b'\n'))
        {
            return self.take(&value);
        }
        for line in lines {
            match line.trim_ascii() {
                b"" => {}
                b"[DONE]" => self.done = true,
                data => {
                    let value = serde_json::from_slice(data)
                        .map_err(|_| Unread::Broken(format!("an event is not JSON: {}", beginning(data))))?;
                    self.take(&value)?;
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, value: &Value) -> Result<(), Unread> {
        self.reply.take(value).map_err(|error| Unread::Broken(refusal::words_of(&error)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(chunks: &[&[u8]]) -> Result<Reply, Unread> {
        let mut reader = Reader::new();
        for chunk in chunks {
            reader.push(chunk)?;
        }
        reader.finish()
    }

    const STREAM: &str = "\u{feff}: hello\r\n\r\ndata: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":null}}]}\r\n\r\n\
        event: x\ndata:{\"choices\":[{\"delta\":{\"content\":\"grün\"}}]}\n\ndata: {\"choices\":[{\"delta\":{},\n\
        data: \"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":3}}\n\ndata: [DONE]\n\n";

    #[test]
    fn a_stream_reads_the_same_wherever_it_is_cut_into_chunks() {
        let whole = read(&[STREAM.as_bytes()]).unwrap();
        assert_eq!((whole.content.as_str(), whole.usage.prompt, whole.streamed), ("grün", 3, true));
        for cut in 0..STREAM.len() {
            let (left, right) = STREAM.as_bytes().split_at(cut);
            assert_eq!(read(&[left, right]).unwrap(), whole, "cut at {cut}");
        }
    }

    #[test]
    fn a_stream_that_ends_early_is_broken_wherever_that_is() {
        let end = STREAM.find("data: {\"choices\":[{\"delta\":{},").unwrap();
        for cut in 10..end {
            assert!(read(&[&STREAM.as_bytes()[..cut]]).is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn the_first_token_is_not_the_first_event() {
        let mut reader = Reader::new();
        let mut push = |text: &str| reader.push(text.as_bytes()).unwrap();
        assert_eq!(push(": ping\n\n"), Progress::Waiting);
        assert_eq!(push("data: {\"choices\":[{\"delta\":{\"content\":null}}]}\n\n"), Progress::Waiting);
        assert_eq!(push("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"), Progress::Coming);
        assert_eq!(push("data: [DONE]\n\n"), Progress::Done);
    }

    #[test]
    fn events_without_an_empty_line_between_them_are_read() {
        let piece = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n";
        assert_eq!(read(&[format!("{piece}{piece}data: [DONE]\n").as_bytes()]).unwrap().content, "aa");
    }

    #[test]
    fn a_document_is_told_from_a_stream() {
        let document = br#" {"choices":[{"message":{"content":"data: x"},"finish_reason":"eos"}]}"#;
        assert_eq!(read(&[&document[..3], &document[3..]]).unwrap().content, "data: x");
    }

    #[test]
    fn what_is_no_completion_is_quoted() {
        let other = |text: &str| match read(&[text.as_bytes()]).unwrap_err() {
            Unread::Other(words) => words,
            unread => panic!("{unread:?}"),
        };
        assert_eq!(other("<html>\n  Sign in</html>"), "<html> Sign in</html>");
        assert_eq!(other(""), "nothing");
        assert_eq!(other(r#"{"error":{"message":"overloaded"}}"#), "overloaded");
        assert_eq!(other(r#"{"choices":[]}"#), r#"{"choices":[]}"#);
    }

    #[test]
    fn a_server_that_gives_up_in_the_middle_has_not_answered() {
        let text = r#"{"choices":[{"message":{"content":"half"},"finish_reason":"insufficient_system_resource"}]}"#;
        assert!(matches!(read(&[text.as_bytes()]), Err(Unread::Broken(_))));
        let text = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"error\":{\"message\":\"out of memory\"}}\n\n";
        assert_eq!(read(&[text.as_bytes()]), Err(Unread::Broken("out of memory".to_owned())));
    }

    #[test]
    fn an_endless_answer_is_cut_off() {
        let chunk = vec![b'a'; 1 << 20];
        for start in [&b"{"[..], b"data: "] {
            let mut reader = Reader::new();
            reader.push(start).unwrap();
            let pushes = (0..20).map(|_| reader.push(&chunk)).collect::<Vec<_>>();
            assert!(pushes.contains(&Err(Unread::TooLarge)), "{start:?}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(chunks in proptest::collection::vec(any::<Vec<u8>>(), 0..8)) {
            let _ = read(&chunks.iter().map(Vec::as_slice).collect::<Vec<_>>());
        }

        #[test]
        fn what_looks_like_a_completion_reads_the_same_wherever_it_is_cut(
            words in proptest::collection::vec(prop_oneof![
                Just("data:"), Just("{\"choices\":["), Just("{\"delta\":{"), Just("\"tool_calls\":[{\"index\":"), Just("7"),
                Just("-1.5e300"), Just("\"content\":"), Just("null"), Just("\"\\ud800\""), Just("}"), Just("]"), Just(","),
                Just("\n\n"), Just("\r"), Just("[DONE]"), Just("\"usage\":{\"prompt_tokens\":"), Just("\"error\":"),
                Just("data: {\"choices\":[{\"delta\":{\"content\":\"ä\"}}]}\n\n"), Just("\u{feff}"), Just(" "), Just(": ping\n"),
                Just("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"eos\"}]}\n"),
            ], 0..24),
            cut in any::<proptest::sample::Index>(),
        ) {
            let text = words.concat();
            let (left, right) = text.as_bytes().split_at(cut.index(text.len() + 1));
            prop_assert_eq!(read(&[left, right]), read(&[text.as_bytes()]));
        }
    }
}
