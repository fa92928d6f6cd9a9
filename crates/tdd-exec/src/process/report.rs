//! The supervisor's reports to its caller, one per line.

use tdd_core::command::Exit;

/// The supervisor's last line: no process of the command is left.
pub(super) const ALONE: &str = "alone";

/// How the command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Report {
    /// It exited with this status.
    Exited(i32),
    /// This signal ended it.
    Signalled(i32),
    /// The system could not start it, for this reason.
    NotStarted(String),
}

impl Report {
    /// The report as a line, with a newline.
    pub(super) fn line(&self) -> String {
        match self {
            Self::Exited(code) => format!("exited {code}\n"),
            Self::Signalled(signal) => format!("signalled {signal}\n"),
            Self::NotStarted(why) => format!("not-started {}\n", why.replace('\n', " ")),
        }
    }

    /// Parses a line; `None` if it is unknown.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let (word, rest) = line.split_once(' ')?;
        match word {
            "exited" => rest.parse().ok().map(Self::Exited),
            "signalled" => rest.parse().ok().map(Self::Signalled),
            "not-started" => Some(Self::NotStarted(rest.to_owned())),
            _ => None,
        }
    }

    /// How the command ended.
    pub(super) fn exit(self) -> Exit {
        match self {
            Self::Exited(0) => Exit::Passed,
            Self::Exited(code) => Exit::Failed(code),
            Self::Signalled(signal) => Exit::Signalled(signal),
            Self::NotStarted(why) => Exit::NotStarted(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_report_is_one_line_that_reads_back() {
        for report in
            [Report::Exited(0), Report::Exited(7), Report::Signalled(9), Report::NotStarted("no such file".to_owned())]
        {
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
        assert_eq!(Report::Exited(0).exit(), Exit::Passed);
        assert_eq!(Report::Exited(1).exit(), Exit::Failed(1));
    }
}
