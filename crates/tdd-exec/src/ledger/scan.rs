//! Reads a ledger line by line in bounded memory and verifies its hash chain.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use tdd_core::digest::Digest;
use tdd_core::event::{Head, Record};

use super::{End, LedgerError, damage};

/// Longest line we read, in bytes; our own lines are far shorter.
const MAX_LINE: u64 = 16 << 20;

/// Yields complete lines, each verified against the line before it.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: BufReader<R>,
    path: PathBuf,
    end: End,
    line: Vec<u8>,
}

/// How the file ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Tail {
    /// The last line is complete.
    Whole,
    /// The last line lacks its newline; these are its bytes.
    Torn(Vec<u8>),
}

/// The next step of the reader.
pub(super) enum Step {
    /// A complete line that continues the chain.
    Line,
    /// There are no more complete lines.
    End(Tail),
}

impl<R: Read> Lines<R> {
    /// Resumes at `end`, which the caller has verified; `input` must be positioned there.
    pub(super) fn resume(input: R, path: &Path, end: End) -> Self {
        Self { input: BufReader::with_capacity(1 << 20, input), path: path.to_owned(), end, line: Vec::new() }
    }

    /// The end of the lines read so far.
    pub(super) fn end(&self) -> &End {
        &self.end
    }

    /// Reads and verifies the next line.
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

    /// Parses the event in the line read last.
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

/// The records of a ledger, first to last. Skips a torn last line, because its writer may still be writing it. After
/// `None`, calling `next` again yields what was appended in between.
#[derive(Debug)]
pub struct Records {
    lines: Lines<File>,
    failed: bool,
}

impl Records {
    pub(super) fn new(file: File, path: &Path) -> Self {
        Self { lines: Lines::resume(file, path, End::empty()), failed: false }
    }

    /// The line of the record returned last, as it is in the file.
    pub fn line(&self) -> &[u8] {
        &self.lines.line
    }
}

impl Lines<File> {
    /// Seeks back to the beginning of a torn line, to read it again once it is complete.
    fn step_back(&mut self, tail: &Tail) {
        if let Tail::Torn(bytes) = tail {
            // If seeking fails, the next read reports bytes that do not fit the chain.
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
