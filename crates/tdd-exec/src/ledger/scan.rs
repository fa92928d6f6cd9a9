//! Reads a ledger line by line in bounded memory and follows its chain.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use tdd_core::digest::Digest;
use tdd_core::event::{Head, Record};

use super::{End, LedgerError, damage};

/// Longest line that is read, in bytes; ours are far below.
const MAX_LINE: u64 = 16 << 20;

/// A reader that hands out whole lines, each checked against the one before.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: BufReader<R>,
    path: PathBuf,
    end: End,
    line: Vec<u8>,
}

/// What the end of the file looks like.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Tail {
    /// The last line is whole.
    Whole,
    /// The file goes on with a line that has no end.
    Torn(Vec<u8>),
}

/// What comes next.
pub(super) enum Step {
    /// A whole line that fits the chain.
    Line,
    /// No more whole lines.
    End(Tail),
}

impl<R: Read> Lines<R> {
    /// Reads on from `end`, which the caller has good reason to trust; `input` stands there.
    pub(super) fn resume(input: R, path: &Path, end: End) -> Self {
        Self { input: BufReader::with_capacity(1 << 20, input), path: path.to_owned(), end, line: Vec::new() }
    }

    /// Where the lines read so far end.
    pub(super) fn end(&self) -> &End {
        &self.end
    }

    /// The next line, if there is one and it follows from the last.
    pub(super) fn step(&mut self) -> Result<Step, LedgerError> {
        self.line.clear();
        let path = &self.path;
        let read = (&mut self.input).take(MAX_LINE).read_until(b'\n', &mut self.line);
        let length = read.map_err(|source| LedgerError::Io { action: "read", path: path.clone(), source })? as u64;
        if self.line.last() != Some(&b'\n') {
            if length == MAX_LINE {
                return Err(self.damaged(format!("it is longer than {MAX_LINE} bytes")));
            }
            let tail = if length == 0 { Tail::Whole } else { Tail::Torn(std::mem::take(&mut self.line)) };
            return Ok(Step::End(tail));
        }
        self.line.pop();
        let head = self.follow()?;
        self.end = End { seq: head.seq, digest: Digest::of(&self.line), len: self.end.len + length };
        Ok(Step::Line)
    }

    /// Reads the event of the line that was handed out last.
    pub(super) fn record(&self) -> Result<Record, LedgerError> {
        let offset = self.end.len - self.line.len() as u64 - 1;
        Record::parse(&self.line).map_err(|error| damage(&self.path, self.end.seq, offset, &error))
    }

    fn follow(&self) -> Result<Head, LedgerError> {
        let (head, _) =
            Head::split(&self.line).map_err(|error| damage(&self.path, self.end.seq + 1, self.end.len, &error))?;
        if head.seq != self.end.seq + 1 {
            return Err(self.damaged(format!("its number is {} where {} should follow", head.seq, self.end.seq + 1)));
        }
        if head.prev != self.end.digest {
            return Err(self.damaged("its `prev` is not the digest of the line before".to_owned()));
        }
        Ok(head)
    }

    fn damaged(&self, why: String) -> LedgerError {
        LedgerError::Damaged { path: self.path.clone(), line: self.end.seq + 1, offset: self.end.len, why }
    }
}

/// The records of a ledger, first to last. A torn last line is not handed out: its writer may be at it.
/// After `None` it can be asked again, and hands out what was appended in between.
#[derive(Debug)]
pub struct Records {
    lines: Lines<File>,
    failed: bool,
}

impl Records {
    pub(super) fn new(file: File, path: &Path) -> Self {
        Self { lines: Lines::resume(file, path, End::empty()), failed: false }
    }

    /// The line of the record that was handed out last, as it stands in the file.
    pub fn line(&self) -> &[u8] {
        &self.lines.line
    }
}

impl Lines<File> {
    /// Stands again where a torn line begins, to read it once it is whole.
    fn step_back(&mut self, tail: &Tail) {
        if let Tail::Torn(bytes) = tail {
            // A failure shows at the next read: the bytes then do not fit the chain.
            let _moved = self.input.seek_relative(-i64::try_from(bytes.len()).unwrap_or(0));
        }
    }
}

impl Iterator for Records {
    type Item = Result<Record, LedgerError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let record = match self.lines.step() {
            Ok(Step::End(tail)) => {
                self.lines.step_back(&tail);
                return None;
            }
            Ok(Step::Line) => self.lines.record(),
            Err(error) => Err(error),
        };
        self.failed = record.is_err();
        Some(record)
    }
}
