//! Captures the beginning and the end of a stream in bounded memory.

use std::collections::VecDeque;

use tdd_core::command::Captured;

/// Takes a stream piece by piece; counts and drops the bytes between its head and its tail.
#[derive(Debug)]
pub(super) struct Capture {
    head: Vec<u8>,
    head_cap: usize,
    tail: VecDeque<u8>,
    tail_cap: usize,
    dropped: u64,
}

impl Capture {
    /// Keeps at most `cap` bytes.
    pub(super) fn new(cap: usize) -> Self {
        let tail_cap = cap / 2;
        Self { head: Vec::new(), head_cap: cap - tail_cap, tail: VecDeque::new(), tail_cap, dropped: 0 }
    }

    pub(super) fn push(&mut self, piece: &[u8]) {
        let room = self.head_cap - self.head.len();
        let (head, rest) = piece.split_at(room.min(piece.len()));
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let surplus = self.tail.len().saturating_sub(self.tail_cap);
        self.tail.drain(..surplus);
        self.dropped += surplus as u64;
    }

    /// The captured bytes.
    pub(super) fn finish(self) -> Captured {
        let cut_at = if self.dropped == 0 { 0 } else { self.head.len() };
        let mut bytes = self.head;
        bytes.extend(self.tail);
        Captured { bytes, cut_at, dropped: self.dropped }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(cap: usize, pieces: &[&str], kept: &str, cut_at: usize, dropped: u64) {
        let mut capture = Capture::new(cap);
        for piece in pieces {
            capture.push(piece.as_bytes());
        }
        assert_eq!(capture.finish(), Captured { bytes: kept.into(), cut_at, dropped });
    }

    #[test]
    fn a_stream_within_the_cap_is_whole() {
        check(6, &["abc", "", "def"], "abcdef", 0, 0);
        check(5, &["abcde"], "abcde", 0, 0);
    }

    #[test]
    fn the_middle_of_a_longer_stream_is_dropped_and_counted() {
        check(4, &["abcdefgh"], "abgh", 2, 4);
        check(4, &["a", "b", "c", "d", "e", "f", "g", "h"], "abgh", 2, 4);
        check(5, &["abcdefgh"], "abcgh", 3, 3);
    }

    #[test]
    fn a_cap_of_nothing_keeps_nothing() {
        check(0, &["abc"], "", 0, 3);
        check(1, &["abc"], "a", 1, 2);
    }
}
