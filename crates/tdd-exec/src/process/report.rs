//! What the supervisor tells its caller: one line for each fact.

use tdd_core::command::Exit;

/// A fact about the command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Report {
    /// It runs, as this process and process group.
    Started(i32),
    /// It ended with this status.
    Exited(i32),
    /// It ended by this signal.
    Signalled(i32),
    /// The system did not start it, for this reason.
    NotStarted(String),
}

impl Report {
    /// The fact as a line, with its end.
    pub(super) fn line(&self) -> String {
        match self {
            Self::Started(pid) => format!("started {pid}\n"),
            Self::Exited(code) => format!("exited {code}\n"),
            Self::Signalled(signal) => format!("signalled {signal}\n"),
            Self::NotStarted(why) => format!("not-started {}\n", why.replace('\n', " ")),
        }
    }

    /// Reads a line; one that we do not know is no fact.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let (word, rest) = line.split_once(' ')?;
        match word {
            "started" => rest.parse().ok().map(Self::Started),
            "exited" => rest.parse().ok().map(Self::Exited),
            "signalled" => rest.parse().ok().map(Self::Signalled),
            "not-started" => Some(Self::NotStarted(rest.to_owned())),
            _ => None,
        }
    }

    /// How the command ended, if this tells.
    pub(super) fn exit(self) -> Option<Exit> {
        match self {
            Self::Started(_) => None,
            Self::Exited(0) => Some(Exit::Passed),
            Self::Exited(code) => Some(Exit::Failed(code)),
            Self::Signalled(signal) => Some(Exit::Signalled(signal)),
            Self::NotStarted(why) => Some(Exit::NotStarted(why)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_report_is_one_line_that_reads_back() {
        for report in [
            Report::Started(42),
            Report::Exited(0),
            Report::Exited(7),
            Report::Signalled(9),
            Report::NotStarted("no such file".to_owned()),
        ] {
            let line = report.line();
            assert_eq!(line.matches('\n').count(), 1, "{line:?}");
            assert_eq!(Report::parse(line.trim_end()), Some(report));
        }
    }

    #[test]
    fn a_reason_of_several_lines_becomes_one() {
        assert_eq!(Report::NotStarted("a\nb".to_owned()).line(), "not-started a b\n");
    }

    #[test]
    fn an_unknown_line_is_never_taken_for_success() {
        for line in ["", "exited", "exited x", "exited 0x0", "passed 0"] {
            assert_eq!(Report::parse(line), None, "{line:?}");
        }
    }

    #[test]
    fn only_status_0_has_passed() {
        assert_eq!(Report::Exited(0).exit(), Some(Exit::Passed));
        assert_eq!(Report::Exited(1).exit(), Some(Exit::Failed(1)));
        assert_eq!(Report::Started(1).exit(), None);
    }
}
